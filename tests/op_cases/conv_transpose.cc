// Cases of conv_transpose: strides, padding of every kind, rows that no input reaches, groups.
// Known results: PyTorch's conv_transpose2d on the patterns below; where padding is uneven, of its
// result without padding, cut.
#include "src/ops/conv_transpose.h"

#include <limits>

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

ConvTransposeAttributes Up(int64_t filters, IntList kernel, IntList stride = {1, 1}) {
  ConvTransposeAttributes up;
  up.filters = filters;
  up.kernel = std::move(kernel);
  up.stride = std::move(stride);
  up.bias = false;
  return up;
}

ConvTransposeAttributes WithBias(ConvTransposeAttributes up) {
  up.bias = true;
  return up;
}

Shape Weight(const ConvTransposeAttributes& up, const Shape& x) {
  return {x[1], up.filters / up.groups, up.kernel[0], up.kernel[1]};
}

OpCase Known(std::string name, const ConvTransposeAttributes& up, const Shape& x,
             std::vector<double> y) {
  std::vector<CaseInput> inputs = {Pattern(x, 7, 11), Pattern(Weight(up, x), 5, 7)};
  if (up.bias) inputs.push_back(Pattern({up.filters}, 3, 5));
  return {std::move(name), Attributes::Of(up), std::move(inputs), {std::move(y)}};
}

OpCase Random(std::string name, const ConvTransposeAttributes& up, const Shape& x) {
  std::vector<CaseInput> inputs = {Uniform(x), Uniform(Weight(up, x))};
  if (up.bias) inputs.push_back(Uniform({up.filters}));
  return {std::move(name), Attributes::Of(up), std::move(inputs)};
}

OpCase Refused(std::string name, const ConvTransposeAttributes& up, std::vector<CaseInput> inputs,
               std::string error) {
  return {.name = std::move(name),
          .attributes = Attributes::Of(up),
          .inputs = std::move(inputs),
          .error = std::move(error)};
}

ConvTransposeAttributes Strided() {
  ConvTransposeAttributes up = Up(1, {3, 2}, {2, 3});
  up.padding = {1, 0, 1, 0};
  up.output_padding = {1, 2};
  return up;
}

ConvTransposeAttributes Uneven() {
  ConvTransposeAttributes up = WithBias(Up(2, {3, 2}, {2, 1}));
  up.padding = {1, 0, 2, 1};
  up.dilation = {1, 2};
  return up;
}

ConvTransposeAttributes Groups() {
  ConvTransposeAttributes up = Up(2, {2, 2}, {2, 2});
  up.groups = 2;
  return up;
}

// A channel makes two of its own.
ConvTransposeAttributes Depthwise() {
  ConvTransposeAttributes up = WithBias(Up(4, {3, 3}, {2, 2}));
  up.groups = 2;
  up.padding = {1, 1, 1, 1};
  up.output_padding = {1, 1};
  return up;
}

// The convolution back finds more windows than x has elements.
ConvTransposeAttributes Beyond() {
  ConvTransposeAttributes up = Up(1, {2, 2}, {1, 2});
  up.output_padding = {1, 2};
  up.dilation = {2, 3};
  return up;
}

ConvTransposeAttributes Sparse() {
  ConvTransposeAttributes up = Up(3, {1, 1}, {2, 2});
  up.output_padding = {1, 0};
  return up;
}

std::vector<OpCase> KnownCases() {
  return {
      Known("plain", WithBias(Up(2, {2, 2})), {2, 2, 2, 2},
            {15, -24, 2, 10, -2, -5,  -10, 14, -12, -13, -2, 6, 1, 34, -6,  -9,  10, -14,
             14, -23, 4, 7,  31, -24, -12, 13, 11,  -9,  2,  6, 1, 0,  -18, -13, 16, 18}),
      Known("stride, padding, output padding", Strided(), {1, 2, 2, 3},
            {8, 10,  0, 0,  -4, 0, -8,  4, 0, 0, -41, 8,  0, 4, 7,  0, 16, -5,  0, 0,
             6, -10, 0, -2, -2, 0, -10, 6, 0, 0, 9,   14, 0, 5, -2, 0, 1,  -18, 0, 0}),
      Known("uneven padding, stride, dilation", Uneven(), {1, 2, 3, 2},
            {-14, -2, 16,  -15, -8, -15, 10, -11, -6, -12, 17,  7,
             -13, 5,  -11, 9,   1,  -12, 1,  8,   13, -7,  -15, -9}),
      Known("groups", Groups(), {1, 4, 2, 2},
            {18, -9, -15, 1, -1, 7,  3, 5, 18, 0,  -15, 10, -4,  -8, 0, -10,
             -6, -2, 4,   2, 2,  -8, 0, 5, 3,  -5, -9,  -1, -13, 7,  7, -13}),
      Known("depthwise with a multiplier", Depthwise(), {1, 2, 2, 2},
            {-17, -11, 4,  0,  9,   -29, 2,   2,  -8, -14, 13, 3,   4,  -11, -17, 8,
             6,   18,  -1, -5, 5,   9,   -9,  12, 3,  12,  -4, -14, 1,  15,  1,   -9,
             1,   8,   -7, -1, 6,   2,   -10, -4, 7,  -1,  -1, -1,  11, 3,   -1,  -1,
             0,   5,   8,  -7, -11, 4,   5,   11, -6, 14,  2,  2,   -2, -10, 2,   2}),
      Known("output padding beyond the stride", Beyond(), {1, 1, 2, 2},
            {15, 0,  -6, -10, 0, 4, 0, 0, 6, 0,   -15, -4, 0, 10, 0, 0, 0, 0, 0, 10,
             0,  -4, 0,  0,   0, 0, 0, 4, 0, -10, 0,   0,  0, 0,  0, 0, 0, 0, 0, 0}),
      Known("a kernel of one", Sparse(), {1, 2, 2, 2},
            {13, 0, 0,  0, 0, 0, -2, 0, -15, 0, 0, 0, -7, 0, -5, 0, 0, 0,
             8,  0, 10, 0, 0, 0, 1,  0, -3,  0, 0, 0, 4,  0, 0,  0, 0, 0}),
  };
}

