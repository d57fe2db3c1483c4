// Finds the images of a folder and the mask of each. ListMaskedImages() is the entry point.
#ifndef CGRUN_DATA_MASK_FOLDER_H_
#define CGRUN_DATA_MASK_FOLDER_H_

#include <string>
#include <vector>

#include "src/data/dataset.h"

namespace cgrun {

// Both members are paths of files.
struct MaskedImage {
  std::string image;
  std::string mask;  // "" where there is none, which was an error
};

// Lists the images of the option `folder` and of the folders in it, sorted by name. Each has the
// file of its name, endings apart, in the option `masks`. Hidden files are left out, and files that
// are no images by their endings. Errors are no image, an image without a mask, a mask without an
// image, and options about a label of the whole image. After one, the list still has the images
// that are there, so that errors of the files themselves can be reported with it.
std::vector<MaskedImage> ListMaskedImages(const DataOptions& options, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_DATA_MASK_FOLDER_H_
