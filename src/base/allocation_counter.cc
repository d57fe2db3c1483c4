// operator new and delete on malloc and free, with a counter.
#include "src/base/allocation_counter.h"

#include <malloc.h>
#include <omp.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "src/base/process_memory.h"

#ifndef __has_feature  // clang's way to say which sanitizers there are
#define __has_feature(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CGRUN_COUNT_ALLOCATIONS 0
#else
#define CGRUN_COUNT_ALLOCATIONS 1
#endif

namespace cgrun {
namespace {

std::atomic<int64_t> allocations{0};
std::atomic<int64_t> pool_requests{0};
std::atomic<int> pooled_scopes{0};
thread_local int pooled_scopes_here = 0;

}  // namespace

PooledAllocations::PooledAllocations() {
  ++pooled_scopes_here;
  pooled_scopes.fetch_add(1, std::memory_order_relaxed);
}
PooledAllocations::~PooledAllocations() {
  --pooled_scopes_here;
  pooled_scopes.fetch_sub(1, std::memory_order_relaxed);
}

bool AllocationsAreCounted() { return CGRUN_COUNT_ALLOCATIONS != 0; }

HeapUse CurrentHeapUse() {
  const struct mallinfo2 info = mallinfo2();
  return {allocations.load(std::memory_order_relaxed),
          pool_requests.load(std::memory_order_relaxed),
          static_cast<int64_t>(info.arena + info.hblkhd)};
}

namespace {

// ReleaseFreeStack() gives back the pages that earlier calls have left below this thread's frames.
// A page below the frames that are in use stays. Pages of the stack that are not mapped yet are
// passed over. If the stack has no limit, at most this many bytes are looked at.
constexpr uintptr_t kMostFreeStack = 8 << 20;

void ReleaseFreeStack() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* stack = nullptr;
  size_t size = 0;
  if (pthread_attr_getstack(&attributes, &stack, &size) == 0) {
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    const uintptr_t end = frame / page * page - page;
    const uintptr_t begin = std::max((reinterpret_cast<uintptr_t>(stack) + page - 1) / page * page,
                                     end - std::min(end, kMostFreeStack));
    if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
  pthread_attr_destroy(&attributes);
}

}  // namespace

int64_t ResidentBytes() { return ReadProcessMemory().anonymous; }

int64_t MostResidentBytes() { return ReadProcessMemory().most_resident; }

void ReleaseFreeMemory() {
  ReleaseFreeStack();
  malloc_trim(0);
}

#if CGRUN_COUNT_ALLOCATIONS
namespace {

// Inside a scope of this thread, or in a parallel region, which is one that such a scope's library
// has opened.
bool IsPooled() {
  return pooled_scopes_here > 0 ||
         (pooled_scopes.load(std::memory_order_relaxed) > 0 && omp_in_parallel());
}

// Blocks of one size, those that are free in a list through themselves. Never destroyed: what was
// taken from it may outlive every static.
template <size_t kBlockBytes, size_t kBlocks>
class BlockPool {
 public:
  static constexpr size_t block_bytes() { return kBlockBytes; }

  void* Take() {
    const Lock lock(busy_);
    if (free_ != nullptr) {
      void* block = free_;
      free_ = *static_cast<void**>(block);
      return block;
    }
    return used_ < kBlocks ? memory_ + kBlockBytes * used_++ : nullptr;
  }

  bool GiveBack(void* block) {
    const auto offset = reinterpret_cast<uintptr_t>(block) - reinterpret_cast<uintptr_t>(memory_);
    if (offset >= sizeof(memory_)) return false;
    const Lock lock(busy_);
    *static_cast<void**>(block) = free_;
    free_ = block;
    return true;
  }

 private:
  class Lock {
   public:
    explicit Lock(std::atomic_flag& flag) : flag_(flag) {
      while (flag_.test_and_set(std::memory_order_acquire)) {
      }
    }
    ~Lock() { flag_.clear(std::memory_order_release); }

   private:
    std::atomic_flag& flag_;
  };

  std::atomic_flag busy_;
  void* free_ = nullptr;
  size_t used_ = 0;
  alignas(64) std::byte memory_[kBlockBytes * kBlocks] = {};
};

// The pools serve the blocks that a call takes and gives back. They also hold the blocks that a
// library keeps from its first calls on. A block that is never taken is never touched, so that it
// takes no memory.
constinit BlockPool<128, 4096> small_pool;
constinit BlockPool<1024, 512> large_pool;

void* FromPool(size_t size) {
  void* block = nullptr;
  if (size <= small_pool.block_bytes()) block = small_pool.Take();
  if (block == nullptr && size <= large_pool.block_bytes()) block = large_pool.Take();
  if (block != nullptr) pool_requests.fetch_add(1, std::memory_order_relaxed);
  return block;
}

// A locked instruction takes as long as the rest of an allocation; one thread needs none.
void CountAllocation() {
  if (__libc_single_threaded) {
    allocations.store(allocations.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  } else {
    allocations.fetch_add(1, std::memory_order_relaxed);
  }
}

void* Allocate(size_t size, size_t alignment) {
  if (IsPooled() && alignment <= 64) {
    if (void* block = FromPool(size)) return block;
  }
  CountAllocation();
  NoteTaken(size);
  if (size == 0) size = 1;
  void* memory = alignment == 0 ? std::malloc(size)
                                : std::aligned_alloc(
                                      alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void Free(void* memory) {
  if (small_pool.GiveBack(memory) || large_pool.GiveBack(memory)) return;
  NoteGivenBack(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace
#endif

}  // namespace cgrun

#if CGRUN_COUNT_ALLOCATIONS
void* operator new(size_t size) { return cgrun::Allocate(size, 0); }
void* operator new[](size_t size) { return cgrun::Allocate(size, 0); }
void* operator new(size_t size, std::align_val_t alignment) {
  return cgrun::Allocate(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return cgrun::Allocate(size, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { cgrun::Free(memory); }
void operator delete[](void* memory) noexcept { cgrun::Free(memory); }
void operator delete(void* memory, size_t) noexcept { cgrun::Free(memory); }
void operator delete[](void* memory, size_t) noexcept { cgrun::Free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { cgrun::Free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { cgrun::Free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { cgrun::Free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { cgrun::Free(memory); }
#endif