std::vector<OpCase> RefusedCases() {
  const CaseInput x = Uniform({2, 4, 5, 6}), weight = Uniform({4, 6, 3, 3});
  const ConvTransposeAttributes up = Up(6, {3, 3}, {2, 2});
  ConvTransposeAttributes grouped = up, padded = up, cut = up, negative = up, same = up;
  grouped.groups = 4;
  padded.output_padding = {1, 2};
  cut.padding = {6, 0, 5, 0};
  negative.padding = {-1, 0, 0, 0};
  same.padding = {-1, -1, -1, -1};
  const int64_t many = 1 << 24;
  const ConvTransposeAttributes huge = Up(many, {1, 1}, {many, many});
  return {
      Refused("not images", up, {Uniform({2, 4, 5}), weight}, "[N, channels, height, width]"),
      Refused("integers", up, {Integers({2, 4, 5, 6}, DType::kU8, 0, 9), weight}, "floating-point"),
      Refused("groups that do not divide", grouped, {x, weight},
              "groups=4 does not divide both the channels of [2, 4, 5, 6] and filters=6"),
      Refused("output padding", padded, {x, weight},
              "`output_padding` 2 must be less than the stride or the dilation, 2"),
      Refused("nothing left", cut, {x, weight},
              "`padding` [6, 0, 5, 0] leaves nothing of the output of [2, 4, 5, 6]"),
      Refused("negative padding", negative, {x, weight}, "`padding` must be at least 0"),
      Refused("same", same, {x, weight}, "`padding` must be at least 0"),
      Refused("weight of conv", up, {x, Uniform({6, 4, 3, 3})},
              "`weight` must be f64[4, 6, 3, 3] for an input f64[2, 4, 5, 6], not f64[6, 4, 3, 3]"),
      Refused("bias too short", WithBias(up), {x, weight, Uniform({5})}, "`bias` must be f64[6]"),
      Refused("bias missing", WithBias(up), {x, weight}, "and bias"),
      Refused("output too large", huge, {Uniform({1, 1, many, many}), Uniform({1, many, 1, 1})},
              "too large"),
      Refused("images too large", up, {Uniform({1, 4, int64_t{1} << 40, 1}), weight}, "too large"),
  };
}

}  // namespace

std::vector<OpCase> conv_transpose() {
  std::vector<OpCase> cases = KnownCases();
  ConvTransposeAttributes wide = WithBias(Up(5, {4, 4}, {2, 2}));
  wide.padding = {1, 1, 1, 1};
  cases.push_back(Random("twice the size", wide, {2, 3, 4, 5}));
  cases.push_back(Random("one pixel", Up(1, {1, 1}), {1, 1, 1, 1}));
  cases.push_back(Random("many channels", Up(2, {2, 3}), {1, 11, 3, 2}));
  cases.push_back(Random("stride, padding, output padding, random", Strided(), {2, 2, 3, 3}));
  cases.push_back(Random("uneven, random", Uneven(), {2, 3, 4, 3}));
  cases.push_back(Random("groups, random", Groups(), {2, 4, 3, 2}));
  cases.push_back(Random("beyond, random", Beyond(), {2, 2, 3, 2}));
  cases.push_back(
      {.name = "infinity and NaN",
       .attributes = Attributes::Of(Up(1, {1, 2}, {1, 2})),
       .inputs = {Given({1, 1, 1, 3}, {kInfinity, kNaN, 1}), Given({1, 1, 1, 2}, {2, -1})},
       .expected = {{kInfinity, -kInfinity, kNaN, kNaN, 2, -1}},
       .check_gradient = false});
  for (OpCase& refused : RefusedCases()) cases.push_back(std::move(refused));
  return cases;
}

}  // namespace cgrun::op_cases
