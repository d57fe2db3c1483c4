// Cases of cast, normalize, resize. Known results: by hand and, for bilinear, PyTorch.
#include <limits>

#include "src/ops/cast.h"
#include "src/ops/normalize.h"
#include "src/ops/resize.h"
#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Attributes To(DType dtype) { return Attributes::Of(CastAttributes{dtype}); }

Attributes Scaled(double scale, RealList mean, RealList std, DType dtype = DType::kF64) {
  return Attributes::Of(NormalizeAttributes{scale, std::move(mean), std::move(std), dtype});
}

Attributes Size(IntList size, std::string mode = "bilinear") {
  return Attributes::Of(ResizeAttributes{std::move(size), std::move(mode)});
}

Attributes Scale(IntList scale, std::string mode = "bilinear") {
  return Attributes::Of(ResizeAttributes{{}, std::move(mode), std::move(scale)});
}

OpCase Refused(std::string name, Attributes attributes, CaseInput input, std::string error) {
  return {std::move(name), std::move(attributes), {std::move(input)}, {}, {}, true,
          std::move(error)};
}

}  // namespace

std::vector<OpCase> cast() {
  return {
      {"same type", To(DType::kF64), {Uniform({2, 3})}},
      {"f64 to f32", To(DType::kF32), {Given({2}, {0.1, -2})}, {{0.1f, -2}}, {}, false},
      // 1 + 2⁻⁸ is a tie: it goes to the even 1; 1 + 3·2⁻⁸ to 1 + 2⁻⁶.
      {"to bf16",
       To(DType::kBF16),
       {Given({3}, {1.00390625, 1.01171875, kInfinity}, DType::kF32)},
       {{1, 1.015625, kInfinity}},
       {},
       false},
      {"bytes to f64", To(DType::kF64), {Given({3}, {0, 1, 255}, DType::kU8)}, {{0, 1, 255}}},
      {"to bytes",
       To(DType::kU8),
       {Given({6}, {1.9, -0.9, -1, 256, 255.5, kNaN})},
       {{1, 0, 0, 255, 255, 0}},
       {},
       false},
      {"to int32",
       To(DType::kI32),
       {Given({5}, {-1.9, 1e10, -1e10, kInfinity, -kInfinity})},
       {{-1, 2147483647, -2147483648.0, 2147483647, -2147483648.0}},
       {},
       false},
      {"to int64",
       To(DType::kI64),
       {Given({4}, {-2.5, 9007199254740992.0, 1e300, -1e300})},
       {{-2, 9007199254740992.0, 9223372036854775808.0, -9223372036854775808.0}},
       {},
       false},
      {"int32 to bytes wraps",
       To(DType::kU8),
       {Given({3}, {256, -1, 77}, DType::kI32)},
       {{0, 255, 77}},
       {},
       false},
      {"int8 wraps",
       To(DType::kI8),
       {Given({4}, {128, -129, 255, 7}, DType::kI32)},
       {{-128, 127, -1, 7}},
       {},
       false},
      {"to int8 saturates",
       To(DType::kI8),
       {Given({5}, {127.9, 128, -128.9, -200, kNaN})},
       {{127, 127, -128, -128, 0}},
       {},
       false},
      {"to int16",
       To(DType::kI16),
       {Given({3}, {32768, -32769, 65535}, DType::kI32)},
       {{-32768, 32767, -1}},
       {},
       false},
      {"to uint16 saturates",
       To(DType::kU16),
       {Given({4}, {65535.5, 1e9, -0.5, kInfinity})},
       {{65535, 65535, 0, 65535}},
       {},
       false},
      {"to uint32 wraps",
       To(DType::kU32),
       {Given({2}, {-1, 4294967296.0 + 5}, DType::kI64)},
       {{4294967295.0, 5}},
       {},
       false},
      {"to uint64",
       To(DType::kU64),
       {Given({3}, {1e30, -1, 4096.5})},
       {{18446744073709551615.0, 0, 4096}},
       {},
       false},
      {"from uint64",
       To(DType::kF64),
       {Given({2}, {9223372036854775808.0, 3}, DType::kU64)},
       {{9223372036854775808.0, 3}}},
      {"from int8", To(DType::kF64), {Given({3}, {-128, 127, -1}, DType::kI8)}, {{-128, 127, -1}}},
      {"from uint32",
       To(DType::kF64),
       {Given({2}, {4294967295.0, 7}, DType::kU32)},
       {{4294967295.0, 7}}},
      // 1 + 2⁻¹¹ is a tie, as is 1 + 3·2⁻¹¹. 65,520 is the least number that becomes infinite.
      // 2⁻²⁵ is half of the least number, and goes to 0.
      {"to f16",
       To(DType::kF16),
       {Given({7}, {1.00048828125, 1.00146484375, 65520, 0x1p-25, 0x1.8p-25, -kInfinity, kNaN},
              DType::kF32)},
       {{1, 1.001953125, kInfinity, 0, 0x1p-24, -kInfinity, kNaN}},
       {},
       false},
      {"from f16",
       To(DType::kF64),
       {Given({4}, {0x1p-24, 65504, -0.5, kInfinity}, DType::kF16)},
       {{0x1p-24, 65504, -0.5, kInfinity}},
       {},
       false},
      {"f16 to int8",
       To(DType::kI8),
       {Given({3}, {-1.5, 300, 7}, DType::kF16)},
       {{-1, 127, 7}},
       {},
       false},
      {"many f16", To(DType::kF32), {Integers({3, 700}, DType::kF16, -2000, 2000)}, {}, {}, false},
      {"to bool", To(DType::kBool), {Given({4}, {0, -0.0, 0.5, kNaN})}, {{0, 0, 1, 1}}, {}, false},
      {"from bool", To(DType::kF64), {Given({2}, {0, 1}, DType::kBool)}, {{0, 1}}, {}, false},
      {"f32 and int32 have the same bytes",
       To(DType::kI32),
       {Given({20}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19})},
       {},
       {},
       false},
      {"two inputs", To(DType::kF32), {Uniform({2}), Uniform({2})}, {}, {}, true, "takes 1 input"},
  };
}

