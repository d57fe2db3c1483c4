// Holds the checks of VerifyImage for an entry point that swaps to a file.
#ifndef CGRUN_PROGRAM_VERIFY_TRANSFERS_H_
#define CGRUN_PROGRAM_VERIFY_TRANSFERS_H_

#include <string>
#include <vector>

#include "src/program/image.h"

namespace cgrun {

// While a transfer is under way, nothing touches what it writes or writes what it reads, and each
// is waited for. One sentence a violation. The entry point has been found sound otherwise.
std::vector<std::string> VerifyTransfers(const ImageEntry& entry);

}  // namespace cgrun

#endif  // CGRUN_PROGRAM_VERIFY_TRANSFERS_H_
