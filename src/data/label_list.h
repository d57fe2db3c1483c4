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

// What a list may name: the images of a folder, sorted. In its folders they are only searched for,
// to say where one is.
struct ListedFolder {
  std::string path;
  const std::vector<std::string>& images;
  const std::vector<std::string>& folders;
  const std::vector<std::string>& other_images;  // of kinds that are not read
};

// Reads the file that `labels` names. Its lines are a name and a label, separated by a comma, a
// semicolon or a tab; a first line whose name has no image's ending is a header. Labels are those
// of `known`, or what the file has. Errors: a name that no image has, or that stands there twice, a
// label that is missing or unknown. A warning: further columns, which are not read.
ImageList ReadLabelList(const DataOptions& options, const DataOption& labels,
                        const ListedFolder& folder, const ClassTable& known,
                        Diagnostics& diagnostics);

// The image that a list seems to mean by `name`: in another case, of another ending or without one,
// with or without zeros before its numbers, or with a letter that is wrong; "" where none or, but
// for letters, several are.
std::string MeantImage(const std::string& name, const std::vector<std::string>& images);

}  // namespace cgrun

#endif  // CGRUN_DATA_LABEL_LIST_H_
