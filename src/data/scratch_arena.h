// Memory of fixed size that a decoder works in: taken once, then handed out without the heap.
#ifndef CGRUN_DATA_SCRATCH_ARENA_H_
#define CGRUN_DATA_SCRATCH_ARENA_H_

#include <cstddef>
#include <memory>
#include <span>

namespace cgrun {

// Blocks are taken from the end of what is in use, and given back there: a block that is freed
// below others is reused when those are freed too. For one thread at a time.
class ScratchArena {
 public:
  static constexpr size_t kAlignment = 16;
  // Returns the bytes that a block of `bytes` takes, with its header.
  static constexpr size_t BlockBytes(size_t bytes) {
    return sizeof(Header) + (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  // The memory is touched where it is used. std::bad_alloc where there is not so much.
  explicit ScratchArena(size_t bytes);
  ~ScratchArena();
  ScratchArena(const ScratchArena&) = delete;
  ScratchArena& operator=(const ScratchArena&) = delete;

  // Returns an address that is a multiple of kAlignment; null where the arena is too small.
  void* Allocate(size_t bytes);
  // Works as realloc(). The last block is resized in place.
  void* Reallocate(void* block, size_t bytes);
  void Free(void* block);
  // Frees all blocks.
  void Reset();

  // `count` elements, not initialised; null as above.
  template <class T>
  std::span<T> Take(size_t count) {
    if (count > size_ / sizeof(T)) return {};
    T* block = static_cast<T*>(Allocate(count * sizeof(T)));
    return block == nullptr ? std::span<T>() : std::span<T>(block, count);
  }

  // Takes all of the memory now, so that none is taken later. Frees all blocks.
  void Touch();

  size_t bytes() const { return size_; }
  // The most that was in use so far.
  size_t peak() const { return peak_; }

 private:
  struct alignas(kAlignment) Header {
    size_t below;  // the place of the header of the block below
    size_t bytes;  // that were asked for
    bool free;
  };

  Header* HeaderAt(size_t offset) { return reinterpret_cast<Header*>(memory_.get() + offset); }
  size_t OffsetOf(void* block) const {
    return static_cast<size_t>(static_cast<std::byte*>(block) - memory_.get()) - sizeof(Header);
  }

  size_t size_;
  std::unique_ptr<std::byte, void (*)(void*)> memory_;  // malloc() aligns it
  size_t used_ = 0;
  size_t last_ = 0;  // the header of the last block, where used_ > 0
  size_t peak_ = 0;
};

}  // namespace cgrun

#endif  // CGRUN_DATA_SCRATCH_ARENA_H_