std::vector<OpCase> normalize() {
  const CaseInput bytes = Given({1, 2, 2}, {0, 255, 51, 102}, DType::kU8);
  return {
      {"bytes", Scaled(1.0 / 255, {0.5}, {0.25}), {bytes}, {{-2, 2, -1.2, -0.4}}},
      {"a channel each",
       Scaled(1, {0, 50}, {1, 2}),
       {Given({1, 2, 2}, {1, 2, 60, 70})},
       {{1, 2, 5, 10}}},
      {"one mean, a deviation each",
       Scaled(1, {10}, {1, 2}),
       {Given({2, 2}, {10, 20, 30, 40})},
       {{0, 5, 20, 15}}},
      {"int64 to f32",
       Scaled(0.5, {1}, {2}, DType::kF32),
       {Given({3}, {2, -4, 8}, DType::kI64)},
       {{0, -1.5, 1.5}}},
      // Deviations that are powers of two: a product with their inverse is the quotient, bit by
      // bit.
      {"bytes to f32, a channel each",
       Scaled(1.0 / 255, {0.5, 0.25, 0.1}, {0.25, 0.5, 0.125}, DType::kF32),
       {Integers({2, 3, 5, 5}, DType::kU8, 0, 255)}},
      {"to f32",
       Scaled(3, {0.5}, {0.25}, DType::kF32),
       {Uniform({2, 3, 7})},
       {},
       {},
       /*check_gradient=*/false},
      {"to bf16", Scaled(1, {0}, {3}, DType::kBF16), {Given({1}, {1})}, {{0.333984375}}, {}, false},
      {"defaults", Scaled(1, {0}, {1}), {Uniform({3, 2})}},
      {"images", Scaled(2, {0.1, 0.2, 0.3}, {0.5, 1, 2}), {Uniform({2, 3, 2, 2})}},
      {"scalar", Scaled(3, {1}, {2}), {Uniform({})}},
      Refused("channels differ", Scaled(1, {1, 2}, {1}), Uniform({2, 3}), "`mean` has 2 numbers"),
      Refused("no channels", Scaled(1, {0}, {1, 2}), Uniform({2}), "`std` has 2 numbers"),
      Refused("no mean", Scaled(1, {}, {1}), Uniform({2, 3}), "`mean` has 0 numbers"),
      Refused("std 0", Scaled(1, {0}, {0}), Uniform({2, 3}), "`std` must not be 0"),
      Refused("mean is no number", Scaled(1, {kNaN}, {1}), Uniform({2}), "`mean` must be a number"),
      Refused("to integers", Scaled(1, {0}, {1}, DType::kI32), Uniform({2}), "`dtype` must be"),
  };
}

