// Sizes of memory in whole MiB: what is needed rounds up, what is free rounds down.
#include "src/base/written_bytes.h"

#include <gtest/gtest.h>

namespace cgrun {
namespace {

constexpr int64_t kMiB = 1 << 20;

TEST(WrittenBytesTest, ASizeThatIsNeededRoundsUp) {
  EXPECT_EQ(NeededMiB(0), "0 MiB");
  EXPECT_EQ(NeededMiB(1), "1 MiB");
  EXPECT_EQ(NeededMiB(5 * kMiB), "5 MiB");
  EXPECT_EQ(NeededMiB(5 * kMiB + 1), "6 MiB");
}

TEST(WrittenBytesTest, ASizeThatIsFreeRoundsDown) {
  EXPECT_EQ(FreeMiB(0), "0 MiB");
  EXPECT_EQ(FreeMiB(kMiB - 1), "0 MiB");
  EXPECT_EQ(FreeMiB(5 * kMiB), "5 MiB");
  EXPECT_EQ(FreeMiB(6 * kMiB - 1), "5 MiB");
}

}  // namespace
}  // namespace cgrun
