// The elements of tensors: each type in each field that may hold it, and everything that does not
// fit.
#include "src/onnx/tensor_bytes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "src/onnx/read.h"
#include "tests/io/test_files.h"
#include "tests/onnx/wire_builder.h"

namespace cgrun::onnx {
namespace {

constexpr DataType kLast = DataType::kInt2;

std::string Element(std::string_view tensor) {
  const Tensor read = ReadMessage<Tensor>(AsSpan(tensor), "t.pb");
  return TextOf(Bytes(read, "t.pb").bytes());
}

std::string Error(std::string_view tensor) {
  return ErrorOf([&] { Element(tensor); });
}

std::string Head(DataType type, std::initializer_list<int64_t> dims = {2}) {
  return TensorHead("w", type, dims);
}

// Varints of signed numbers.
std::string Packed(const std::vector<int64_t>& values) {
  std::string bytes;
  for (const int64_t value : values) bytes += Varint(static_cast<uint64_t>(value));
  return bytes;
}

template <class T>
std::string Pair(T a, T b) {
  return Fixed(a) + Fixed(b);
}

TEST(TensorBytesTest, RawDataIsAViewOfAnyType) {
  for (auto type = DataType::kFloat; type <= kLast;
       type = static_cast<DataType>(static_cast<int>(type) + 1)) {
    if (type == DataType::kString) continue;
    const size_t bytes = (3 * static_cast<size_t>(BitsOf(type)) + 7) / 8;
    const std::string raw(bytes, '\1');
    EXPECT_EQ(Element(Head(type, {3, 1}) + Bytes(9, raw)), raw) << NameOf(type);
    EXPECT_NE(Error(Head(type, {3, 1}) + Bytes(9, raw + "x")), "no error") << NameOf(type);
    EXPECT_NE(Error(Head(type, {3, 1}) + Bytes(9, raw.substr(1))), "no error") << NameOf(type);
    EXPECT_EQ(Element(Head(type, {0, 7}) + Bytes(9, "")), "") << NameOf(type);
    EXPECT_EQ(Element(Head(type, {0, 7})), "") << NameOf(type);
  }
  const std::string tensor = Head(DataType::kFloat) + Bytes(9, std::string(8, 'r'));
  const Tensor read = ReadMessage<Tensor>(AsSpan(tensor), "t.pb");
  EXPECT_FALSE(Bytes(read, "t.pb").decoded());
  EXPECT_EQ(Bytes(read, "t.pb").bytes().data(), read.raw_data->data());
}

TEST(TensorBytesTest, FloatsAreViewsIfTheyArePacked) {
  const std::string packed = Head(DataType::kFloat) + Bytes(4, Pair(1.5f, -2.0f));
  EXPECT_EQ(Element(packed), Pair(1.5f, -2.0f));
  EXPECT_FALSE(Bytes(ReadMessage<Tensor>(AsSpan(packed), "t.pb"), "t.pb").decoded());
  EXPECT_EQ(Element(Head(DataType::kFloat) + Float(4, 1.5f) + Bytes(4, Fixed(-2.0f))),
            Pair(1.5f, -2.0f));
  EXPECT_EQ(Element(Head(DataType::kFloat) + Bytes(4, Fixed(1.5f)) + Float(4, -2.0f)),
            Pair(1.5f, -2.0f));
  EXPECT_EQ(Element(Head(DataType::kComplex64, {1}) + Bytes(4, Pair(1.5f, -2.0f))),
            Pair(1.5f, -2.0f));
  EXPECT_EQ(Element(Head(DataType::kDouble) + Bytes(10, Pair(1.5, -2.0))), Pair(1.5, -2.0));
  EXPECT_EQ(Element(Head(DataType::kComplex128, {}) + Bytes(10, Pair(1.5, -2.0))), Pair(1.5, -2.0));
  EXPECT_NE(Error(Head(DataType::kFloat) + Bytes(4, "1234567")), "no error");
}

TEST(TensorBytesTest, IntegersAreDecoded) {
  const auto of_int32 = [](DataType type, const std::vector<int64_t>& values) {
    return Element(Head(type) + Bytes(5, Packed(values)));
  };
  EXPECT_EQ(of_int32(DataType::kInt32, {-1, 7}), Pair<int32_t>(-1, 7));
  EXPECT_EQ(of_int32(DataType::kInt16, {-32768, 7}), Pair<int16_t>(-32768, 7));
  EXPECT_EQ(of_int32(DataType::kUint16, {65535, 7}), Pair<uint16_t>(65535, 7));
  EXPECT_EQ(of_int32(DataType::kFloat16, {0xBC00, 7}), Pair<uint16_t>(0xBC00, 7));
  EXPECT_EQ(of_int32(DataType::kBfloat16, {0xBF80, 7}), Pair<uint16_t>(0xBF80, 7));
  EXPECT_EQ(of_int32(DataType::kInt8, {-1, 255}), "\xFF\xFF");
  EXPECT_EQ(of_int32(DataType::kUint8, {200, 7}), "\xC8\x07");
  EXPECT_EQ(of_int32(DataType::kFloat8E5M2, {200, 7}), "\xC8\x07");
  EXPECT_EQ(of_int32(DataType::kBool, {1, 0}), std::string("\1\0", 2));
  EXPECT_EQ(Element(Head(DataType::kInt4, {3}) + Bytes(5, Packed({0x21, 0x03}))), "\x21\x03");
  EXPECT_EQ(Element(Head(DataType::kUint2, {5}) + Bytes(5, Packed({0xE4, 0x01}))), "\xE4\x01");
  EXPECT_EQ(Element(Head(DataType::kInt64) + Bytes(7, Packed({-1, 300}))), Pair<int64_t>(-1, 300));
  EXPECT_EQ(Element(Head(DataType::kInt64) + Number(7, 5) + Bytes(7, Packed({300}))),
            Pair<int64_t>(5, 300));
  EXPECT_EQ(Element(Head(DataType::kUint64) + Bytes(11, Packed({-1, 300}))),
            Pair<uint64_t>(std::numeric_limits<uint64_t>::max(), 300));
  EXPECT_EQ(Element(Head(DataType::kUint32) + Bytes(11, Packed({0xFFFFFFFF, 300}))),
            Pair<uint32_t>(0xFFFFFFFF, 300));
}

TEST(TensorBytesTest, NumbersThatTheTypeDoesNotHaveAreRefused) {
  EXPECT_EQ(Error(Head(DataType::kInt8) + Bytes(5, Packed({1, 256}))),
            "'t.pb': tensor 'w' has the number 256 in element 1, which int8 does not have");
  EXPECT_NE(Error(Head(DataType::kUint8) + Bytes(5, Packed({-129, 0}))), "no error");
  EXPECT_NE(Error(Head(DataType::kFloat16) + Bytes(5, Packed({65536, 0}))), "no error");
  EXPECT_NE(Error(Head(DataType::kUint32) + Bytes(11, Packed({1ll << 32, 0}))), "no error");
  EXPECT_EQ(Error(Head(DataType::kBool) + Bytes(5, Packed({1, 2}))),
            "'t.pb': tensor 'w' has the number 2 in element 1, which bool does not have");
  EXPECT_EQ(Error(Head(DataType::kBool) + Bytes(9, "\1\2")),
            "'t.pb': tensor 'w' has a bool that is neither 0 nor 1");
}

TEST(TensorBytesTest, ElementsLieInOneRightField) {
  EXPECT_EQ(Error(Head(DataType::kFloat) + Bytes(7, Packed({1, 2}))),
            "'t.pb': tensor 'w' has values in int64_data, where float ones lie in float_data");
  EXPECT_EQ(Error(Head(DataType::kFloat) + Bytes(4, Pair(1.f, 2.f)) + Bytes(9, Pair(1.f, 2.f))),
            "'t.pb': tensor 'w' has values in float_data, where float ones lie in raw_data");
  EXPECT_EQ(Error(Head(DataType::kFloat) + Bytes(3, "") + Bytes(9, Pair(1.f, 2.f))),
            "'t.pb': tensor 'w' is a segment of a tensor, which is not supported");
  EXPECT_EQ(Error(Head(DataType::kString) + Bytes(6, "a") + Bytes(6, "b")),
            "'t.pb': tensor 'w' has strings, which are not numbers");
  EXPECT_EQ(Error(Head(static_cast<DataType>(99))),
            "'t.pb': tensor 'w' is of type 99, which is unknown");
  EXPECT_EQ(Error(Head(DataType::kFloat) + Number(14, 1)),
            "'t.pb': tensor 'w' has external data, which only a model may have");
}

TEST(TensorBytesTest, HugeSizesAreRefusedWithoutMemory) {
  constexpr int64_t kHuge = int64_t{1} << 59;
  EXPECT_EQ(Error(Head(DataType::kInt8, {kHuge}) + Bytes(5, Packed({1}))),
            "'t.pb': tensor 'w' has 1 byte, but its [576460752303423488] elements of int8 take "
            "576460752303423488");
  EXPECT_EQ(Error(Head(DataType::kFloat, {kHuge})),
            "'t.pb': tensor 'w' has a size that is negative or too large: [576460752303423488]");
  EXPECT_NE(Error(Head(DataType::kFloat, {kHuge, 16, 0})), "no error");
  EXPECT_NE(Error(Head(DataType::kFloat, {-1, -1}) + Float(4, 1)), "no error");
  EXPECT_EQ(
      Error(Head(DataType::kInt64, {1 << 30}) + Bytes(7, Packed({1}))),
      "'t.pb': tensor 'w' has 8 bytes, but its [1073741824] elements of int64 take 8589934592");
  std::string dims;
  for (int i = 0; i < 100'000; ++i) dims += Number(1, 1);
  EXPECT_LT(Error(dims + Number(2, 1)).size(), 200u);
}

TEST(TensorBytesTest, DamagedNumbersAreRefusedWhenTheyAreDecoded) {
  EXPECT_EQ(Error(Head(DataType::kInt64) + Bytes(7, "\x01\x80")),
            "'t.pb': tensor 'w' has 8 bytes, but its [2] elements of int64 take 16");
  const std::string long_one(11, '\x80');
  EXPECT_EQ(Error(Head(DataType::kInt64) + Bytes(7, long_one + std::string("\0\0", 2))),
            "'t.pb': tensor 'w' is damaged: a number has more than the ten bytes of 64 bits\n"
            "help: the file is damaged or cut off: fetch or copy it again");
}

}  // namespace
}  // namespace cgrun::onnx
