// The cases of conv and its gradients have padding of every kind, strides beyond the kernel,
// dilation, groups, and the smallest images.
#include "src/ops/conv.h"

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

ConvAttributes Conv(int64_t filters, int64_t kernel) {
  ConvAttributes conv;
  conv.filters = filters;
  conv.kernel = {kernel, kernel};
  conv.bias = false;
  return conv;
}

// A convolution, and the shape of its images.
struct Geometry {
  std::string name;
  ConvAttributes conv;
  Shape x;

  Shape weight() const {
    return ConvWeightShape(conv.filters, x[1].size, conv.groups, conv.kernel);
  }
  Shape y() const { return WindowOutput(x, conv.filters, *WindowOn(x, conv.window())); }
  Attributes attributes() const { return Attributes::Of(conv); }
  Attributes grad() const {
    return Attributes::Of(
        ConvGradAttributes{x, conv.kernel, conv.stride, conv.padding, conv.dilation, conv.groups});
  }
};

Geometry Plain() { return {"plain", Conv(2, 2), {2, 2, 3, 3}}; }

Geometry Uneven() {
  ConvAttributes conv = Conv(2, 2);
  conv.padding = {1, 0, 2, 1};
  conv.stride = {2, 1};
  conv.dilation = {1, 2};
  return {"uneven padding, stride, dilation", conv, {1, 2, 5, 4}};
}

Geometry Groups() {
  ConvAttributes conv = Conv(4, 2);
  conv.groups = 2;
  return {"groups", conv, {1, 4, 3, 3}};
}

Geometry Depthwise() {
  ConvAttributes conv = Conv(3, 3);
  conv.padding = {1, 1, 1, 1};
  conv.groups = 3;
  return {"depthwise", conv, {1, 3, 3, 4}};
}

Geometry Sparse() {
  ConvAttributes conv = Conv(1, 2);
  conv.stride = {3, 3};
  return {"stride beyond the kernel", conv, {1, 1, 5, 7}};
}

Geometry Same() {
  ConvAttributes conv = Conv(1, 2);
  conv.padding = {-1, -1, -1, -1};
  conv.stride = {2, 2};
  return {"same, one row more at the end", conv, {1, 1, 5, 5}};
}

// The cases have tiles of rows and of vectors of every size, whole and not, and images for more
// threads than one.
std::vector<Geometry> Tiles() {
  std::vector<Geometry> all = {
      {"vectors of pixels and their rest", Conv(5, 3), {3, 1, 9, 11}},
      {"tiles of filters, uneven", Conv(50, 3), {2, 3, 6, 6}},
      {"a vector of filters and their rest", Conv(17, 2), {2, 13, 5, 4}},
      {"many taps", Conv(3, 5), {2, 20, 7, 8}},
      {"more pixels than are added up at once", Conv(2, 1), {2, 1, 24, 23}},
      {"rows longer than a vector", Conv(4, 3), {3, 2, 4, 40}},
      {"pixel by pixel, many channels", Conv(20, 1), {2, 17, 5, 7}},
  };
  ConvAttributes conv = Conv(13, 3);
  conv.stride = {2, 2};
  conv.padding = {1, 1, 1, 1};
  all.push_back({"every other pixel", conv, {3, 5, 11, 13}});
  conv = Conv(10, 3);
  conv.groups = 2;
  conv.dilation = {2, 1};
  conv.padding = {2, 1, 2, 1};
  all.push_back({"groups, dilation, padding, images", conv, {5, 6, 7, 6}});
  conv = Conv(2, 2);
  conv.stride = {5, 5};
  conv.padding = {4, 4, 0, 0};
  all.push_back({"padding beyond the kernel", conv, {3, 1, 5, 5}});
  conv = Conv(18, 3);
  conv.groups = 18;
  conv.padding = {1, 1, 1, 1};
  all.push_back({"depthwise, images", conv, {2, 18, 5, 6}});
  return all;
}

