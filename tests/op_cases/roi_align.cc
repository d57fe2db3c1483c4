// Cases of roi_align and its gradient. Known results: by hand, and the reference evaluator of ONNX
// (onnx 1.23), RoiAlign of opset 16.
#include "src/ops/roi_align.h"

#include <limits>

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Attributes Align(IntList size, IntList strides, int64_t sampling_ratio = 2, bool aligned = true) {
  return Attributes::Of(
      RoiAlignAttributes{std::move(size), std::move(strides), sampling_ratio, aligned});
}

Attributes AlignGrad(IntList size, IntList strides, int64_t map, Shape shape) {
  return Attributes::Of(
      RoiAlignGradAttributes{std::move(size), std::move(strides), 2, true, map, std::move(shape)});
}

// Coordinates are no less than f32.
CaseInput Numbers(Shape shape, std::vector<double> values) {
  return AtLeastF32(Given(std::move(shape), std::move(values)));
}
CaseInput Map(Shape shape, int64_t factor, int64_t modulus) {
  return AtLeastF32(Pattern(std::move(shape), factor, modulus));
}
CaseInput Random(Shape shape) { return AtLeastF32(Uniform(std::move(shape))); }

// The boxes belong to two images. The second box reaches over the edge, and the last one lies
// outside.
CaseInput FourBoxes() {
  return Numbers({2, 2, 4}, {1, 0.5, 6, 7, -3, -2, 4, 9, 2.5, 3, 9.5, 5, 20, 1, 30, 6});
}

// Their areas are 729, 784, 740 and 175; 784 is 28 · 28.
CaseInput FourSizes() {
  return Numbers({1, 4, 4}, {0, 0, 27, 27, -4, 2, 24, 30, 3, 1, 40, 21, 5, 5, 12, 30});
}

}  // namespace

