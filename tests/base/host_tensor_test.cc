// Tests of host tensors: typed access, rounding, saturation and bitwise equality must be right.
#include "src/base/host_tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace cgrun {
namespace {

TEST(HostTensorTest, StartsAsZeros) {
  const HostTensor tensor(DType::kF64, {2, 3});
  EXPECT_EQ(tensor.elements(), 6);
  EXPECT_EQ(tensor.bytes().size(), 48u);
  for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(tensor.At(i), 0.0);
  EXPECT_EQ(HostTensor().elements(), 0);
}

TEST(HostTensorTest, HoldsValuesOfEveryType) {
  for (DType dtype : kAllDTypes) {
    HostTensor tensor(dtype, {2});
    tensor.Set(1, 1.0);
    EXPECT_EQ(tensor.At(0), 0.0) << Name(dtype);
    EXPECT_EQ(tensor.At(1), 1.0) << Name(dtype);
  }
  EXPECT_EQ(HostTensor::Scalar<int32_t>(-7).At(0), -7.0);
  EXPECT_EQ((HostTensor::Of<float>({2}, {0.5f, -2.0f})).data<float>()[1], -2.0f);
}

TEST(HostTensorTest, RoundsAsItsType) {
  HostTensor bf16(DType::kBF16, {1});
  bf16.Set(0, 1.0 + 0x1.8p-8);
  EXPECT_EQ(bf16.At(0), 1.0 + 0x1.0p-7);
  HostTensor integer(DType::kI32, {1});
  integer.Set(0, -2.9);
  HostTensor half(DType::kF16, {1});
  half.Set(0, 1.0 + 0x1.8p-10);
  EXPECT_EQ(half.At(0), 1.0 + 0x1.0p-9);
  EXPECT_EQ(integer.At(0), -2.0);
}

TEST(HostTensorTest, IntegersSaturate) {
  HostTensor byte(DType::kU8, {3});
  byte.Set(0, 300.0);
  byte.Set(1, -1.0);
  byte.Set(2, std::nan(""));
  EXPECT_EQ(byte.At(0), 255.0);
  EXPECT_EQ(byte.At(1), 0.0);
  EXPECT_EQ(byte.At(2), 0.0);
  HostTensor wide(DType::kI64, {2});
  wide.Set(0, 1e300);
  wide.Set(1, -1e300);
  EXPECT_EQ(wide.data<int64_t>()[0], std::numeric_limits<int64_t>::max());
  EXPECT_EQ(wide.data<int64_t>()[1], std::numeric_limits<int64_t>::min());
  HostTensor narrow(DType::kI8, {2});
  narrow.Set(0, 200.0);
  narrow.Set(1, -200.0);
  EXPECT_EQ(narrow.At(0), 127.0);
  EXPECT_EQ(narrow.At(1), -128.0);
  HostTensor large(DType::kU64, {2});
  large.Set(0, 1e300);
  large.Set(1, 9223372036854775808.0);
  EXPECT_EQ(large.data<uint64_t>()[0], std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(large.data<uint64_t>()[1], uint64_t{1} << 63);
}

TEST(HostTensorTest, EqualityIsBitwise) {
  const HostTensor zero = HostTensor::Scalar(0.0f);
  EXPECT_NE(zero, HostTensor::Scalar(-0.0f));
  EXPECT_NE(zero, HostTensor::Scalar(0.0));
  EXPECT_NE(zero, HostTensor::Of<float>({1}, {0.0f}));
  EXPECT_EQ(HostTensor::Scalar(std::nanf("")), HostTensor::Scalar(std::nanf("")));
}

TEST(HostTensorTest, CheckedByteSize) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(CheckedByteSize(DType::kF32, std::vector<int64_t>{2, 3}), 24);
  EXPECT_EQ(CheckedByteSize(DType::kU8, std::vector<int64_t>{most}), most);
  EXPECT_EQ(CheckedByteSize(DType::kBF16, std::vector<int64_t>{most}), std::nullopt);
  EXPECT_EQ(CheckedByteSize(DType::kU8, std::vector<int64_t>{-1}), std::nullopt);
}

TEST(HostTensorDeathTest, TheTypeMustBeTheTensors) {
  HostTensor tensor(DType::kF32, {1});
  EXPECT_DEATH(tensor.data<double>(), "DTypeOf<T>\\(\\) == dtype_");
}

// The halves are the largest number, 1, the smallest normal and the smallest number, a half,
// infinity, NaN.
TEST(HostTensorTest, ReadsHalves) {
  const uint16_t bits[] = {0x7BFF, 0x3C00, 0x0400, 0x8001, 0xB800, 0xFC00, 0x7E00, 0x8000};
  HostTensor halves(DType::kF16, {8});
  std::memcpy(halves.bytes().data(), bits, sizeof(bits));
  const double expected[] = {65504, 1, 0x1p-14, -0x1p-24, -0.5, -INFINITY};
  for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(halves.At(i), expected[i]) << i;
  EXPECT_TRUE(std::isnan(halves.At(6)));
  EXPECT_TRUE(std::signbit(halves.At(7)) && halves.At(7) == 0);
}

}  // namespace
}  // namespace cgrun
