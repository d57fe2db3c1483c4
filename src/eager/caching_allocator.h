// CachingAllocator gives memory as eager frameworks do when a user asks for a tensor. It takes
// segments from the device, hands out blocks of them, and keeps freed blocks for the next request
// of about that size. It follows PyTorch's allocator for GPUs (c10/cuda/CUDACachingAllocator).
// Sizes are rounded. Small and large requests have pools of their own, so that a scalar never sits
// in the middle of an activation. A request gets the free block that fits best. The block is split
// if the rest is worth having. A freed block merges with its free neighbours.
//
//   segment | block | free        | block       | block | free |      neighbours in address order
//                     ^ bin of its size                   ^ bin of its size
//
// It allocates host memory for its books only while their number of blocks grows: not in a loop
// that repeats itself. Not for several threads.
#ifndef CGRUN_EAGER_CACHING_ALLOCATOR_H_
#define CGRUN_EAGER_CACHING_ALLOCATOR_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "src/device/device.h"

namespace cgrun {

// In bytes.
struct CachingAllocatorOptions {
  int64_t alignment = 64;              // sizes are rounded up to this: what plans align to
  int64_t small_limit = 1 << 20;       // requests up to this are small
  int64_t small_segment = 2 << 20;     // the size for small requests
  int64_t large_segment = 20 << 20;    // the size for large ones below `huge_limit`
  int64_t huge_limit = 10 << 20;       // from here on a segment is as large as the request …
  int64_t segment_rounding = 2 << 20;  // … rounded up to this

  // On a GPU, where a segment costs a synchronisation: PyTorch's own numbers.
  static CachingAllocatorOptions ForGpu();
  // On a host, where the next segment costs page faults alone, large ones are as large as the
  // request: less is reserved that nobody asked for.
  static CachingAllocatorOptions ForHost();
  // Those of the two that suit the device's memory.
  static CachingAllocatorOptions For(const Device& device);
};

struct AllocatorStatistics {
  int64_t live_bytes = 0;  // of blocks in use, their sizes rounded
  int64_t live_peak_bytes = 0;
  int64_t reserved_bytes = 0;  // of segments
  int64_t reserved_peak_bytes = 0;
  int64_t live_blocks = 0;
  int64_t allocations = 0;         // requests so far …
  int64_t system_allocations = 0;  // … and segments taken from the device for them
};

class CachingAllocator {
 public:
  // A piece of a segment. Those in use belong to who asked for them until Free().
  struct Block {
    std::byte* address = nullptr;
    int64_t bytes = 0;       // up to the next block
    int64_t live_bytes = 0;  // of the request, rounded; 0: free
    int32_t segment = 0;     // the how manyth it is, counted from 0
    int8_t pool = 0;
    Block* before = nullptr;  // neighbours in the segment
    Block* after = nullptr;
    Block* next_smaller = nullptr;  // in the bin, while it is free
    Block* next_larger = nullptr;
  };

  // `device` must outlive the allocator.
  CachingAllocator(Device& device, const CachingAllocatorOptions& options);
  // Gives all segments back, also those with blocks in use.
  ~CachingAllocator();
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  // Returns a block of at least `bytes` (0 is taken for 1), aligned as the options say. Its
  // contents are undefined. Throws UserError if the device has no memory, even after cached
  // segments are given back.
  Block* Allocate(int64_t bytes);
  void Free(Block* block) noexcept;

  // Gives segments without a block in use back to the device.
  void ReleaseCached();

  const AllocatorStatistics& statistics() const { return statistics_; }
  // All segments as the addresses and sizes of their blocks, free and not: for tests.
  std::vector<std::vector<const Block*>> Segments() const;

 private:
  static constexpr int kPools = 2;
  static constexpr int kBins = 256;

  // Holds the free blocks of a pool in lists in order of size, with a bin for each range of sizes.
  struct Pool {
    std::array<Block*, kBins> bins{};
    std::array<uint64_t, kBins / 64> occupied{};
  };

  int64_t Rounded(int64_t bytes) const;
  int64_t SegmentBytes(int64_t rounded) const;
  int BinOf(int64_t bytes) const;
  Block* TakeBestFit(Pool& pool, int64_t bytes);
  Block* NewSegment(int pool, int64_t rounded);
  std::byte* TakeFromDevice(int64_t bytes);
  void Split(Block* block, int64_t bytes);
  Block* MergeWithNext(Block* block);
  void Insert(Block* block);
  void Remove(Block* block);
  Block* NewBlock();
  void DropBlock(Block* block);

  Device& device_;
  CachingAllocatorOptions options_;
  std::array<Pool, kPools> pools_;
  std::vector<Block*> segments_;  // their first blocks; null where a segment was given back
  std::deque<Block> blocks_;      // all that ever were
  Block* spare_ = nullptr;        // of these, those that stand for nothing; linked by `after`
  AllocatorStatistics statistics_;
};

}  // namespace cgrun

#endif  // CGRUN_EAGER_CACHING_ALLOCATOR_H_