std::vector<OpCase> roi_align() {
  const CaseInput counted = AtLeastF32(Counted({1, 1, 4, 4}));
  const CaseInput map = Map({2, 1, 4, 5}, 7, 23);
  const CaseInput thin = Numbers({2, 1, 4}, {1, 1, 1.5, 6, 4, 4, 4, 4});
  return {
      // Samples are at the pixels themselves: means of four.
      {.name = "all of a map",
       .attributes = Align({2, 2}, {1}),
       .inputs = {Numbers({1, 1, 4}, {0, 0, 4, 4}), counted},
       .expected = {{2.5, 4.5, 10.5, 12.5}},
       .gradient_inputs = {1}},
      {.name = "edges",
       .attributes = Align({2, 2}, {2}),
       .inputs = {FourBoxes(), map},
       .expected = {{0.125, -1.232421875, -0.859375, 0.5908203125, -3.8125, -3.4521484375,
                     -1.828125, 0.3369140625, 1.203125, 1.0546875, 2.171875, -4.0859375, 0, 0, 0,
                     0}},
       .gradient_inputs = {1}},
      {.name = "one sample",
       .attributes = Align({2, 1}, {2}, 1),
       .inputs = {FourBoxes(), map},
       .expected = {{1.265625, -0.078125, -11, -2.5, -2.375, -2.125, 0, 0}},
       .gradient_inputs = {1}},
      {.name = "not aligned",
       .attributes = Align({2, 1}, {2}, 1, false),
       .inputs = {FourBoxes(), map},
       .expected = {{-3.609375, -1.359375, -4.75, 3.75, -7.25, -7, 0, 0}},
       .gradient_inputs = {1}},
      // The first box is a quarter of an element wide, and the second has no size.
      {.name = "thin",
       .attributes = Align({1, 2}, {2}),
       .inputs = {thin, map},
       .expected = {{-5.625, -4.75, 2.25, 2.25}},
       .gradient_inputs = {1}},
      {.name = "thin, not aligned",
       .attributes = Align({1, 2}, {2}, 2, false),
       .inputs = {thin, map},
       .expected = {{2.3125, 2.21875, -0.625, -2.875}},
       .gradient_inputs = {1}},
      // The second box alone is large enough for the second map.
      {.name = "two maps",
       .attributes = Align({2, 2}, {1, 2}),
       .inputs = {FourSizes(), Map({1, 1, 6, 6}, 5, 37), Map({1, 1, 3, 4}, 5, 13)},
       .expected = {{2.30078125, 0, 0, 0, -1.5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
       .gradient_inputs = {1, 2}},
      {.name = "random",
       .attributes = Align({3, 2}, {1, 2, 4}, 3),
       .inputs = {Numbers({2, 3, 4}, {1, 2, 9,  8,  -7, 3, 30, 27, -20, -20, 50, 50,
                                      0, 0, 12, 12, 4,  4, 60, 60, 8,   1,   2,  12}),
                  Random({2, 3, 9, 10}), Random({2, 3, 7, 8}), Random({2, 3, 5, 6})},
       .gradient_inputs = {1, 2, 3}},
      {.name = "a number of the map that is infinite, another that is NaN",
       .attributes = Align({1, 2}, {1}, 1),
       .inputs = {Numbers({1, 1, 4}, {0, 0, 2, 1}),
                  Numbers({1, 2, 1, 3}, {kInfinity, 2, 3, 5, kNaN, 7})},
       .expected = {{kInfinity, 2, 5, kNaN}},
       .check_gradient = false},
      {.name = "a box that is NaN",
       .attributes = Align({1, 1}, {1, 2}),
       .inputs = {Numbers({1, 2, 4}, {0, 0, kNaN, 2, 0, 0, 2, 2}), counted, counted},
       .expected = {{kNaN, 2.5}},
       .check_gradient = false},
      Refused("no map", Align({2, 2}, {1}), {Random({1, 2, 4})}, "at least 2 inputs"),
      Refused("bf16", Align({2, 2}, {1}),
              {Integers({1, 2, 4}, DType::kBF16, 0, 4), Integers({1, 1, 4, 4}, DType::kBF16, 0, 4)},
              "needs f32 or f64"),
      Refused("two types", Align({2, 2}, {1}),
              {Random({1, 2, 4}), Integers({1, 1, 4, 4}, DType::kF32, 0, 4)}, "of one type"),
      Refused("no boxes", Align({2, 2}, {1}), {Random({1, 2, 5}), Random({1, 1, 4, 4})},
              "needs boxes [N, boxes, 4]"),
      Refused("other images", Align({2, 2}, {1}), {Random({2, 2, 4}), Random({1, 1, 4, 4})},
              "needs maps [2, channels, height, width]"),
      Refused("no image", Align({2, 2}, {1}), {Random({1, 2, 4}), Random({1, 4, 4})},
              "needs maps [1, channels, height, width]"),
      Refused("channels differ", Align({2, 2}, {1, 2}),
              {Random({1, 2, 4}), Random({1, 1, 4, 4}), Random({1, 2, 2, 2})}, "in channels"),
      Refused("a stride too many", Align({2, 2}, {1, 2}), {Random({1, 2, 4}), Random({1, 1, 4, 4})},
              "`strides` has 2 numbers for 1 map"),
      Refused("strides fall", Align({2, 2}, {2, 1}),
              {Random({1, 2, 4}), Random({1, 1, 4, 4}), Random({1, 1, 2, 2})}, "must grow"),
      Refused("one size", Align({2}, {1}), {Random({1, 2, 4}), Random({1, 1, 4, 4})},
              "[height, width]"),
      Refused("no samples", Align({2, 2}, {1}, 0), {Random({1, 2, 4}), Random({1, 1, 4, 4})},
              "`sampling_ratio` must be at least 1"),
      Refused("too large", Align({1024, 1024}, {1}),
              {Random({1, 1 << 20, 4}), Random({1, 1 << 12, 4, 4})}, "is too large"),
  };
}

std::vector<OpCase> roi_align_grad() {
  const CaseInput dy = Numbers({1, 1, 2, 2}, {4, 8, 12, 16});
  return {
      {.name = "all of a map",
       .attributes = AlignGrad({2, 2}, {1}, 0, {1, 1, 4, 4}),
       .inputs = {Numbers({1, 1, 4}, {0, 0, 4, 4}), dy},
       .expected = {{1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4}}},
      {.name = "a box of another map",
       .attributes = AlignGrad({2, 2}, {1, 2}, 1, {1, 1, 2, 2}),
       .inputs = {Numbers({1, 1, 4}, {0, 0, 4, 4}), dy},
       .expected = {{0, 0, 0, 0}}},
      // Twice the same place: the second box adds to the first.
      {.name = "two boxes",
       .attributes = AlignGrad({1, 1}, {1}, 0, {1, 1, 2, 2}),
       .inputs = {Numbers({1, 2, 4}, {0, 0, 2, 2, 0, 0, 2, 2}), Numbers({2, 1, 1, 1}, {4, 8})},
       .expected = {{3, 3, 3, 3}}},
      Refused("dy of another shape", AlignGrad({2, 2}, {1}, 0, {1, 1, 4, 4}),
              {Random({1, 1, 4}), Random({1, 1, 2, 3})}, "`dy` must be [1, 1, 2, 2]"),
      Refused("no such map", AlignGrad({2, 2}, {1}, 1, {1, 1, 4, 4}),
              {Random({1, 1, 4}), Random({1, 1, 2, 2})}, "there is no map 1"),
      Refused("map of other images", AlignGrad({2, 2}, {1}, 0, {2, 1, 4, 4}),
              {Random({1, 1, 4}), Random({1, 1, 2, 2})}, "needs maps [1, "),
  };
}

}  // namespace cgrun::op_cases
