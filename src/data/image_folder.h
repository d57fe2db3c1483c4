// Finds the images of a folder and the label of each. ListImages() is the entry point.
#ifndef CGRUN_DATA_IMAGE_FOLDER_H_
#define CGRUN_DATA_IMAGE_FOLDER_H_

#include <string>
#include <string_view>
#include <vector>

#include "src/data/dataset.h"
#include "src/data/label_list.h"

namespace cgrun {

// Images of other kinds have these endings, and are errors.
inline constexpr std::string_view kOtherImages[] = {".gif",  ".bmp",  ".webp", ".tif", ".tiff",
                                                    ".heic", ".avif", ".jp2",  ".jxl", ".ppm",
                                                    ".pgm",  ".pbm",  ".tga",  ".heif"};

// "'a', 'b' and 3 more".
std::string NamesText(const std::vector<std::string>& names);
// Reports images of other kinds: `names` of `folder`, at least one.
void ReportOtherImages(const std::string& folder, const std::vector<std::string>& names,
                       const SourceMark& mark, Diagnostics& diagnostics);

// The images of the option `folder`, sorted by class and name: those of its sub-folders, whose
// names are the classes, or those of the folder itself, with labels from the option `labels`, a CSV
// file of names and labels. Hidden files are left out, and files that are no images by their
// endings. Without `labelled` no labels are wanted. Errors: no image, a single class, a class
// folder without images, classes that are not those of the training set, which is not looked at
// where that is `train_failed`: it could not be read. After one the list has the images that are
// there all the same, so that what is wrong with the files themselves can be told with it; their
// labels mean nothing then.
ImageList ListImages(const DataOptions& options, bool labelled, bool train_failed,
                     Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_DATA_IMAGE_FOLDER_H_
