// Measures the memory that an action takes while it goes on, and not only when it is over.
#ifndef CGRUN_TESTS_DATA_MEMORY_TESTING_H_
#define CGRUN_TESTS_DATA_MEMORY_TESTING_H_

#include <cstdint>
#include <fstream>

#include "src/base/allocation_counter.h"

namespace cgrun {

// The most memory that `action` has taken at once, in bytes.
template <class Action>
int64_t MostTakenBy(const Action& action) {
  ReleaseFreeMemory();
  std::ofstream("/proc/self/clear_refs") << "5";  // the system begins to count anew
  const int64_t before = MostResidentBytes();
  action();
  return MostResidentBytes() - before;
}

}  // namespace cgrun

#endif  // CGRUN_TESTS_DATA_MEMORY_TESTING_H_
