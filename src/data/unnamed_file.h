// Files without a name: nobody else can open them, and they end with the process.
#ifndef CGRUN_DATA_UNNAMED_FILE_H_
#define CGRUN_DATA_UNNAMED_FILE_H_

#include <cstdint>
#include <string>

namespace cgrun {

// Opens one in `folder` to read and to write. The caller closes it. -1, with `errno`, where that
// cannot be.
int OpenUnnamedFile(const std::string& folder);

// Takes `bytes` of the disk for an open file, which so can be written without an error later. The
// `errno` value where there is not so much, else 0.
int ReserveFile(int file, int64_t bytes);

}  // namespace cgrun

#endif  // CGRUN_DATA_UNNAMED_FILE_H_
