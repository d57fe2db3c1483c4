// Number types: names, sizes, and bfloat16's rounding.
#include "src/base/dtype.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <bit>
#include <cmath>
#include <limits>

namespace cgrun {
namespace {

TEST(DTypeTest, NamesAndBack) {
  for (DType dtype : kAllDTypes) EXPECT_EQ(DTypeFromName(Name(dtype)), dtype) << Name(dtype);
  EXPECT_EQ(DTypeFromName("float"), std::nullopt);
  EXPECT_EQ(Name(DType::kBF16), "bf16");
  EXPECT_EQ(Name(DType::kU8), "uint8");
}

TEST(DTypeTest, SizesAreThoseOfTheCppTypes) {
  EXPECT_EQ(SizeOf(DTypeOf<double>()), 8);
  EXPECT_EQ(SizeOf(DTypeOf<float>()), 4);
  EXPECT_EQ(SizeOf(DTypeOf<BFloat16>()), 2);
  EXPECT_EQ(SizeOf(DType::kF16), 2);
  EXPECT_EQ(SizeOf(DTypeOf<int64_t>()), 8);
  EXPECT_EQ(SizeOf(DTypeOf<int32_t>()), 4);
  EXPECT_EQ(SizeOf(DTypeOf<uint8_t>()), 1);
  EXPECT_EQ(SizeOf(DTypeOf<bool>()), 1);
}

TEST(DTypeTest, FloatsAreTheFloats) {
  int floats = 0;
  for (DType dtype : kAllDTypes) floats += IsFloat(dtype);
  EXPECT_EQ(floats, 4);
  EXPECT_TRUE(IsFloat(DType::kBF16));
  EXPECT_FALSE(IsFloat(DType::kBool));
}

TEST(BFloat16Test, RoundsToNearestTiesToEven) {
  EXPECT_EQ(BFloat16(1.0f).bits, 0x3F80);
  EXPECT_EQ(BFloat16(1.0f + 0x1.0p-8f).bits, 0x3F80);               // a tie, down to even
  EXPECT_EQ(BFloat16(1.0f + 0x3.0p-8f).bits, 0x3F82);               // a tie, up to even
  EXPECT_EQ(BFloat16(1.0f + 0x1.0p-8f + 0x1.0p-20f).bits, 0x3F81);  // just above the tie
  EXPECT_EQ(BFloat16(-0.0f).bits, 0x8000);
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::max()).bits, 0x7F80);  // rounds to infinity
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::infinity()).bits, 0x7F80);
}

TEST(BFloat16Test, NaNStaysNaN) {
  // The payload's upper bits are zero: cut off, it would become infinity.
  const float low_payload = std::bit_cast<float>(0x7F800001u);
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(low_payload))));
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(-std::nanf("")))));
}

// Its own value, what lies between it and the next, and the tie, which goes to the even one.
TEST(BFloat16Test, EveryValueIsItsOwnNearest) {
  int nans = 0;
  for (uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const float value = std::bit_cast<float>(bits << 16);
    if (std::isnan(value)) {
      ++nans;
      EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(value)))) << bits;
      continue;
    }
    ASSERT_EQ(BFloat16(value).bits, bits);
    ASSERT_EQ(std::bit_cast<uint32_t>(static_cast<float>(BFloat16(value))), bits << 16);
    if (std::isinf(value)) continue;
    const uint32_t next = bits + 1, even = bits % 2 == 0 ? bits : next;
    ASSERT_EQ(BFloat16(std::bit_cast<float>((bits << 16) + 0x7FFF)).bits, bits);
    ASSERT_EQ(BFloat16(std::bit_cast<float>((bits << 16) + 0x8000)).bits, even);
    ASSERT_EQ(BFloat16(std::bit_cast<float>((bits << 16) + 0x8001)).bits, next);
  }
  EXPECT_EQ(nans, 2 * 127);
}

TEST(BFloat16Test, IsTheNearestForAnyFloat) {
  EXPECT_TRUE(rc::check([](uint32_t bits) {
    const float value = std::bit_cast<float>(bits);
    RC_PRE(std::isfinite(value) && std::fabs(value) < 3.0e38f);
    const BFloat16 rounded(value);
    const double error = std::fabs(static_cast<double>(static_cast<float>(rounded)) - value);
    for (int step : {-1, 1}) {
      BFloat16 other;
      other.bits = static_cast<uint16_t>(rounded.bits + step);
      const double neighbour = static_cast<float>(other);
      if (std::isfinite(neighbour)) RC_ASSERT(error <= std::fabs(neighbour - value));
    }
  }));
}

}  // namespace
}  // namespace cgrun