std::vector<OpCase> resize() {
  const CaseInput x = Given({1, 1, 2, 3}, {1, 2, 3, 4, 5, 6});
  const CaseInput squares =
      Given({1, 1, 4, 4}, {0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225});
  return {
      {"bilinear, larger", Size({4, 5}), {x}, {{1,    1.4,  2,    2.6,  3,    1.75, 2.15,
                                                2.75, 3.35, 3.75, 3.25, 3.65, 4.25, 4.85,
                                                5.25, 4,    4.4,  5,    5.6,  6}}},
      {"bilinear, smaller",
       Size({3, 2}),
       {squares},
       {{3.83333333333, 12.5, 46.5, 76.5, 142.5, 193.833333333}}},
      {"nearest, larger", Size({4, 5}, "nearest"), {x}, {{1, 1, 2, 3, 3, 1, 1, 2, 3, 3,
                                                          4, 4, 5, 6, 6, 4, 4, 5, 6, 6}}},
      // Centre 1 lies half-way between pixels 1 and 2: the first wins.
      {"nearest, smaller",
       Size({3, 3}, "nearest"),
       {squares},
       {{0, 1, 9, 16, 25, 49, 144, 169, 225}}},
      {"same size", Size({2, 3}), {x}, {{1, 2, 3, 4, 5, 6}}},
      {"from one pixel", Size({2, 2}), {Given({1, 1, 1, 1}, {0.1})}, {{0.1, 0.1, 0.1, 0.1}}},
      {"to one pixel", Size({1, 1}), {Given({1, 1, 2, 2}, {1, 2, 3, 6})}, {{3}}},
      {"bytes round",
       Size({1, 4}),
       {Given({1, 1, 1, 2}, {0, 255}, DType::kU8)},
       {{0, 64, 191, 255}},
       {},
       false},
      {"bytes, halves go up",
       Size({1, 1}),
       {Given({1, 1, 1, 2}, {0, 1}, DType::kU8)},
       {{1}},
       {},
       false},
      {"infinity stays in its place",
       Size({1, 2}, "nearest"),
       {Given({1, 1, 1, 2}, {kInfinity, 1})},
       {{kInfinity, 1}},
       {},
       false},
      {"twice as large, nearest",
       Scale({2, 2}, "nearest"),
       {x},
       {{1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 4, 4, 5, 5, 6, 6}}},
      {"three times as wide", Scale({1, 3}), {Uniform({2, 3, 4, 4})}},
      {"images", Size({5, 3}), {Uniform({2, 3, 4, 4})}},
      {"images, nearest", Size({5, 3}, "nearest"), {Uniform({2, 3, 4, 4})}},
      Refused("three axes", Size({2, 2}), Uniform({2, 3, 4}), "[N, C, H, W]"),
      Refused("size 0", Size({0, 2}), Uniform({1, 1, 2, 2}), "`size` must be at least 1"),
      Refused("one size", Size({2}), Uniform({1, 1, 2, 2}), "[height, width]"),
      Refused("no size", Size({}), Uniform({1, 1, 2, 2}), "needs `size` or `scale`"),
      Refused("size and scale", Attributes::Of(ResizeAttributes{{2, 2}, "nearest", {2, 2}}),
              Uniform({1, 1, 2, 2}), "and not both"),
      Refused("scale 0", Scale({0, 2}), Uniform({1, 1, 2, 2}), "`scale` must be at least 1"),
      Refused("three scales", Scale({2, 2, 2}), Uniform({1, 1, 2, 2}), "[vertical, horizontal]"),
      Refused("too large", Scale({1 << 14, 1 << 14}), Uniform({1 << 10, 1 << 12, 1, 1}),
              "is too large"),
      Refused("unknown mode", Size({2, 2}, "cubic"), Uniform({1, 1, 2, 2}), "one of nearest"),
      Refused("integers", Size({2, 2}), Integers({1, 1, 2, 2}, DType::kI32, 0, 9), "uint8"),
  };
}

std::vector<OpCase> resize_grad() {
  std::vector<double> dy;
  for (int i = 1; i <= 20; ++i) dy.push_back(i);
  return {
      {"bilinear",
       Size({2, 3}),
       {Given({1, 1, 4, 5}, dy)},
       {{14.4, 22.05, 24.8, 42.4, 53.55, 52.8}}},
      // Columns 0 and 1 read pixel 0, column 2 reads 1, columns 3 and 4 read 2.
      {"nearest",
       Size({2, 3}, "nearest"),
       {Given({1, 1, 4, 5}, dy)},
       {{1 + 2 + 6 + 7, 3 + 8, 4 + 5 + 9 + 10, 11 + 12 + 16 + 17, 13 + 18, 14 + 15 + 19 + 20}}},
      {"planes", Size({4, 4}), {Uniform({2, 3, 5, 3})}},
      Refused("bytes", Size({2, 2}), Integers({1, 1, 2, 2}, DType::kU8, 0, 9), "floating-point"),
  };
}

}  // namespace cgrun::op_cases