// Kernels of one element on images of 64 outputs and more, which a GPU multiplies as matrices.
std::vector<Geometry> Points() {
  std::vector<Geometry> all = {
      {"points, in eights", Conv(8, 1), {2, 8, 8, 8}},
      {"points, uneven", Conv(5, 1), {3, 3, 7, 11}},
  };
  ConvAttributes conv = Conv(8, 1);
  conv.stride = {2, 2};
  all.push_back({"every other point, in eights", conv, {2, 8, 15, 16}});
  conv = Conv(3, 1);
  conv.stride = {3, 2};
  all.push_back({"points by strides, rows left over", conv, {2, 5, 24, 19}});
  conv = Conv(2, 1);
  conv.stride = {2, 1};
  conv.padding = {0, 0, 1, 0};
  all.push_back({"points, padded at the end", conv, {2, 2, 16, 8}});
  conv = Conv(4, 1);
  conv.groups = 2;
  all.push_back({"points, groups", conv, {1, 4, 8, 9}});
  return all;
}

// Every window lies before the image. The gradient is 0.
Geometry Outside() {
  ConvAttributes conv = Conv(2, 2);
  conv.stride = {9, 9};
  conv.padding = {4, 4, 0, 0};
  return {"padding that hides the image", conv, {2, 1, 5, 5}};
}

// A case without known results, whose gradient cannot be told from none.
OpCase Unseen(const Geometry& g, Attributes attributes, const Shape& a, const Shape& b) {
  return {.name = g.name,
          .attributes = std::move(attributes),
          .inputs = {Uniform(a), Uniform(b)},
          .check_gradient = false};
}

// Geometries without known results: each is checked by finite differences and across number types.
std::vector<Geometry> Others() {
  std::vector<Geometry> all = {
      {"one pixel", Conv(1, 1), {1, 1, 1, 1}},
      {"kernel as large as the image", Conv(3, 4), {2, 2, 4, 4}},
      {"pixel by pixel", Conv(5, 1), {2, 3, 3, 5}},
      {"many filters and outputs", Conv(9, 3), {1, 2, 6, 7}},
      {"many channels", Conv(2, 1), {1, 11, 2, 2}},
  };
  ConvAttributes conv = Conv(4, 1);
  conv.kernel = {1, 3};
  conv.padding = {0, 2, 0, 0};
  all.push_back({"flat kernel, padded on the left", conv, {2, 1, 1, 3}});
  conv = Conv(6, 3);
  conv.groups = 3;
  conv.stride = {2, 3};
  conv.padding = {2, 2, 1, 2};
  all.push_back({"groups, strides, padding", conv, {2, 3, 5, 6}});
  conv = Conv(2, 2);
  conv.dilation = {3, 2};
  conv.stride = {2, 2};
  conv.padding = {-1, -1, -1, -1};
  all.push_back({"same, dilated", conv, {1, 1, 5, 4}});
  conv = Conv(4, 2);
  conv.groups = 2;  // two filters a channel
  conv.padding = {1, 0, 0, 1};
  all.push_back({"depthwise with a multiplier", conv, {1, 2, 2, 3}});
  conv = Conv(1, 3);
  conv.padding = {3, 3, 3, 3};
  all.push_back({"windows of padding alone", conv, {1, 1, 1, 2}});
  for (const Geometry& g : Tiles()) all.push_back(g);
  for (const Geometry& g : Points()) all.push_back(g);
  return all;
}

// The results below were made with these inputs, in PyTorch.
CaseInput Images(const Geometry& g) { return Pattern(g.x, 7, 11); }
CaseInput Weight(const Geometry& g) { return Pattern(g.weight(), 5, 7); }
CaseInput OutputGradient(const Geometry& g) { return Pattern(g.y(), 4, 9); }
CaseInput Bias(const Geometry& g) { return Pattern({g.conv.filters}, 3, 5); }

OpCase Known(const Geometry& g, std::vector<double> y, bool bias) {
  OpCase result{g.name, g.attributes(), {Images(g), Weight(g)}, {std::move(y)}};
  if (!bias) return result;
  ConvAttributes with_bias = g.conv;
  with_bias.bias = true;
  result.attributes = Attributes::Of(with_bias);
  result.inputs.push_back(Bias(g));
  return result;
}
OpCase KnownInputGrad(const Geometry& g, std::vector<double> dx) {
  return {g.name, g.grad(), {OutputGradient(g), Weight(g)}, {std::move(dx)}};
}
OpCase KnownWeightGrad(const Geometry& g, std::vector<double> dweight) {
  return {g.name, g.grad(), {Images(g), OutputGradient(g)}, {std::move(dweight)}};
}

