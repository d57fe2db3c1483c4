// Counts what the process takes from the heap by operator new, and how large the heap is. The
// binary must be linked with allocation_counter.cc, which replaces operator new; under a sanitizer
// it is off.
#ifndef CGRUN_BASE_ALLOCATION_COUNTER_H_
#define CGRUN_BASE_ALLOCATION_COUNTER_H_

#include <cstdint>

namespace cgrun {

struct HeapUse {
  int64_t allocations = 0;    // calls of operator new so far, in all threads, but for …
  int64_t pool_requests = 0;  // … those that the fixed pool served
  int64_t heap_bytes = 0;     // that malloc has taken from the system
};

// While one lives, operator new takes memory for this thread, and for the thread team that works
// for it, from a fixed pool that is part of the program: for a library that allocates in each of
// its calls. If the pool cannot give a block, it comes from the heap, and is counted as any
// allocation.
class PooledAllocations {
 public:
  PooledAllocations();
  ~PooledAllocations();
  PooledAllocations(const PooledAllocations&) = delete;
  PooledAllocations& operator=(const PooledAllocations&) = delete;
};

// False under a sanitizer, which brings its own operator new.
bool AllocationsAreCounted();
HeapUse CurrentHeapUse();

// Anonymous resident memory of the process, now, in bytes (RssAnon of /proc/self/status); allocates
// nothing. 0 where the system does not tell.
int64_t ResidentBytes();
// All of its memory, the most that was resident at once since it began (VmHWM): also what is mapped
// from files, such as code and libraries. As above.
int64_t MostResidentBytes();

// Gives what was freed back to the system, and what is free of this thread's stack, so that
// ResidentBytes() tells what is in use.
void ReleaseFreeMemory();

}  // namespace cgrun

#endif  // CGRUN_BASE_ALLOCATION_COUNTER_H_
