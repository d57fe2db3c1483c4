// Tests that NaN and infinity are found in every number type.
#include "src/base/finite.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

namespace cgrun {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(AllFiniteTest, EveryNumberType) {
  bool nan = false;
  const auto finite = [&](const auto& values) {
    using T = std::remove_cvref_t<decltype(values[0])>;
    return AllFinite(DTypeOf<T>(), std::as_bytes(std::span(values)), &nan);
  };
  EXPECT_TRUE(finite(std::vector<float>{0, -1, std::numeric_limits<float>::max()}));
  EXPECT_FALSE(finite(std::vector<float>{0, -kInfinity}));
  EXPECT_FALSE(nan);
  EXPECT_FALSE(finite(std::vector<float>{0, 1, kNan}));
  EXPECT_TRUE(nan);
  EXPECT_TRUE(finite(std::vector<double>{1e300, std::numeric_limits<double>::denorm_min()}));
  EXPECT_FALSE(finite(std::vector<double>{1, -std::nan("")}));
  EXPECT_TRUE(nan);
  EXPECT_FALSE(finite(std::vector<double>{HUGE_VAL}));
  EXPECT_FALSE(nan);
  EXPECT_FALSE(finite(std::vector<BFloat16>{BFloat16(kInfinity)}));
  EXPECT_FALSE(nan);
  EXPECT_TRUE(finite(std::vector<int32_t>{-1, 0x7F800000}));
}

}  // namespace
}  // namespace cgrun
