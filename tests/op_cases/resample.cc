// Cases of resample and its gradient. Known results: ONNX's reference of Resize, in Python.
#include "src/ops/resample.h"

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

struct Known {
  std::string name;
  void (*set)(ResampleAttributes&);
  std::vector<double> expected;
};

Attributes Made(void (*set)(ResampleAttributes&)) {
  ResampleAttributes attributes;
  set(attributes);
  return Attributes::Of(attributes);
}

const std::vector<Known>& KnownResults() {
  static const std::vector<Known> known = {
      {"linear",
       [](ResampleAttributes& a) {
         a.size = 8;
         a.mode = "linear";
       },
       {1, 2.3125, 4.3125, 7.4375, 5.5625, -1.3125, 0.8125, 3}},
      {"linear, smaller",
       [](ResampleAttributes& a) {
         a.size = 3;
         a.mode = "linear";
       },
       {2, 9, 1.33333333333}},
      {"nearest",
       [](ResampleAttributes& a) {
         a.size = 8;
         a.mode = "nearest";
       },
       {1, 1, 4, 9, 9, -2, 3, 3}},
      {"nearest, halves up",
       [](ResampleAttributes& a) {
         a.size = 10;
         a.mode = "nearest";
         a.rounding = "up";
       },
       {1, 1, 4, 4, 9, 9, -2, -2, 3, 3}},
      {"nearest, down",
       [](ResampleAttributes& a) {
         a.size = 8;
         a.mode = "nearest";
         a.rounding = "floor";
         a.coordinates = "asymmetric";
       },
       {1, 1, 4, 4, 9, -2, -2, 3}},
      {"nearest, up",
       [](ResampleAttributes& a) {
         a.size = 8;
         a.mode = "nearest";
         a.rounding = "ceil";
         a.coordinates = "asymmetric";
       },
       {1, 4, 9, 9, -2, 3, 3, 3}},
      {"corners",
       [](ResampleAttributes& a) {
         a.size = 7;
         a.mode = "linear";
         a.coordinates = "align_corners";
       },
       {1, 3, 5.66666666667, 9, 1.66666666667, -0.333333333333, 3}},
      {"cubic",
       [](ResampleAttributes& a) {
         a.size = 8;
         a.mode = "cubic";
       },
       {0.721496582031, 1.88568115234, 4.40222167969, 8.90783691406, 6.08618164062, -1.64575195312,
        -0.0372924804688, 3.46417236328}},
      {"cubic without the outside",
       [](ResampleAttributes& a) {
         a.size = 8;
         a.mode = "cubic";
         a.cubic = -0.5;
         a.exclude_outside = true;
       },
       {0.784132841328, 1.93264071241, 4.28686523438, 8.55200195312, 6.20703125, -1.72265625,
        0.472200022834, 3.35977859779}},
      {"one element",
       [](ResampleAttributes& a) {
         a.size = 1;
         a.mode = "linear";
         a.coordinates = "pytorch_half_pixel";
       },
       {1}},
      {"meant size",
       [](ResampleAttributes& a) {
         a.size = 7;
         a.mode = "linear";
         a.scale = 1.5;
         a.coordinates = "half_pixel_symmetric";
       },
       {1, 3, 5.66666666667, 9, 1.66666666667, -0.333333333333, 3}},
      {"meant size, corners",
       [](ResampleAttributes& a) {
         a.size = 7;
         a.mode = "linear";
         a.scale = 1.5;
         a.coordinates = "align_corners";
       },
       {1, 2.84615384615, 5.15384615385, 8.23076923077, 3.92307692308, -1.61538461538,
        1.46153846154}},
      {"part",
       [](ResampleAttributes& a) {
         a.size = 4;
         a.mode = "linear";
         a.coordinates = "part";
         a.part = {0.25, 1.25};
         a.outside = 7;
       },
       {4, 5.33333333333, 1.33333333333, 7}},
      {"linear, antialias",
       [](ResampleAttributes& a) {
         a.size = 3;
         a.mode = "linear";
         a.antialias = true;
       },
       {2.125, 5.44444444444, 1.125}},
      {"cubic, antialias",
       [](ResampleAttributes& a) {
         a.size = 2;
         a.mode = "cubic";
         a.antialias = true;
       },
       {3.842, 2.629}},
  };
  return known;
}

Attributes To(int64_t size, int64_t axis, std::string mode = "linear") {
  ResampleAttributes attributes;
  attributes.size = size;
  attributes.axis = axis;
  attributes.mode = std::move(mode);
  return Attributes::Of(attributes);
}

}  // namespace

std::vector<OpCase> resample() {
  std::vector<OpCase> cases;
  for (const Known& known : KnownResults()) {
    cases.push_back(
        {known.name, Made(known.set), {Given({5}, {1, 4, 9, -2, 3})}, {known.expected}});
  }
  const std::vector<OpCase> more = {
      {"middle axis", To(7, 1, "cubic"), {Uniform({2, 4, 3})}},
      {"first axis", To(2, 0), {Uniform({5, 3})}},
      // 1, 1.5, 2.5, 3: halves go to the even number.
      {"integers", To(4, 0), {Given({2}, {1, 3}, DType::kI32)}, {{1, 2, 2, 3}}},
      {"bytes", To(3, 0, "nearest"), {Given({2}, {200, 3}, DType::kU8)}, {{200, 200, 3}}},
      Refused("batch axis", To(3, 0), {Uniform({kBatchDim, 3})}, "the batch axis"),
      Refused("no such axis", To(3, 2), {Uniform({2, 3})}, "axes [2]"),
      Refused("a part of none", Made([](ResampleAttributes& a) { a.coordinates = "part"; }),
              {Uniform({3})}, "`part` has the start and the end"),
      Refused("an endless part", Made([](ResampleAttributes& a) {
                a.coordinates = "part";
                a.part = {0, 1e300};
              }),
              {Uniform({3})}, "`part` is out of range"),
      Refused("far scale", Made([](ResampleAttributes& a) { a.scale = 1e9; }), {Uniform({3})},
              "is far from 1/3"),
      Refused("bools", To(3, 0), {Integers({2}, DType::kBool, 0, 1)}, "floats or integers"),
  };
  cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

std::vector<OpCase> resample_grad() {
  const auto from = [](int64_t from, int64_t size, std::string mode) {
    ResampleAttributes attributes;
    attributes.size = size;
    attributes.from = from;
    attributes.mode = std::move(mode);
    return Attributes::Of(attributes);
  };
  return {
      {"nearest", from(2, 4, "nearest"), {Given({4}, {1, 2, 3, 4})}, {{3, 7}}},
      // Weights 1, 3/4 and 1/4, 1/4 and 3/4, 1.
      {"linear", from(2, 4, "linear"), {Given({4}, {1, 2, 3, 4})}, {{3.25, 6.75}}},
      Refused("size of dy", from(2, 4, "linear"), {Uniform({3})}, "needs a gradient of 4"),
      Refused("no size", from(0, 4, "linear"), {Uniform({4})}, "has no size of x"),
  };
}

}  // namespace cgrun::op_cases
