// The arena of decoders: blocks do not overlap, what is freed is reused, too much gives null.
#include "src/data/scratch_arena.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "src/base/random.h"

namespace cgrun {
namespace {

TEST(ScratchArenaTest, HandsOutAlignedBlocksUntilItIsFull) {
  ScratchArena arena(2 * ScratchArena::BlockBytes(100));
  void* first = arena.Allocate(100);
  void* second = arena.Allocate(100);
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(second) % ScratchArena::kAlignment, 0u);
  EXPECT_EQ(arena.Allocate(1), nullptr);
  EXPECT_EQ(arena.Allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(arena.Reallocate(second, SIZE_MAX - 8), nullptr);
  EXPECT_TRUE(arena.Take<double>(SIZE_MAX / 4).empty());
  arena.Free(first);
  EXPECT_EQ(arena.Allocate(1), nullptr);  // below another one
  arena.Free(second);
  EXPECT_NE(arena.Allocate(200), nullptr);
  EXPECT_EQ(arena.peak(), arena.bytes());
}

TEST(ScratchArenaTest, TheLastBlockGrowsInItsPlace) {
  ScratchArena arena(1000);
  char* block = static_cast<char*>(arena.Reallocate(nullptr, 8));
  std::memcpy(block, "1234567", 8);
  EXPECT_EQ(arena.Reallocate(block, 500), block);
  void* other = arena.Allocate(8);
  EXPECT_EQ(arena.Reallocate(block, 600), nullptr);  // no room for both, and nothing is lost
  arena.Free(other);
  EXPECT_EQ(arena.Reallocate(block, 900), block);
  EXPECT_STREQ(block, "1234567");
}

TEST(ScratchArenaTest, BlocksKeepTheirBytes) {
  ScratchArena arena(1 << 16);
  std::map<char*, std::pair<size_t, char>> blocks;
  int full = 0, moved = 0;
  for (uint64_t i = 0; i < 20000; ++i) {
    const uint32_t bits = RandomBits(1, 0, i);
    const size_t size = bits % 997;
    const char fill = static_cast<char>(bits >> 16);
    char* block = nullptr;
    auto chosen = blocks.begin();
    if (!blocks.empty()) std::advance(chosen, (bits >> 8) % blocks.size());
    switch (bits >> 30) {
      case 0:
      case 1:
        block = static_cast<char*>(arena.Allocate(size));
        if (block != nullptr) std::memset(block, fill, size);
        if (block != nullptr) blocks[block] = {size, fill};
        full += block == nullptr;
        break;
      case 2:
        if (blocks.empty()) break;
        arena.Free(chosen->first);
        blocks.erase(chosen);
        break;
      default: {
        if (blocks.empty()) break;
        const auto [old_size, old_fill] = chosen->second;
        block = static_cast<char*>(arena.Reallocate(chosen->first, size));
        if (block == nullptr) break;
        moved += block != chosen->first;
        blocks.erase(chosen);
        for (size_t k = 0; k < std::min(size, old_size); ++k) ASSERT_EQ(block[k], old_fill);
        std::memset(block, fill, size);
        blocks[block] = {size, fill};
      }
    }
    if (i % 64 != 0) continue;
    for (const auto& [at, content] : blocks) {
      for (size_t k = 0; k < content.first; ++k) ASSERT_EQ(at[k], content.second);
    }
    if (full > 20) {
      arena.Reset();
      blocks.clear();
      full = 0;
    }
  }
  EXPECT_GT(moved, 10);
}

}  // namespace
}  // namespace cgrun
