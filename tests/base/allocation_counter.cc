// The replaced operators new; the array and nothrow forms of the library call these.
#include "tests/base/allocation_counter.h"

#include <atomic>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CGRUN_COUNT_ALLOCATIONS 0
#else
#define CGRUN_COUNT_ALLOCATIONS 1
#endif

namespace {

std::atomic<int64_t> allocation_count = 0;

}  // namespace

namespace cgrun {

bool AllocationsAreCounted() { return CGRUN_COUNT_ALLOCATIONS; }
int64_t AllocationCount() { return allocation_count.load(); }

}  // namespace cgrun

#if CGRUN_COUNT_ALLOCATIONS

void* operator new(std::size_t size) {
  ++allocation_count;
  void* memory = std::malloc(size > 0 ? size : 1);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void* operator new(std::size_t size, std::align_val_t alignment) {
  ++allocation_count;
  const std::size_t unit = static_cast<std::size_t>(alignment);
  void* memory = std::aligned_alloc(unit, (size + unit - 1) / unit * unit);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

#endif
