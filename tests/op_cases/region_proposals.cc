// Cases of region_proposals. Known results: by hand, and where it is said by NumPy after
// Matterport's ProposalLayer with NonMaxSuppression of ONNX's reference evaluator (onnx 1.23).
#include "src/ops/region_proposals.h"

#include <limits>

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Coordinates are no less than f32.
CaseInput Numbers(Shape shape, std::vector<double> values) {
  return AtLeastF32(Given(std::move(shape), std::move(values)));
}
CaseInput Random(Shape shape) { return AtLeastF32(Uniform(std::move(shape))); }
CaseInput Distinct(Shape shape, int64_t factor, int64_t modulus, double shift = 0) {
  CaseInput input = AtLeastF32(Pattern(std::move(shape), factor, modulus));
  for (double& value : input.values) value += shift;
  return input;
}
CaseInput Zeros(Shape shape) {
  const auto elements = static_cast<size_t>(shape.Elements());
  return Numbers(std::move(shape), std::vector<double>(elements, 0));
}

// One map of stride 16 with one anchor of 16 × 16 pixels at each place.
RegionProposalsAttributes Squares(int64_t count) {
  return {.strides = {16}, .scales = {16}, .ratios = {1}, .count = count};
}

Attributes OneMap(int64_t count, int64_t candidates = 6000, double max_iou = 0.7) {
  RegionProposalsAttributes attributes = Squares(count);
  attributes.candidates = candidates;
  attributes.max_iou = max_iou;
  return Attributes::Of(attributes);
}

Attributes Maps(IntList strides, RealList scales, RealList ratios, RealList std = {1, 1, 1, 1}) {
  return Attributes::Of(RegionProposalsAttributes{.strides = std::move(strides),
                                                  .scales = std::move(scales),
                                                  .ratios = std::move(ratios),
                                                  .candidates = 20,
                                                  .count = 4,
                                                  .max_iou = 0.5,
                                                  .std = std::move(std)});
}

OpCase Wrong(std::string name, Attributes attributes, std::vector<CaseInput> inputs,
             std::string error) {
  return Refused(std::move(name), std::move(attributes), std::move(inputs), std::move(error));
}

}  // namespace

