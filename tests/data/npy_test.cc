// Tests NPY data: every number type into every input, both orders of bytes and of axes, errors,
// memory.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "src/base/allocation_counter.h"
#include "src/data/field_values.h"
#include "tests/data/dataset_testing.h"

namespace cgrun {
namespace {

// Makes an .npy file of version 1 with this header and these elements.
std::string Npy(const std::string& descriptor, const std::string& shape, std::string_view elements,
                const std::string& fortran = "False") {
  std::string header =
      "{'descr': '" + descriptor + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  const std::string length = {static_cast<char>(header.size() & 0xFF),
                              static_cast<char>(header.size() >> 8)};
  return std::string("\x93NUMPY\1\0", 8) + length + header + std::string(elements);
}

template <class T>
std::string Bytes(const std::vector<T>& values, bool big = false) {
  std::string bytes;
  for (T value : values) {
    std::string element(reinterpret_cast<const char*>(&value), sizeof(T));
    if (big) std::reverse(element.begin(), element.end());
    bytes += element;
  }
  return bytes;
}

Opened OpenOne(std::string_view file, DType dtype, Shape shape, int64_t limit = kNoLimit) {
  return DatasetBuilder("npy")
      .File("x.npy", file)
      .Set("x", "x.npy")
      .Input("x", dtype, std::move(shape))
      .Limit(limit)
      .Open();
}

TEST(NpyDataTest, FilesFeedTheInputsOfTheirNames) {
  const Opened opened = DatasetBuilder("npy")
                            .File("a.npy", Npy("<f4", "(2, 2)", Bytes<float>({1, 2, 3, 4})))
                            .File("b.npy.gz", Gzip(Npy("<i8", "(2,)", Bytes<int64_t>({7, -8}))))
                            .Set("label", "b.npy.gz")
                            .Set("image", "a.npy")
                            .Input("image", DType::kF32, {2})
                            .Input("label", DType::kI32, {})
                            .Open();
  ASSERT_EQ(opened.errors, "");
  EXPECT_EQ(opened.dataset->size(), 2);
  EXPECT_EQ(opened.dataset->fields(),
            (std::vector<DataField>{{"image", DType::kF32, {2}}, {"label", DType::kI32, {}}}));
  EXPECT_EQ(ReadField<float>(*opened.dataset, 1, 0), (std::vector<float>{3, 4}));
  EXPECT_EQ(ReadField<int32_t>(*opened.dataset, 1, 1), (std::vector<int32_t>{-8}));
  EXPECT_EQ(opened.dataset->decoded_bytes(), 16 + 8);
  EXPECT_FALSE(RangeOf(*opened.dataset, 0).has_value());  // f32
  EXPECT_EQ(RangeOf(*opened.dataset, 1)->smallest.value, -8);
}

TEST(NpyDataTest, TellsTheRangeOfLongIntegers) {
  const Opened opened =
      OpenOne(Npy("<i8", "(3,)", Bytes<int64_t>({7, int64_t{1} << 40, 7})), DType::kI64, {});
  ASSERT_EQ(opened.errors, "");
  EXPECT_EQ(RangeOf(*opened.dataset, 0)->smallest.value, 7);
  EXPECT_EQ(RangeOf(*opened.dataset, 0)->largest.value, int64_t{1} << 40);
  EXPECT_EQ(RangeOf(*opened.dataset, 0)->largest.sample, 1);
}

TEST(NpyDataTest, TellsWhichSamplesAreNotFinite) {
  const auto found = [](const std::vector<float>& values) {
    const Opened opened = OpenOne(Npy("<f4", "(3, 2)", Bytes<float>(values)), DType::kF32, {2});
    EXPECT_EQ(opened.errors, "");
    return FindNotFinite(*opened.dataset, 0);
  };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(found({1, 2, 3, 4, 5, 6}));
  const auto infinite = found({1, 2, 3, -kInfinity, 5, 6});
  ASSERT_TRUE(infinite);
  EXPECT_EQ(infinite->samples, 1);
  EXPECT_EQ(infinite->sample, 1);
  EXPECT_EQ(infinite->element, 1);
  EXPECT_FALSE(infinite->nan);
  const auto nan = found({1, 2, NAN, NAN, kInfinity, 6});
  ASSERT_TRUE(nan);
  EXPECT_EQ(nan->samples, 2);
  EXPECT_EQ(nan->sample, 1);
  EXPECT_EQ(nan->element, 0);
  EXPECT_TRUE(nan->nan);
}

// The value, written as `From`, read as `To`; nothing where it is refused.
template <class To, class From>
std::optional<To> Through(const std::string& type, From value, DType dtype) {
  std::string read[2];  // little-endian, then big-endian
  for (bool big : {false, true}) {
    const std::string file = Npy((big ? ">" : "<") + type, "(1,)", Bytes<From>({value}, big));
    const Opened opened = OpenOne(file, dtype, {});
    if (opened.dataset) read[big] = ReadSample(*opened.dataset, 0)[0];
  }
  EXPECT_EQ(read[0], read[1]);
  To result = {};
  if (read[0].empty()) return std::nullopt;
  std::memcpy(&result, read[0].data(), sizeof(To));
  return result;
}

TEST(NpyDataTest, ValuesAreConvertedWhereNothingIsLost) {
  EXPECT_EQ(Through<int32_t>("i8", int64_t{1} << 30, DType::kI32), 1 << 30);
  EXPECT_EQ(Through<int32_t>("i8", int64_t{1} << 31, DType::kI32), std::nullopt);
  EXPECT_EQ(Through<int32_t>("u4", uint32_t{1} << 31, DType::kI32), std::nullopt);
  EXPECT_EQ(Through<int32_t>("i2", int16_t{-300}, DType::kI32), -300);
  EXPECT_EQ(Through<int32_t>("i1", int8_t{-3}, DType::kI32), -3);
  EXPECT_EQ(Through<int64_t>("u8", uint64_t{1} << 63, DType::kI64), std::nullopt);
  EXPECT_EQ(Through<uint8_t>("i4", 255, DType::kU8), 255);
  EXPECT_EQ(Through<uint8_t>("i4", 256, DType::kU8), std::nullopt);
  EXPECT_EQ(Through<uint8_t>("i4", -1, DType::kU8), std::nullopt);
  EXPECT_EQ(Through<int32_t>("f8", 3.0, DType::kI32), 3);
  EXPECT_EQ(Through<int32_t>("f8", 3.5, DType::kI32), std::nullopt);
  EXPECT_EQ(Through<int32_t>("f8", std::nan(""), DType::kI32), std::nullopt);
  EXPECT_EQ(Through<int64_t>("f8", 0x1.0p63, DType::kI64), std::nullopt);
  EXPECT_EQ(Through<float>("f8", 0.1, DType::kF32), 0.1f);  // rounded
  EXPECT_EQ(Through<float>("f8", 1e39, DType::kF32), std::nullopt);
  EXPECT_EQ(Through<float>("f8", HUGE_VAL, DType::kF32), HUGE_VALF);
  EXPECT_TRUE(std::isnan(*Through<float>("f8", std::nan(""), DType::kF32)));
  EXPECT_EQ(Through<float>("i4", 1 << 24, DType::kF32), 0x1.0p24f);
  EXPECT_EQ(Through<float>("i4", (1 << 24) + 1, DType::kF32), std::nullopt);
  EXPECT_EQ(Through<double>("f4", 0.1f, DType::kF64), double{0.1f});
  EXPECT_EQ(Through<float>("f2", uint16_t{0x3C01}, DType::kF32), 1.0f + 0x1.0p-10f);
  EXPECT_EQ(Through<float>("f2", uint16_t{0x8001}, DType::kF32), -0x1.0p-24f);
  EXPECT_EQ(Through<float>("f2", uint16_t{0xFC00}, DType::kF32), -HUGE_VALF);
  EXPECT_EQ(Through<float>("V2", uint16_t{0x3FC0}, DType::kF32), 1.5f);
  EXPECT_EQ(Through<uint16_t>("f2", uint16_t{0x3C01}, DType::kF16), 0x3C01);
  EXPECT_EQ(Through<uint16_t>("f4", 1.5f, DType::kBF16), 0x3FC0);
  EXPECT_EQ(Through<uint16_t>("i4", int32_t{256}, DType::kBF16), 0x4380);
  EXPECT_EQ(Through<uint16_t>("i4", int32_t{257}, DType::kBF16), std::nullopt);
  EXPECT_EQ(Through<uint8_t>("b1", uint8_t{1}, DType::kBool), 1);
  EXPECT_EQ(Through<uint8_t>("b1", uint8_t{2}, DType::kBool), std::nullopt);
}

TEST(NpyDataTest, HalvesAreRoundedToNearestTiesToEven) {
  const auto half = [](float value) { return Through<uint16_t>("f4", value, DType::kF16); };
  EXPECT_EQ(half(1.0f), 0x3C00);
  EXPECT_EQ(half(-0.0f), 0x8000);
  EXPECT_EQ(half(94.0f), 0x55E0);
  EXPECT_EQ(half(1.0f + 0x1p-11f), 0x3C00);      // a tie, down
  EXPECT_EQ(half(1.0f + 3 * 0x1p-11f), 0x3C02);  // a tie, up
  EXPECT_EQ(half(2.0f - 0x1p-20f), 0x4000);      // into the next exponent
  EXPECT_EQ(half(0x1p-14f), 0x0400);             // the smallest that is normal
  EXPECT_EQ(half(0x1p-14f - 0x1p-30f), 0x0400);  // rounded up to it
  EXPECT_EQ(half(0x1p-24f), 0x0001);             // the smallest of all
  EXPECT_EQ(half(0x1p-25f), 0x0000);             // a tie, down
  EXPECT_EQ(half(65519.0f), 0x7BFF);             // the largest
  EXPECT_EQ(half(65520.0f), std::nullopt);       // would be infinite
  EXPECT_EQ(half(-HUGE_VALF), 0xFC00);           // is
  EXPECT_EQ(half(std::nanf("")), 0x7E00);
  EXPECT_EQ(Through<uint16_t>("f8", 0.1, DType::kF16), 0x2E66);
  EXPECT_EQ(Through<uint16_t>("u2", uint16_t{2048}, DType::kF16), 0x6800);
  EXPECT_EQ(Through<uint16_t>("u2", uint16_t{2049}, DType::kF16), std::nullopt);
}

TEST(NpyDataTest, ColumnMajorArraysAreTurned) {
  // Element [i, j, k] is 100 i + 10 j + k.
  std::string rows, columns;
  for (int16_t i = 0; i < 3; ++i) {
    for (int16_t j = 0; j < 4; ++j) {
      for (int16_t k = 0; k < 5; ++k) rows += Bytes<int16_t>({int16_t(100 * i + 10 * j + k)}, true);
    }
  }
  for (int16_t k = 0; k < 5; ++k) {
    for (int16_t j = 0; j < 4; ++j) {
      for (int16_t i = 0; i < 3; ++i) {
        columns += Bytes<int16_t>({int16_t(100 * i + 10 * j + k)}, true);
      }
    }
  }
  const Opened c = OpenOne(Npy(">i2", "(3, 4, 5)", rows), DType::kF32, {4, 5});
  const Opened f = OpenOne(Npy(">i2", "(3, 4, 5)", columns, "True"), DType::kF32, {4, 5});
  ASSERT_EQ(c.errors + f.errors, "");
  for (int64_t sample = 0; sample < 3; ++sample) {
    const std::vector<float> values = ReadField<float>(*f.dataset, sample, 0);
    EXPECT_EQ(values, ReadField<float>(*c.dataset, sample, 0));
    EXPECT_EQ(values[5], static_cast<float>(100 * sample + 10));
  }
}

TEST(NpyDataTest, ErrorsNameTheFileAndTheElement) {
  const auto error = [](std::string_view file, DType dtype = DType::kF32) {
    return OpenOne(file, dtype, {2}).errors;
  };
  EXPECT_EQ(error(Npy("<i4", "(3, 2)", Bytes<int32_t>({1, 2, 3, 4, 5, 300})), DType::kU8),
            "error: 'DIR/x.npy': element [2, 1] is 300, which no uint8 can hold\n"
            "help: the input's number type is uint8, the file's '<i4'\n");
  EXPECT_EQ(error(Npy("<i4", "(3, 2)", Bytes<int32_t>({1, 300, 3, 4, 5, 6}), "True"), DType::kU8),
            "error: 'DIR/x.npy': element [1, 0] is 300, which no uint8 can hold\n"
            "help: the input's number type is uint8, the file's '<i4'\n");
  EXPECT_EQ(error(Npy("<f8", "(1, 2)", Bytes<double>({1, 9.4e301}))),
            "error: 'DIR/x.npy': element [0, 1] is 9.4e+301, which no f32 can hold\n"
            "help: the input's number type is f32, the file's '<f8'\n");
  EXPECT_EQ(
      error(Npy("<U5", "(1,)", "12345678901234567890")),
      "error: 'DIR/x.npy': elements of type '<U5' are texts\n"
      "help: of labels, `names, y = numpy.unique(y, return_inverse=True)` makes integers from "
      "0, in the order of `names`; save y.astype('int32')\n");
  EXPECT_EQ(error(Npy("<c8", "(1,)", "12345678")),
            "error: 'DIR/x.npy': elements of type '<c8' are not supported\n"
            "help: known: floats (f8, f4, f2, V2 for bf16), integers (i1 to i8, u1 to u8), b1; "
            "`array.astype('float32')` converts\n");
  EXPECT_EQ(error(Npy("<f4", "()", "1234")),
            "error: 'DIR/x.npy' is a single number, without an axis of samples\n");
  EXPECT_EQ(error(Npy("<f4", "(0, 2)", "")),
            "error: 'DIR/x.npy' holds no samples ([0, 2] elements of '<f4')\n"
            "help: there must be one at least: look at what was saved to this file\n");
  EXPECT_EQ(error(""),
            "error: 'DIR/x.npy' is empty\nhelp: `numpy.save(FILE, ARRAY)` writes an array to it\n");
  EXPECT_EQ(error(Npy("<f4", "(2, 2)", "12345678")),
            "error: 'DIR/x.npy' declares [2, 2] elements of '<f4', 16 bytes, but has 8 after its "
            "header\n");
  EXPECT_EQ(error(Npy("<f4", "(1, 1)", "12345678")),
            "error: 'DIR/x.npy' declares [1, 1] elements of '<f4', 4 bytes, but has 8 after its "
            "header\n");
  EXPECT_EQ(error(Gzip(Npy("<f4", "(1, 1)", "12345678"))),
            "error: 'DIR/x.npy' goes on after 132 bytes, where it should end\n");
  EXPECT_EQ(error("PK\3\4 an .npz"),
            "error: 'DIR/x.npy' is not an .npy file: it does not begin with \\x93NUMPY\n"
            "help: an .npz file holds several arrays: `numpy.save(FILE, numpy.load(NPZ)[NAME])` "
            "makes a file of one\n");
}

TEST(NpyDataTest, EveryInputHasAFileAndAllHaveAsManySamples) {
  DatasetBuilder builder("npy");
  builder.File("x.npy", Npy("<f4", "(2, 1)", "12345678")).Set("x", "x.npy");
  builder.Input("x", DType::kF32, {1}).Input("y", DType::kF32, {1});
  EXPECT_EQ(builder.Open().errors,
            "error: input 'y' has no file\n"
            "help: data of format 'npy' have a file for each input: `y: FILE.npy`\n");
  builder.File("y.npy", Npy("<f4", "(3, 1)", "123456789012")).Set("y", "y.npy");
  EXPECT_EQ(builder.Open().errors,
            "error: 'DIR/y.npy' holds 3 samples, but 'DIR/x.npy' holds 2 samples\n");
  EXPECT_EQ(builder.Set("lable", "y.npy").Open().errors,
            "error: unknown option 'lable' for data of format 'npy'\nhelp: known: x, y\n");
}

TEST(NpyDataTest, BombsAreRefusedBeforeMemoryIsTaken) {
  EXPECT_EQ(OpenOne(Npy("<f8", "(9223372036854775807, 9)", "1"), DType::kF32, {9}).errors,
            "error: 'DIR/x.npy' declares [9223372036854775807, 9] elements of '<f8', more than a "
            "file can hold\n");
  EXPECT_EQ(OpenOne(Npy("<f8", "(1000000, 1000)", "1"), DType::kF32, {1000}).errors,
            "error: 'DIR/x.npy' declares [1000000, 1000] elements of '<f8', 8000000000 bytes, but "
            "has 1 after its header\n");
  const std::string bomb = Gzip(Npy("|u1", "(50000000,)", std::string(50000000, '\0')));
  EXPECT_LT(bomb.size(), 60000u);
  const int64_t before = CurrentHeapUse().heap_bytes;
  EXPECT_EQ(OpenOne(bomb, DType::kF32, {}, 1000000).errors,
            "error: 'DIR/x.npy': [50000000] elements of f32 take 190.7 MiB, more than the 1000000 "
            "bytes that are left\nhelp: raise the memory limit, or use fewer samples\n");
  EXPECT_LT(CurrentHeapUse().heap_bytes - before, 1000000);
  const std::string eight = Npy("|u1", "(8,)", "12345678");
  EXPECT_EQ(OpenOne(eight, DType::kF32, {}, 32).errors, "");
  EXPECT_NE(OpenOne(eight, DType::kF32, {}, 31).errors, "");
}

}  // namespace
}  // namespace cgrun
