// operator new and delete on malloc and free, with a counter.
#include "src/base/allocation_counter.h"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CGRUN_COUNT_ALLOCATIONS 0
#else
#define CGRUN_COUNT_ALLOCATIONS 1
#endif

namespace cgrun {
namespace {
std::atomic<int64_t> allocations{0};
}  // namespace

bool AllocationsAreCounted() { return CGRUN_COUNT_ALLOCATIONS != 0; }

HeapUse CurrentHeapUse() {
  const struct mallinfo2 info = mallinfo2();
  return {allocations.load(std::memory_order_relaxed),
          static_cast<int64_t>(info.arena + info.hblkhd)};
}

int64_t ResidentBytes() {
  char text[4096];
  const int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t size = read(fd, text, sizeof(text) - 1);
  close(fd);
  if (size <= 0) return 0;
  text[size] = '\0';
  const char* line = std::strstr(text, "RssAnon:");
  return line == nullptr ? 0 : std::strtoll(line + 8, nullptr, 10) * 1024;
}

void ReleaseFreeHeap() { malloc_trim(0); }

#if CGRUN_COUNT_ALLOCATIONS
namespace {

void* Allocate(size_t size, size_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (size == 0) size = 1;
  void* memory = alignment == 0 ? std::malloc(size)
                                : std::aligned_alloc(
                                      alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
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
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
#endif
