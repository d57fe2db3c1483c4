// Reads tensors that users type.
#include "src/base/tensor_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cgrun {
namespace {

TEST(TensorText, NumbersAndListsAreTensors) {
  EXPECT_EQ(ParseTensor("16000", DType::kI64), HostTensor::Scalar<int64_t>(16000));
  EXPECT_EQ(ParseTensor("-0.5", DType::kF32), HostTensor::Scalar(-0.5f));
  EXPECT_EQ(ParseTensor(" [[1, 2], [3, 4]] ", DType::kF32),
            HostTensor::Of<float>(Shape{2, 2}, {1, 2, 3, 4}));
  EXPECT_EQ(ParseTensor("9223372036854775807", DType::kI64),
            HostTensor::Scalar<int64_t>(INT64_MAX));
  EXPECT_EQ(ParseTensor("18446744073709551615", DType::kU64),
            HostTensor::Scalar<uint64_t>(UINT64_MAX));
  EXPECT_EQ(ParseTensor("-128", DType::kI8), HostTensor::Scalar<int8_t>(-128));
  const auto flags = ParseTensor("[true, false]", DType::kBool);
  ASSERT_TRUE(flags.has_value());
  EXPECT_EQ(flags->At(0), 1);
  EXPECT_EQ(flags->At(1), 0);
}

TEST(TensorText, OtherTextsAreNone) {
  for (const char* text : {"", "x", "1 2", "[", "[]", "[1", "[1,]", "[1, [2]]", "[[1], 2]",
                           "[[1, 2], [3]]", "1]", "true", "nan", "[[[[[[[[[1]]]]]]]]]"}) {
    EXPECT_FALSE(ParseTensor(text, DType::kF32).has_value()) << text;
  }
  EXPECT_FALSE(ParseTensor("0.5", DType::kI64).has_value());
  EXPECT_FALSE(ParseTensor("256", DType::kU8).has_value());
  EXPECT_FALSE(ParseTensor("128", DType::kI8).has_value());
  EXPECT_FALSE(ParseTensor("-1", DType::kU16).has_value());
  EXPECT_FALSE(ParseTensor("-1", DType::kU64).has_value());
  EXPECT_FALSE(ParseTensor("18446744073709551616", DType::kU64).has_value());
  EXPECT_FALSE(ParseTensor("9223372036854775808", DType::kI64).has_value());
}

TEST(TensorText, ConversionsKeepTheNumbers) {
  const auto one = HostTensor::Of<double>(Shape{2}, {1, 2.5});
  EXPECT_EQ(ConvertTensor(one, DType::kF32), HostTensor::Of<float>(Shape{2}, {1, 2.5f}));
  EXPECT_FALSE(ConvertTensor(one, DType::kI32).has_value());
  EXPECT_EQ(ConvertTensor(HostTensor::Of<float>(Shape{1}, {3}), DType::kI64),
            HostTensor::Of<int64_t>(Shape{1}, {3}));
}

}  // namespace
}  // namespace cgrun
