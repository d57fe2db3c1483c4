// Counts what the process takes from the heap by operator new, and how large the heap is. The
// binary must be linked with allocation_counter.cc, which replaces operator new; under a sanitizer
// it is off.
#ifndef CGRUN_BASE_ALLOCATION_COUNTER_H_
#define CGRUN_BASE_ALLOCATION_COUNTER_H_

#include <cstdint>

namespace cgrun {

struct HeapUse {
  int64_t allocations = 0;  // calls of operator new so far, in all threads
  int64_t heap_bytes = 0;   // what malloc has taken from the system
};

// False under a sanitizer, which brings its own operator new.
bool AllocationsAreCounted();
HeapUse CurrentHeapUse();

// Anonymous resident memory of the process, now, in bytes (RssAnon of /proc/self/status); allocates
// nothing. 0 where the system does not tell.
int64_t ResidentBytes();

// Gives what was freed back to the system, so that ResidentBytes() tells what is in use.
void ReleaseFreeHeap();

}  // namespace cgrun

#endif  // CGRUN_BASE_ALLOCATION_COUNTER_H_
