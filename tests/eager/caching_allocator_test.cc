// The caching allocator: rounding, best fit, splits and merges by example; random requests against
// what must always hold.
#include "src/eager/caching_allocator.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cstring>

#include "src/base/allocation_counter.h"
#include "src/base/diagnostics.h"
#include "src/device/cpu.h"

namespace cgrun {
namespace {

constexpr int64_t kKiB = 1 << 10;
constexpr int64_t kMiB = 1 << 20;

// This host has little memory.
class SmallDevice final : public Device {
 public:
  explicit SmallDevice(int64_t capacity) : capacity_(capacity) {}

  std::byte* Allocate(ArenaKind kind, int64_t bytes) override {
    if (host_.counters().bytes + bytes > capacity_) throw UserError("full");
    return host_.Allocate(kind, bytes);
  }
  void Free(ArenaKind kind, std::byte* arena) override { host_.Free(kind, arena); }
  DeviceInfo Info() const override { return host_.Info(); }
  DeviceCounters counters() const override { return host_.counters(); }
  void UseThreads(int) override {}
  Stream CreateStream() override { return {}; }
  void Copy(CopyKind, std::byte*, const std::byte*, int64_t, Stream) override {}
  void Enqueue(Stream, void (*)(void*), void*) override {}
  Event Record(Stream) override { return {}; }
  void Wait(Stream, Event) override {}
  void Synchronize(Stream) override {}

