// Checks what an incremental entry point promises beyond others: any set of feeds may change.
#ifndef CGRUN_PROGRAM_VERIFY_INCREMENTAL_H_
#define CGRUN_PROGRAM_VERIFY_INCREMENTAL_H_

#include <string>
#include <vector>

#include "src/program/image.h"

namespace cgrun {

// Checks that a run of what some feeds reach, after a whole run, finds each operand that it does
// not write itself as it was left. The entry point is sound when it runs as a whole. Returns one
// sentence a violation.
std::vector<std::string> VerifyIncremental(const ImageEntry& entry);

}  // namespace cgrun

#endif  // CGRUN_PROGRAM_VERIFY_INCREMENTAL_H_
