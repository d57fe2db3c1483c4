// The arena is a stack of blocks with a header each.
#include "src/data/scratch_arena.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "src/base/process_memory.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace cgrun {
namespace {

// Under the address sanitizer, what is outside of the blocks cannot be touched.
void Open([[maybe_unused]] std::byte* memory, [[maybe_unused]] size_t bytes) {
#ifdef __SANITIZE_ADDRESS__
  __asan_unpoison_memory_region(memory, bytes);
#endif
}

void Close([[maybe_unused]] std::byte* memory, [[maybe_unused]] size_t bytes) {
#ifdef __SANITIZE_ADDRESS__
  __asan_poison_memory_region(memory, bytes);
#endif
}

}  // namespace

ScratchArena::ScratchArena(size_t bytes)
    : size_(bytes / kAlignment * kAlignment),
      memory_(static_cast<std::byte*>(std::malloc(size_)), &std::free) {
  if (memory_ == nullptr && size_ > 0) throw std::bad_alloc();
  Reset();
}

ScratchArena::~ScratchArena() {
  SampleMemory();
  Open(memory_.get(), size_);
}

void ScratchArena::Reset() {
  used_ = last_ = 0;
  Close(memory_.get(), size_);
}

void ScratchArena::Touch() {
  Open(memory_.get(), size_);
  std::memset(memory_.get(), 0, size_);
  Reset();
}

void* ScratchArena::Allocate(size_t bytes) {
  if (bytes > size_ || BlockBytes(bytes) > size_ - used_) return nullptr;
  Open(memory_.get() + used_, sizeof(Header) + bytes);
  *HeaderAt(used_) = {last_, bytes, false};
  last_ = used_;
  used_ += BlockBytes(bytes);
  peak_ = std::max(peak_, used_);
  return memory_.get() + last_ + sizeof(Header);
}

void* ScratchArena::Reallocate(void* block, size_t bytes) {
  if (block == nullptr) return Allocate(bytes);
  const size_t offset = OffsetOf(block);
  if (offset == last_) {
    if (bytes > size_ || BlockBytes(bytes) > size_ - offset) return nullptr;
    Close(static_cast<std::byte*>(block), used_ - offset - sizeof(Header));
    Open(static_cast<std::byte*>(block), bytes);
    HeaderAt(offset)->bytes = bytes;
    used_ = offset + BlockBytes(bytes);
    peak_ = std::max(peak_, used_);
    return block;
  }
  void* moved = Allocate(bytes);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, block, std::min(bytes, HeaderAt(offset)->bytes));
  Free(block);
  return moved;
}

void ScratchArena::Free(void* block) {
  if (block == nullptr) return;
  HeaderAt(OffsetOf(block))->free = true;
  while (used_ > 0 && HeaderAt(last_)->free) {
    const size_t end = used_;
    used_ = last_;
    last_ = HeaderAt(last_)->below;
    Close(memory_.get() + used_, end - used_);
  }
}

}  // namespace cgrun
