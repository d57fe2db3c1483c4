// Tests the heap that a device of the host keeps for arenas of one program after the other.
#include <gtest/gtest.h>

#include <algorithm>

#include "src/device/cpu.h"

namespace cgrun {
namespace {

constexpr int64_t kHeap = 1 << 20;

TEST(CpuHeapTest, ArenasLieInItOneAfterTheOther) {
  CpuDevice device("reference");
  device.KeepHeap(kHeap);
  std::byte* const first = device.Allocate(ArenaKind::kDevice, kHeap);
  device.Free(ArenaKind::kDevice, first);
  std::byte* const second = device.Allocate(ArenaKind::kDevice, kHeap / 2);
  EXPECT_EQ(first, second);
  EXPECT_EQ(device.counters().bytes, kHeap);
  EXPECT_EQ(device.counters().allocations, 1);
}

TEST(CpuHeapTest, AnArenaIsZeroedAgain) {
  CpuDevice device("reference");
  device.KeepHeap(kHeap);
  std::byte* arena = device.Allocate(ArenaKind::kDevice, kHeap);
  std::fill_n(arena, kHeap, std::byte{7});
  device.Free(ArenaKind::kDevice, arena);
  arena = device.Allocate(ArenaKind::kDevice, kHeap);
  EXPECT_EQ(std::count(arena, arena + kHeap, std::byte{0}), kHeap);
}

TEST(CpuHeapTest, ASecondArenaAndALargerOneLieElsewhere) {
  CpuDevice device("reference");
  device.KeepHeap(kHeap);
  std::byte* const large = device.Allocate(ArenaKind::kDevice, 2 * kHeap);
  std::byte* const first = device.Allocate(ArenaKind::kDevice, kHeap);
  std::byte* const second = device.Allocate(ArenaKind::kDevice, kHeap);
  EXPECT_NE(first, second);
  EXPECT_EQ(device.counters().bytes, 4 * kHeap);
  for (std::byte* arena : {large, first, second}) device.Free(ArenaKind::kDevice, arena);
  EXPECT_EQ(device.counters().bytes, kHeap);
}

TEST(CpuHeapTest, ALargerHeapReplacesASmallerOne) {
  CpuDevice device("reference");
  device.KeepHeap(kHeap);
  device.KeepHeap(kHeap / 2);
  EXPECT_EQ(device.counters().bytes, kHeap);
  device.KeepHeap(3 * kHeap);
  EXPECT_EQ(device.counters().bytes, 3 * kHeap);
}

}  // namespace
}  // namespace cgrun
