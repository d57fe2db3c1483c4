// A stack of blocks with a header each.
#include "src/data/scratch_arena.h"

#include <algorithm>
#include <cstring>

namespace cgrun {

void* ScratchArena::Allocate(size_t bytes) {
  if (bytes > memory_.size() || BlockBytes(bytes) > memory_.size() - used_) return nullptr;
  *HeaderAt(used_) = {last_, false};
  last_ = used_;
  used_ += BlockBytes(bytes);
  peak_ = std::max(peak_, used_);
  return memory_.data() + last_ + sizeof(Header);
}

void* ScratchArena::Reallocate(void* block, size_t bytes) {
  if (block == nullptr) return Allocate(bytes);
  const size_t offset = OffsetOf(block);
  if (offset == last_) {
    if (bytes > memory_.size() || BlockBytes(bytes) > memory_.size() - offset) return nullptr;
    used_ = offset + BlockBytes(bytes);
    peak_ = std::max(peak_, used_);
    return block;
  }
  void* moved = Allocate(bytes);
  if (moved == nullptr) return nullptr;
  // What lies behind the block is copied too where the block was smaller; all of it is the arena's.
  std::memcpy(moved, block, std::min(bytes, last_ - offset - sizeof(Header)));
  Free(block);
  return moved;
}

void ScratchArena::Free(void* block) {
  if (block == nullptr) return;
  HeaderAt(OffsetOf(block))->free = true;
  while (used_ > 0 && HeaderAt(last_)->free) {
    used_ = last_;
    last_ = HeaderAt(last_)->below;
  }
}

}  // namespace cgrun
