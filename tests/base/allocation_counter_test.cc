// The counter counts, and the fixed pool serves what it is to serve, and nothing else.
#include "src/base/allocation_counter.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace cgrun {
namespace {

class AllocationPool : public testing::Test {
 protected:
  void SetUp() override {
    if (!AllocationsAreCounted()) GTEST_SKIP() << "a sanitizer brings its own operator new";
  }

  // Returns the bytes that `work` took from the heap and from the pool.
  template <class Work>
  static HeapUse Taken(Work work) {
    const HeapUse before = CurrentHeapUse();
    work();
    const HeapUse after = CurrentHeapUse();
    return {after.allocations - before.allocations, after.pool_requests - before.pool_requests, 0};
  }
};

void* New(size_t bytes) { return ::operator new(bytes); }
void Delete(void* memory) { ::operator delete(memory); }

TEST_F(AllocationPool, ServesItsScopeAlone) {
  const HeapUse outside = Taken([] { Delete(New(64)); });
  EXPECT_EQ(outside.allocations, 1);
  EXPECT_EQ(outside.pool_requests, 0);
  const HeapUse inside = Taken([] {
    const PooledAllocations pooled;
    Delete(New(64));
    Delete(New(1000));
  });
  EXPECT_EQ(inside.allocations, 0);
  EXPECT_EQ(inside.pool_requests, 2);
}

TEST_F(AllocationPool, GivesBlocksThatDoNotOverlapAndTakesThemBack) {
  for (int round = 0; round < 3; ++round) {
    std::vector<unsigned char*> blocks;
    const HeapUse taken = Taken([&] {
      const PooledAllocations pooled;
      for (int i = 0; i < 100; ++i) {
        const size_t bytes = i % 10 == 0 ? 900 : 1 + static_cast<size_t>(i);
        blocks.push_back(static_cast<unsigned char*>(New(bytes)));
        std::memset(blocks.back(), i, bytes);
      }
    });
    // The vector itself grew in the scope, from the pool too, and its largest sizes from the heap.
    EXPECT_LE(taken.allocations, 1);
    for (int i = 0; i < 100; ++i) {
      const size_t bytes = i % 10 == 0 ? 900 : 1 + static_cast<size_t>(i);
      for (size_t b = 0; b < bytes; ++b) ASSERT_EQ(blocks[static_cast<size_t>(i)][b], i);
      Delete(blocks[static_cast<size_t>(i)]);
    }
  }
}

TEST_F(AllocationPool, TheHeapServesWhatItCannot) {
  const HeapUse taken = Taken([] {
    const PooledAllocations pooled;
    Delete(New(1 << 20));
  });
  EXPECT_EQ(taken.allocations, 1);
  std::vector<void*> blocks(10000);
  const HeapUse many = Taken([&] {
    const PooledAllocations pooled;
    for (void*& block : blocks) block = New(100);
  });
  EXPECT_GT(many.allocations, 0);
  EXPECT_GT(many.pool_requests, 0);
  EXPECT_EQ(many.allocations + many.pool_requests, 10000);
  EXPECT_EQ(std::set<void*>(blocks.begin(), blocks.end()).size(), 10000U);
  for (void* block : blocks) Delete(block);
}

TEST_F(AllocationPool, BelongsToOneThread) {
  const PooledAllocations pooled;
  int64_t requests = -1;
  std::thread([&] { requests = Taken([] { Delete(New(64)); }).pool_requests; }).join();
  EXPECT_EQ(requests, 0);
}

}  // namespace
}  // namespace cgrun