OpCase Refused(std::string name, const ConvAttributes& conv, std::vector<CaseInput> inputs,
               std::string error) {
  return {std::move(name), Attributes::Of(conv), std::move(inputs), {}, {}, true, std::move(error)};
}

std::vector<OpCase> RefusedCases() {
  const CaseInput x = Uniform({2, 4, 5, 6});
  const CaseInput weight = Uniform({6, 4, 3, 3});
  const ConvAttributes conv = Conv(6, 3);
  ConvAttributes grouped = conv, biased = conv, dilated = conv, negative = conv;
  grouped.groups = 3;
  biased.bias = true;
  dilated.dilation = {4, 1};
  negative.padding = {-1, 0, 0, 0};
  return {
      Refused("not images", conv, {Uniform({2, 4, 5}), weight}, "[N, channels, height, width]"),
      Refused("height depends on the batch", conv, {Uniform({2, 4, kBatchDim, 6}), weight},
              "[2, 4, N, 6]"),
      Refused("integers", conv, {Integers({2, 4, 5, 6}, DType::kU8, 0, 9), weight},
              "floating-point"),
      Refused("groups that do not divide", grouped, {x, weight},
              "groups=3 does not divide both the channels of [2, 4, 5, 6] and filters=6"),
      Refused("kernel too large", Conv(6, 6), {x, Uniform({6, 4, 6, 6})},
              "a kernel 6x6 is larger than the images of [2, 4, 5, 6], which are 5x6"),
      Refused("dilation too large", dilated, {x, weight}, "covers 9x3"),
      Refused("weight of other channels", conv, {x, Uniform({6, 2, 3, 3})},
              "`weight` must be f64[6, 4, 3, 3] for an input f64[2, 4, 5, 6], not f64[6, 2, 3, 3]"),
      Refused("bias too short", biased, {x, weight, Uniform({5})}, "`bias` must be f64[6]"),
      Refused("bias missing", biased, {x, weight}, "and bias"),
      Refused("negative padding", negative, {x, weight}, "`padding`"),
      Refused("output too large", Conv(1 << 24, 1),
              {Uniform({1 << 20, 1, 1 << 20, 1}), Uniform({1 << 24, 1, 1, 1})}, "too large"),
  };
}

}  // namespace

std::vector<OpCase> conv() {
  std::vector<OpCase> cases = {
      Known(Plain(), {27, -27, -3, -13, -22, 14, -2, 1, -10, 24, -29, 27, -1, 2, 30, -22}, true),
      Known(Uneven(), {14,  -17, 3,  8,   20,  -7, 5,   -16, -8, -2, -2, -2,
                       -14, 19,  20, -15, -12, 24, -13, -21, 22, 1,  1,  1},
            true),
      Known(Groups(), {29, -25, -1, -11, -23, 13, -3, 0, -17, -17, -6, 16, 3, 0, -6, 13}, false),
      Known(Depthwise(),
            {-24, 28, -16, 13, 6,   3, -4, 22, -9,  5, 1,  -27, -3, -16, 7, 5, -16, 29,
             4,   -7, 19,  12, -13, 2, 7,  3,  -23, 7, -8, -26, 24, 7,   1, 8, 11,  -20},
            true),
      Known(Sparse(), {27, -3, -7, 18}, false),
      Known(Same(), {11, 24, -3, -1, -10, -15, -11, 19, 6}, false),
  };
  for (const Geometry& g : Others()) {
    cases.push_back({g.name, g.attributes(), {Uniform(g.x), Uniform(g.weight())}});
  }
  const Geometry outside = Outside();
  cases.push_back(Unseen(outside, outside.attributes(), outside.x, outside.weight()));
  for (OpCase& refused : RefusedCases()) cases.push_back(std::move(refused));
  return cases;
}

