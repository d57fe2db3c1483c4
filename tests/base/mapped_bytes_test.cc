// Bytes of a mapping are zeros, count in the peak, and leave nothing behind.
#include "src/base/mapped_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "src/base/process_memory.h"

namespace cgrun {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

TEST(MappedBytes, AreZerosAndMayBeNone) {
  const MappedBytes some(1000);
  EXPECT_EQ(some.bytes().size(), 1000U);
  EXPECT_TRUE(std::ranges::all_of(some.bytes(), [](std::byte b) { return b == std::byte{0}; }));
  EXPECT_TRUE(MappedBytes(0).bytes().empty());
}

TEST(MappedBytes, AreGivenBackAndCountInThePeak) {
  ForgetPeak();
  const int64_t before = ReadProcessMemory().anonymous;
  {
    MappedBytes first(3 * kMiB);  // the heap would keep a block of this size
    const MappedBytes bytes = std::move(first);
    std::ranges::fill(bytes.bytes(), std::byte{1});
  }
  EXPECT_LT(ReadProcessMemory().anonymous, before + kMiB);
  EXPECT_GE(PeakAnonymousBytes(), before + 3 * kMiB);
}

}  // namespace
}  // namespace cgrun
