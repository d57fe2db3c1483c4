// Measures how fast a folder's disk takes and gives bytes, on a file like a swap file.
#ifndef CGRUN_DEVICE_SWAP_FOLDER_H_
#define CGRUN_DEVICE_SWAP_FOLDER_H_

#include <string>

#include "src/base/transfer_speed.h"

namespace cgrun {

// Writes 32 MiB until the disk has them, and reads them from there, not from the system's cache:
// what a run sees where memory is short. The file is gone afterwards. Throws UserError.
TransferSpeed MeasureTransfers(const std::string& folder);

// Returns whether files in `folder` lie in memory (tmpfs, ramfs): to swap there frees nothing.
bool LiesInMemory(const std::string& folder);

}  // namespace cgrun

#endif  // CGRUN_DEVICE_SWAP_FOLDER_H_
