// A list of images and their labels, a line each: ReadLabelList() is the entry point.
#ifndef CGRUN_DATA_LABEL_LIST_H_
#define CGRUN_DATA_LABEL_LIST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/data/classes.h"
#include "src/data/dataset.h"

namespace cgrun {

struct LabelledImage {
  std::string path;
  int32_t label = 0;
  int line = 0;  // of the list of labels; 0 without one
};

struct ImageList {
  std::vector<LabelledImage> images;
  std::vector<std::string> classes;  // by label; empty where the labels are integers, or not wanted
  char delimiter = ',';              // of the list of labels
  std::vector<std::string> notes;    // images that it does not name
};

// A list may name the images of this folder, which are sorted. The folders within it are only
// searched to say where an image is.
struct ListedFolder {
  std::string path;
  const std::vector<std::string>& images;
  const std::vector<std::string>& folders;
  const std::vector<std::string>& other_images;  // of kinds that are not read
};

// Reads the file that `labels` names. Its lines are a name and a label, separated by a comma, a
// semicolon or a tab. A first line whose name has no image's ending is a header. Labels are those
// of `known`, or those in the file. Reports a name that no image has, or that stands there twice,
// and a label that is missing or unknown. Warns of further columns, which are not read.
ImageList ReadLabelList(const DataOptions& options, const DataOption& labels,
                        const ListedFolder& folder, const ClassTable& known,
                        Diagnostics& diagnostics);

// Returns the image that a list seems to mean by `name`. The name may have another case, another
// ending or none, more or fewer zeros before its numbers, or one wrong letter. Returns "" where no
// image fits, or where several fit a name with a wrong letter.
std::string MeantImage(const std::string& name, const std::vector<std::string>& images);

}  // namespace cgrun

#endif  // CGRUN_DATA_LABEL_LIST_H_