std::vector<OpCase> region_proposals() {
  // An image of 48 × 32 pixels: anchors are at (0, 0), (16, 0), (32, 0), (0, 16), …
  const CaseInput scores = Numbers({1, 1, 2, 3}, {0.1, 0.9, 0.3, 0.2, 0.8, 0.7});
  const CaseInput still = Zeros({1, 4, 2, 3});
  // A map of one place, an image of 16 × 16 pixels, anchors of 8 × 16 and 16 × 8.
  RegionProposalsAttributes two_ratios{.strides = {16},
                                       .scales = {std::sqrt(128.0)},
                                       .ratios = {0.5, 2},
                                       .count = 3,
                                       .std = {0.5, 0.25, 2, 1}};
  return {
      {.name = "the highest scores, cut off at the edges",
       .attributes = OneMap(4),
       .inputs = {scores, still},
       .expected = {{8, 0, 24, 8, 8, 8, 24, 24, 24, 8, 40, 24, 24, 0, 40, 8}}},
      {.name = "fewer candidates than boxes",
       .attributes = OneMap(4, 2),
       .inputs = {scores, still},
       .expected = {{8, 0, 24, 8, 8, 8, 24, 24, 0, 0, 0, 0, 0, 0, 0, 0}}},
      {.name = "fewer anchors than candidates",
       .attributes = OneMap(7, 7),
       .inputs = {scores, still},
       .expected = {{8,  0, 24, 8, 8, 8,  24, 24, 24, 8, 40, 24, 24, 0,
                     40, 8, 0,  8, 8, 24, 0,  0,  8,  8, 0,  0,  0,  0}}},
      {.name = "of equal scores the first",
       .attributes = OneMap(3),
       .inputs = {Numbers({1, 1, 2, 3}, {1, 2, 1, 2, 1, 2}), still},
       .expected = {{8, 0, 24, 8, 0, 8, 8, 24, 24, 8, 40, 24}}},
      {.name = "NaN and infinities",
       .attributes = OneMap(6),
       .inputs = {Numbers({1, 1, 2, 3}, {kNaN, -kInfinity, 0, kInfinity, kNaN, 1}), still},
       .expected = {{0, 8, 8, 24, 24, 8, 40, 24, 24, 0, 40, 8,
                     0, 0, 8, 8,  8,  0, 24, 8,  8,  8, 24, 24}}},
      // dx, dy, dw and dh of the first ratio, then of the second. At (0, 0) the first anchor is 8
      // wide: 0.5·2·8 = 8 to the right, and e^(2·0.34657…) = 2 times as wide, [0, 16]; 16 high:
      // 0.25·1·16 = 4 down, [-4, 12]. The second stays: [-8, -4, 8, 4].
      {.name = "ratios, deltas and their factors",
       .attributes = Attributes::Of(two_ratios),
       .inputs = {Numbers({1, 2, 1, 1}, {1, 2}),
                  Numbers({1, 8, 1, 1}, {2, 1, 0.34657359028, 0, 0, 0, 0, 0})},
       .expected = {{0, 0, 8, 4, 0, 0, 16, 12, 0, 0, 0, 0}}},
      // The second box is the first one, moved by 4 of 16 pixels: 12 · 16 shared by 20 · 16, 0.6.
      {.name = "an overlap that is too large",
       .attributes = OneMap(2, 6000, 0.59),
       .inputs = {Numbers({1, 1, 1, 3}, {0, 2, 1}),
                  Numbers({1, 4, 1, 3}, {0, 0, -7.5, 0, 5, 5, 0, 0, 0, 0, 0, 0})},
       .expected = {{8, 0, 24, 16, 0, 0, 8, 8}}},
      {.name = "one that is not",
       .attributes = OneMap(2, 6000, 0.61),
       .inputs = {Numbers({1, 1, 1, 3}, {0, 2, 1}),
                  Numbers({1, 4, 1, 3}, {0, 0, -7.5, 0, 5, 5, 0, 0, 0, 0, 0, 0})},
       .expected = {{8, 0, 24, 16, 12, 0, 28, 16}}},
      {.name = "deltas that are NaN and infinite",
       .attributes = OneMap(3),
       .inputs = {Numbers({1, 1, 1, 3}, {3, 2, 1}),
                  Numbers({1, 4, 1, 3}, {0, 0, kNaN, 0, 0, 0, 0, kInfinity, 0, 0, 0, 0})},
       .expected = {{0, 0, 8, 8, 0, 0, 48, 8, kNaN, 0, kNaN, 8}}},
      // The second box is moved by 32 pixels to the left, out of the image.
      {.name = "a box that is left without an area",
       .attributes = OneMap(3),
       .inputs = {Numbers({1, 1, 1, 3}, {3, 2, 1}),
                  Numbers({1, 4, 1, 3}, {0, -20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})},
       .expected = {{0, 0, 8, 8, 24, 0, 40, 8, 0, 0, 0, 0}}},
      // The results were made with NumPy and ONNX.
      {.name = "two maps, two images",
       .attributes = Maps({8, 16}, {24, 32}, {0.5, 2}, {0.05, 0.05, 0.1, 0.1}),
       .inputs = {Distinct({2, 2, 4, 4}, 29, 83), Distinct({2, 8, 4, 4}, 7, 11),
                  Distinct({2, 2, 2, 2}, 31, 83, 0.5), Distinct({2, 8, 2, 2}, 5, 7)},
       .expected = {{0,
                     0,
                     17.3337795988,
                     20.6585523205,
                     0,
                     0,
                     29.2108073207,
                     14.838392027,
                     13.2954798775,
                     0.241212152132,
                     27.1898014967,
                     32,
                     0,
                     11.3414476795,
                     32,
                     32,
                     0,
                     0,
                     15.8976941584,
                     27.1529003976,
                     0,
                     12.0795592229,
                     19.3603271987,
                     27.4351594029,
                     2.59095975502,
                     4.12060607607,
                     30.3796029935,
                     21.0911688245,
                     12.8577302109,
                     0,
                     24.2334386137,
                     22.3796029935}}},
      Wrong("scores alone", OneMap(4), {scores}, "needs 2 inputs"),
      Wrong("a map too many", OneMap(4), {scores, still, scores, still},
            "for each of `strides`, not 4"),
      Wrong("no map", Maps({}, {}, {1}), {scores, still}, "`strides` must not be empty"),
      Wrong("scales of other maps", Maps({16}, {16, 32}, {1}), {scores, still},
            "`scales` has 2 numbers, and `strides` 1"),
      Wrong("no ratios", Maps({16}, {16}, {}), {scores, still}, "`ratios` must not be empty"),
      Wrong("scores of other ratios", Maps({16}, {16}, {1, 2}), {scores, still},
            "needs scores [1, 2, height, width] for 2 ratios"),
      Wrong("deltas of other ratios", OneMap(4), {scores, Random({1, 5, 2, 3})},
            "deltas must be [1, 4, 2, 3] for scores [1, 1, 2, 3]"),
      Wrong(
          "other images", Maps({8, 16}, {8, 8}, {1}),
          {Random({1, 1, 4, 4}), Random({1, 4, 4, 4}), Random({2, 1, 2, 2}), Random({2, 4, 2, 2})},
          "needs scores [1, 1, "),
      Wrong(
          "images of another size", Maps({8, 16}, {8, 8}, {1}),
          {Random({1, 1, 4, 4}), Random({1, 4, 4, 4}), Random({1, 1, 2, 3}), Random({1, 4, 2, 3})},
          "are of images of different sizes"),
      Wrong("three std", Maps({16}, {16}, {1}, {1, 1, 1}), {scores, still},
            "`std` needs 4 numbers"),
      Wrong("infinite std", Maps({16}, {16}, {1}, {1, 1, 1, kInfinity}), {scores, still},
            "`std` must be finite"),
      Wrong("a ratio of 0", Maps({16}, {16}, {0}), {scores, still}, "`ratios` must be at least"),
      Wrong("integers", OneMap(4),
            {Integers({1, 1, 2, 3}, DType::kI32, 0, 9), Integers({1, 4, 2, 3}, DType::kI32, 0, 9)},
            "needs f32 or f64"),
  };
}

}  // namespace cgrun::op_cases