 private:
  CpuDevice host_{"reference"};
  int64_t capacity_;
};

class CachingAllocatorTest : public testing::Test {
 protected:
  CpuDevice device_{"reference"};
  CachingAllocator allocator_{device_, CachingAllocatorOptions::ForGpu()};
  const AllocatorStatistics& statistics_ = allocator_.statistics();
};

TEST_F(CachingAllocatorTest, SmallRequestsShareASegment) {
  CachingAllocator::Block* a = allocator_.Allocate(1);
  CachingAllocator::Block* b = allocator_.Allocate(0);
  CachingAllocator::Block* c = allocator_.Allocate(513);
  EXPECT_EQ(b->address - a->address, 512);
  EXPECT_EQ(c->address - b->address, 512);
  EXPECT_EQ(statistics_.live_bytes, 512 + 512 + 1024);
  EXPECT_EQ(statistics_.live_blocks, 3);
  EXPECT_EQ(statistics_.reserved_bytes, 2 * kMiB);
  EXPECT_EQ(statistics_.system_allocations, 1);
  EXPECT_EQ(statistics_.allocations, 3);
  EXPECT_EQ(device_.counters().bytes, 2 * kMiB);
}

TEST_F(CachingAllocatorTest, SegmentsFollowTheRequest) {
  allocator_.Allocate(kMiB);
  EXPECT_EQ(statistics_.reserved_bytes, 2 * kMiB);
  allocator_.Allocate(kMiB + 1);
  EXPECT_EQ(statistics_.reserved_bytes, 22 * kMiB);
  allocator_.Allocate(9 * kMiB);
  EXPECT_EQ(statistics_.reserved_bytes, 22 * kMiB) << "the rest of the large segment";
  allocator_.Allocate(11 * kMiB);
  EXPECT_EQ(statistics_.reserved_bytes, 34 * kMiB) << "rounded to whole segments of 2 MiB";
}

TEST_F(CachingAllocatorTest, OnAHostLargeSegmentsAreAsLargeAsTheRequest) {
  CachingAllocator host(device_, CachingAllocatorOptions::ForHost());
  host.Allocate(kMiB + 1);
  EXPECT_EQ(host.statistics().reserved_bytes, kMiB + 64 * kKiB);
  EXPECT_EQ(host.statistics().live_bytes, kMiB + 64);
}

TEST_F(CachingAllocatorTest, TheSmallestBlockThatFitsIsTaken) {
  std::vector<CachingAllocator::Block*> blocks;
  for (int64_t kib : {8, 1, 4, 1, 6, 1}) blocks.push_back(allocator_.Allocate(kib * kKiB));
  for (size_t i : {0, 2, 4}) allocator_.Free(blocks[i]);
  EXPECT_EQ(allocator_.Allocate(5 * kKiB)->address, blocks[4]->address);
  EXPECT_EQ(allocator_.Allocate(4 * kKiB)->address, blocks[2]->address);
  EXPECT_EQ(allocator_.Allocate(kKiB)->address, blocks[4]->address + 5 * kKiB) << "what was left";
  EXPECT_EQ(allocator_.Allocate(kKiB)->address, blocks[0]->address) << "of two that fit the same";
  EXPECT_EQ(statistics_.system_allocations, 1);
}

TEST_F(CachingAllocatorTest, FreeNeighboursBecomeOne) {
  CachingAllocator::Block* a = allocator_.Allocate(kKiB);
  CachingAllocator::Block* b = allocator_.Allocate(kKiB);
  CachingAllocator::Block* c = allocator_.Allocate(kKiB);
  std::byte* start = a->address;
  allocator_.Free(a);
  allocator_.Free(c);
  EXPECT_EQ(allocator_.Segments()[0].size(), 3u);
  allocator_.Free(b);
  ASSERT_EQ(allocator_.Segments()[0].size(), 1u);
  EXPECT_EQ(allocator_.Segments()[0][0]->bytes, 2 * kMiB);
  EXPECT_EQ(allocator_.Allocate(3 * kKiB)->address, start);
}

// A large block is not broken for a rest that no large request could use.
TEST_F(CachingAllocatorTest, LargeBlocksAreSplitForLargeRests) {
  CachingAllocator::Block* block = allocator_.Allocate(12 * kMiB);
  allocator_.Free(block);
  CachingAllocator::Block* most = allocator_.Allocate(11 * kMiB);
  EXPECT_EQ(most->bytes, 12 * kMiB);
  EXPECT_EQ(statistics_.live_bytes, 11 * kMiB) << "what was asked for";
  allocator_.Free(most);
  EXPECT_EQ(statistics_.live_bytes, 0);
  EXPECT_EQ(allocator_.Allocate(10 * kMiB)->bytes, 10 * kMiB);
  allocator_.Allocate(2 * kMiB);
  EXPECT_EQ(statistics_.system_allocations, 1);
}

TEST_F(CachingAllocatorTest, PeaksStay) {
  allocator_.Free(allocator_.Allocate(3 * kMiB));
  EXPECT_EQ(statistics_.live_peak_bytes, 3 * kMiB);
  EXPECT_EQ(statistics_.live_bytes, 0);
  EXPECT_EQ(statistics_.reserved_peak_bytes, 20 * kMiB);
  allocator_.ReleaseCached();
  EXPECT_EQ(statistics_.reserved_bytes, 0);
  EXPECT_EQ(device_.counters().bytes, 0);
  allocator_.Allocate(1);
  EXPECT_EQ(statistics_.reserved_bytes, 2 * kMiB);
}

TEST_F(CachingAllocatorTest, WhatIsCachedGoesBackBeforeMemoryRunsOut) {
  SmallDevice device(30 * kMiB);
  CachingAllocator allocator(device, CachingAllocatorOptions::ForGpu());
  CachingAllocator::Block* small = allocator.Allocate(1);
  allocator.Free(allocator.Allocate(20 * kMiB));
  EXPECT_EQ(allocator.statistics().reserved_bytes, 22 * kMiB);
  CachingAllocator::Block* large = allocator.Allocate(28 * kMiB);
  EXPECT_EQ(allocator.statistics().reserved_bytes, 30 * kMiB);
  EXPECT_THROW(allocator.Allocate(2 * kMiB), UserError);
  EXPECT_NO_THROW(allocator.Allocate(100)) << "there is room beside the first";
  allocator.Free(large);
  allocator.Free(small);
  EXPECT_EQ(device.counters().bytes, 30 * kMiB);
}

TEST_F(CachingAllocatorTest, FreeingTwiceIsFound) {
  CachingAllocator::Block* block = allocator_.Allocate(1);
  CachingAllocator::Block* other = allocator_.Allocate(1);
  allocator_.Free(block);
  EXPECT_DEATH(allocator_.Free(block), "freed twice");
  allocator_.Free(other);
}

TEST_F(CachingAllocatorTest, ALoopThatRepeatsItselfTakesNothingFromTheHeap) {
  const auto loop = [&] {
    std::array<CachingAllocator::Block*, 40> blocks{};
    for (size_t i = 0; i < blocks.size(); ++i) {
      blocks[i] = allocator_.Allocate(static_cast<int64_t>((i * 7919) % 100) * 50000);
    }
    for (size_t i = 0; i < blocks.size(); ++i) allocator_.Free(blocks[i * 13 % blocks.size()]);
  };
  loop();
  const int64_t before = CurrentHeapUse().allocations;
  const int64_t reserved = statistics_.reserved_bytes;
  for (int i = 0; i < 10; ++i) loop();
  if (AllocationsAreCounted()) {
    EXPECT_EQ(CurrentHeapUse().allocations, before);
  }
  EXPECT_EQ(statistics_.reserved_bytes, reserved);
  EXPECT_EQ(statistics_.live_blocks, 0);
}

// Checks the rules that the allocator's books must keep at any time.
void CheckBooks(const CachingAllocator& allocator,
                const std::vector<CachingAllocator::Block*>& live, int64_t alignment) {
  int64_t reserved = 0, live_bytes = 0;
  size_t in_use = 0;
  for (const auto& segment : allocator.Segments()) {
    const std::byte* next = segment[0]->address;
    bool last_free = false;
    for (const CachingAllocator::Block* block : segment) {
      RC_ASSERT(block->address == next);
      RC_ASSERT(reinterpret_cast<uintptr_t>(block->address) % static_cast<uintptr_t>(alignment) ==
                0u);
      RC_ASSERT(block->bytes > 0 && block->live_bytes <= block->bytes);
      const bool is_free = block->live_bytes == 0;
      RC_ASSERT(!(is_free && last_free));  // two free neighbours would be one
      last_free = is_free;
      in_use += !is_free;
      live_bytes += block->live_bytes;
      reserved += block->bytes;
      next = block->address + block->bytes;
    }
  }
  RC_ASSERT(in_use == live.size());
  const AllocatorStatistics& statistics = allocator.statistics();
  RC_ASSERT(statistics.live_blocks == static_cast<int64_t>(live.size()));
  RC_ASSERT(statistics.live_bytes == live_bytes);
  RC_ASSERT(statistics.reserved_bytes == reserved);
  RC_ASSERT(statistics.live_peak_bytes >= live_bytes);
  RC_ASSERT(statistics.reserved_peak_bytes >= statistics.live_peak_bytes);
}

// The smallest free block of the pool that is large enough, in no clever way; 0: none.
int64_t BestFit(const CachingAllocator& allocator, int64_t rounded, int64_t small_limit) {
  const int pool = rounded <= small_limit ? 0 : 1;
  int64_t best = 0;
  for (const auto& segment : allocator.Segments()) {
    for (const CachingAllocator::Block* block : segment) {
      if (block->live_bytes > 0 || block->pool != pool || block->bytes < rounded) continue;
      if (best == 0 || block->bytes < best) best = block->bytes;
    }
  }
  return best;
}

// Blocks never overlap, hold what is written into them, are the best fit, and end as whole
// segments.
RC_GTEST_PROP(CachingAllocatorProperty, RandomRequests, ()) {
  CachingAllocatorOptions options = *rc::gen::arbitrary<bool>()
                                        ? CachingAllocatorOptions::ForGpu()
                                        : CachingAllocatorOptions::ForHost();
  options.small_limit /= 16;  // sixteenths, so that less is touched
  options.small_segment /= 16;
  options.large_segment /= 16;
  options.huge_limit /= 16;
  options.segment_rounding /= 16;
  CpuDevice device("reference");
  CachingAllocator allocator(device, options);
  std::vector<CachingAllocator::Block*> live;
  std::vector<int64_t> sizes;
  const auto free_one = [&](size_t i) {
    const std::byte mark = static_cast<std::byte>(sizes[i]);
    for (int64_t at : {int64_t{0}, sizes[i] / 2, sizes[i] - 1}) {
      RC_ASSERT(live[i]->address[at] == mark);
    }
    allocator.Free(live[i]);
    live.erase(live.begin() + static_cast<std::ptrdiff_t>(i));
    sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(i));
  };
  const int steps = *rc::gen::inRange(1, 120);
  for (int step = 0; step < steps; ++step) {
    if (!live.empty() && *rc::gen::inRange(0, 5) < 2) {
      free_one(*rc::gen::inRange<size_t>(0, live.size()));
    } else {
      const int64_t bytes =
          *rc::gen::oneOf(rc::gen::inRange<int64_t>(1, 3000), rc::gen::inRange<int64_t>(1, 200000),
                          rc::gen::inRange<int64_t>(1, 1500000));
      const int64_t rounded =
          (bytes + options.alignment - 1) / options.alignment * options.alignment;
      const int64_t fit = BestFit(allocator, rounded, options.small_limit);
      const int64_t segments = allocator.statistics().system_allocations;
      CachingAllocator::Block* block = allocator.Allocate(bytes);
      RC_ASSERT((allocator.statistics().system_allocations == segments) == (fit > 0));
      if (fit > 0) {
        const int64_t rest =
            block->after != nullptr && block->after->live_bytes == 0 && block->bytes < fit
                ? block->after->bytes
                : 0;
        RC_ASSERT(block->bytes + rest == fit);
      }
      std::memset(block->address, static_cast<int>(bytes & 255), static_cast<size_t>(bytes));
      live.push_back(block);
      sizes.push_back(bytes);
    }
    CheckBooks(allocator, live, options.alignment);
  }
  while (!live.empty()) free_one(live.size() / 2);
  for (const auto& segment : allocator.Segments()) RC_ASSERT(segment.size() == 1u);
  allocator.ReleaseCached();
  RC_ASSERT(allocator.statistics().reserved_bytes == 0);
  RC_ASSERT(device.counters().bytes == 0);
}

}  // namespace
}  // namespace cgrun