std::vector<OpCase> conv_input_grad() {
  std::vector<OpCase> cases = {
      KnownInputGrad(Plain(),
                     {18, -12, 0,  -14, 26,  -8, -4, 4,   -7, -9, -9, 2,  9, 20, -2, -10, 2,   -3,
                      -5, 20,  -8, -2,  -19, 25, 4,  -10, -2, 2,  -7, -7, 0, 6,  20, 6,   -14, -8}),
      KnownInputGrad(Uneven(),
                     {2, -6, 9,  9, 7,  -15, 6,  6, -4, 6, 6, -15, -14, 9,  9,  -6, 8,  0, -24, 6,
                      7, -9, 12, 6, -1, 6,   -8, 6, -5, 6, 6, -15, 2,   -9, 13, -3, 10, 3, -27, 9}),
      KnownInputGrad(Groups(),
                     {18,  -12, 0, -14, 26, -8, -4, 4, -7, -9,  -9, 2, 9,   20,  -2, -10, 2, -3, 2,
                      -11, 17,  6, -17, -9, -2, 16, 2, 2,  -10, 18, 8, -20, -14, 0,  12,  -4}),
      KnownInputGrad(Depthwise(), {0,  -22, 27, -5, 39, -27, -13, 12, 4,   -1,  -19, 25,
                                   10, -13, 6,  -8, 2,  16,  -10, 29, -3,  -10, -4,  1,
                                   25, -8,  18, -4, 4,  -3,  -5,  -1, -18, 27,  -14, 10}),
      KnownInputGrad(Sparse(), {12, -8, 0, 0,   0, 0, 0, 0,  8, 0, 0, 0,  0, 0, 0, 0, 0, 0,
                                0,  0,  0, -12, 8, 0, 3, -2, 0, 0, 0, -8, 0, 0, 2, 0, 0}),
      KnownInputGrad(Same(), {12, -8, 0, 0, -12, 0,  8, 0,  0, 0, 3,  -2, -9,
                              6,  6,  0, 2, 0,   -6, 0, -6, 4, 9, -6, -3}),
  };
  for (const Geometry& g : Others()) {
    cases.push_back({g.name, g.grad(), {Uniform(g.y()), Uniform(g.weight())}});
  }
  const Geometry outside = Outside();
  cases.push_back(Unseen(outside, outside.grad(), outside.y(), outside.weight()));
  const Geometry g = Plain();
  cases.push_back({"another output",
                   g.grad(),
                   {Uniform({2, 2, 3, 3}), Uniform(g.weight())},
                   {},
                   {},
                   true,
                   "`dy` must be f64[2, 2, 2, 2]"});
  cases.push_back({"another weight",
                   g.grad(),
                   {Uniform(g.y()), Uniform({2, 1, 2, 2})},
                   {},
                   {},
                   true,
                   "`weight` must be f64[2, 2, 2, 2]"});
  cases.push_back({"no images",
                   g.grad(),
                   {Uniform({2, 2}), Uniform(g.weight())},
                   {},
                   {},
                   true,
                   "no convolution of [2, 2, 3, 3]"});
  return cases;
}

std::vector<OpCase> conv_weight_grad() {
  std::vector<OpCase> cases = {
      KnownWeightGrad(Plain(), {35, -9, 35, -9, -9, -9, -9, -9, -32, 48, 21, 24, 50, -24, 48, -48}),
      KnownWeightGrad(Uneven(), {-3, 3, 9, 6, 30, 0, -24, 15, 27, -12, 9, 30, -6, 3, -24, 6}),
      KnownWeightGrad(Groups(),
                      {39, -1, -4, 0,  -2, -9, -1, -8, -12, 21, 21, 21, 21, -12, 21, -34,
                       -4, -8, 39, -9, -7, 0,  -8, -1, -20, 27, 0,  3,  29, -12, 27, -14}),
      KnownWeightGrad(Depthwise(), {32, -25, 1,  2,  -12, 2,  1,   7,  13, 25, -36, 11,  5, -9,
                                    26, -10, 17, -6, -6,  17, -10, 26, -9, 5,  11,  -36, 25}),
      KnownWeightGrad(Sparse(), {18, -33, 13, 17}),
      KnownWeightGrad(Same(), {40, -17, 43, -13}),
  };
  for (const Geometry& g : Others()) {
    cases.push_back({g.name, g.grad(), {Uniform(g.x), Uniform(g.y())}});
  }
  const Geometry outside = Outside();
  cases.push_back(Unseen(outside, outside.grad(), outside.x, outside.y()));
  const Geometry g = Plain();
  cases.push_back({"other images",
                   g.grad(),
                   {Uniform({2, 1, 3, 3}), Uniform(g.y())},
                   {},
                   {},
                   true,
                   "`x` must be f64[2, 2, 3, 3]"});
  return cases;
}

}  // namespace cgrun::op_cases
