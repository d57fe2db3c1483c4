// Tests how much memory the machine, control groups and `ulimit -v` leave.
#include "src/device/host_limits.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "src/device/device.h"

namespace cgrun {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

TEST(HostLimits, MachineHasMemory) {
  const MachineMemory memory = ReadMachineMemory();
  EXPECT_GT(memory.total, 64 * kMiB);
  EXPECT_GT(memory.available, 0);
  EXPECT_LE(memory.available, memory.total);
  EXPECT_LE(FreeHostMemory(), memory.total);
}

// The limit is above the 20 TiB that the address sanitizer maps. It stays as it is behind the test,
// where tests share a process.
TEST(HostLimits, AddressSpaceIsALimit) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit lower = before;
  constexpr int64_t kLimit = int64_t{1} << 46;
  lower.rlim_cur = kLimit;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &lower), 0);
  const HostLimits limits = ReadHostLimits();
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_EQ(limits.address_space, kLimit);
  EXPECT_GT(limits.machine, 0);
  if (before.rlim_cur == RLIM_INFINITY) {
    EXPECT_EQ(ReadHostLimits().address_space, HostLimits::kNone);
  }
}

}  // namespace
}  // namespace cgrun
