// Counts calls of operator new in all threads of a test: linking it in replaces them.
#ifndef CGRUN_TESTS_BASE_ALLOCATION_COUNTER_H_
#define CGRUN_TESTS_BASE_ALLOCATION_COUNTER_H_

#include <cstdint>

namespace cgrun {

// False under a sanitizer, which brings an operator new of its own; then nothing is counted.
bool AllocationsAreCounted();
// Since the start of the program.
int64_t AllocationCount();

}  // namespace cgrun

#endif  // CGRUN_TESTS_BASE_ALLOCATION_COUNTER_H_
