// Number types: names, sizes, and bfloat16's rounding.
#include "src/base/dtype.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <bit>
#include <cmath>
#include <limits>

#include "src/base/float16.h"

namespace cgrun {
namespace {

TEST(DTypeTest, NamesAndBack) {
  for (DType dtype : kAllDTypes) EXPECT_EQ(DTypeFromName(Name(dtype)), dtype) << Name(dtype);
  EXPECT_EQ(DTypeFromName("float"), std::nullopt);
  EXPECT_EQ(Name(DType::kBF16), "bf16");
  EXPECT_EQ(Name(DType::kU8), "uint8");
  EXPECT_EQ(Name(DType::kI16), "int16");
}

TEST(DTypeTest, SizesAreThoseOfTheCppTypes) {
  EXPECT_EQ(SizeOf(DTypeOf<double>()), 8);
  EXPECT_EQ(SizeOf(DTypeOf<float>()), 4);
  EXPECT_EQ(SizeOf(DTypeOf<BFloat16>()), 2);
  EXPECT_EQ(SizeOf(DTypeOf<Float16>()), 2);
  EXPECT_EQ(SizeOf(DTypeOf<int8_t>()), 1);
  EXPECT_EQ(SizeOf(DTypeOf<int16_t>()), 2);
  EXPECT_EQ(SizeOf(DTypeOf<uint16_t>()), 2);
  EXPECT_EQ(SizeOf(DTypeOf<uint32_t>()), 4);
  EXPECT_EQ(SizeOf(DTypeOf<uint64_t>()), 8);
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

TEST(DTypeTest, WhatIsOnlyStored) {
  int stored = 0;
  for (DType dtype : kAllDTypes) stored += IsStorageType(dtype);
  EXPECT_EQ(stored, 6);
  EXPECT_TRUE(IsStorageType(DType::kF16));
  EXPECT_FALSE(IsStorageType(DType::kU8));
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

// A number of 16 bits by its definition.
double HalfOf(uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31), fraction = static_cast<int>(bits & 1023);
  const double size =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return bits >> 15 != 0 ? -size : size;
}

TEST(Float16Test, EveryNumberIsReadAndKept) {
  int numbers = 0;
  for (uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    Float16 half;
    half.bits = static_cast<uint16_t>(bits);
    const auto value = static_cast<float>(half);
    if ((bits >> 10 & 31) == 31) {
      ASSERT_EQ(std::isnan(value), (bits & 1023) != 0) << bits;
      ASSERT_EQ(std::isinf(value), (bits & 1023) == 0) << bits;
      ASSERT_EQ(std::signbit(value), bits >> 15 != 0) << bits;
      continue;
    }
    ++numbers;
    ASSERT_EQ(static_cast<double>(value), HalfOf(bits)) << bits;
    ASSERT_EQ(Float16(value).bits, bits);
    ASSERT_EQ(Float16(HalfOf(bits)).bits, bits);
  }
  EXPECT_EQ(numbers, 2 * 31 * 1024);
}

TEST(Float16Test, RoundsToNearestTiesToEven) {
  EXPECT_EQ(Float16(1.0f + 0x1.0p-11f).bits, 0x3C00);  // a tie, down to even
  EXPECT_EQ(Float16(1.0f + 0x3.0p-11f).bits, 0x3C02);  // a tie, up to even
  EXPECT_EQ(Float16(1.0f + 0x1.0p-11f + 0x1.0p-23f).bits, 0x3C01);
  EXPECT_EQ(Float16(65519.99f).bits, 0x7BFF);
  EXPECT_EQ(Float16(65520.0f).bits, 0x7C00);
  EXPECT_EQ(Float16(-1e30f).bits, 0xFC00);
  EXPECT_EQ(Float16(0x1.0p-25f).bits, 0);
  EXPECT_EQ(Float16(0x1.8p-25f).bits, 1);
  EXPECT_EQ(Float16(-0.0f).bits, 0x8000);
  EXPECT_TRUE(std::isnan(static_cast<float>(Float16(std::bit_cast<float>(0x7F800001u)))));
}

// If it were rounded to f32 first, the first number would become a tie, and go down to 1.
TEST(Float16Test, ADoubleIsRoundedOnce) {
  EXPECT_EQ(Float16(1.0 + 0x1.0p-11 + 0x1.0p-40).bits, 0x3C01);
  EXPECT_EQ(Float16(-1.0 - 0x1.0p-11 - 0x1.0p-40).bits, 0xBC01);
  EXPECT_EQ(Float16(1.0 + 0x3.0p-11 - 0x1.0p-40).bits, 0x3C01);
  EXPECT_EQ(Float16(65520.0 - 0x1.0p-30).bits, 0x7BFF);
  EXPECT_EQ(Float16(0x1.0p-25 + 0x1.0p-70).bits, 1);
  EXPECT_EQ(Float16(1e-300).bits, 0);
  EXPECT_EQ(Float16(1e300).bits, 0x7C00);
  EXPECT_TRUE(std::isnan(static_cast<float>(Float16(std::nan("")))));
}

TEST(Float16Test, IsTheNearestForAnyDouble) {
  EXPECT_TRUE(rc::check([](uint64_t mantissa, bool negative) {
    const int exponent = *rc::gen::inRange(-30, 16);
    const double size = std::ldexp(1.0 + static_cast<double>(mantissa >> 12) * 0x1.0p-52, exponent);
    const double value = negative ? -size : size;
    RC_PRE(size < 65504);
    const Float16 rounded(value);
    const double error = std::fabs(HalfOf(rounded.bits) - value);
    for (const int step : {-1, 1}) {
      const uint32_t bits = (rounded.bits & 0x7FFFu) + static_cast<uint32_t>(step);
      if (bits > 0x7BFF) continue;  // also below 0
      const double other = HalfOf(bits | (rounded.bits & 0x8000u));
      RC_ASSERT(error <= std::fabs(other - value));
    }
  }));
}

}  // namespace
}  // namespace cgrun
