// Cases of detections. Known results: by hand, and where it is said by NumPy after Matterport's
// DetectionLayer with NonMaxSuppression of ONNX's reference evaluator (onnx 1.23).
#include "src/ops/detections.h"

#include <limits>

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Coordinates are no less than f32.
CaseInput Numbers(Shape shape, std::vector<double> values) {
  return AtLeastF32(Given(std::move(shape), std::move(values)));
}
CaseInput Random(Shape shape) { return AtLeastF32(Uniform(std::move(shape))); }
CaseInput Zeros(Shape shape) {
  const auto elements = static_cast<size_t>(shape.Elements());
  return Numbers(std::move(shape), std::vector<double>(elements, 0));
}
CaseInput Image(int64_t images, int64_t height, int64_t width) {
  return Integers({images, 3, height, width}, DType::kU8, 0, 255);
}

Attributes Most(int64_t count, double min_score = 0.5, double max_iou = 0.3) {
  return Attributes::Of(DetectionsAttributes{count, min_score, max_iou});
}

// The boxes have 10 × 10 pixels. The second overlaps with the first by 80 of 120, the third with
// none.
CaseInput ThreeBoxes() { return Numbers({1, 3, 4}, {0, 0, 10, 10, 2, 0, 12, 10, 20, 20, 30, 30}); }

}  // namespace

std::vector<OpCase> detections() {
  const CaseInput still = Zeros({1, 3, 3, 4});
  return {
      {.name = "the best of a class that overlap",
       .attributes = Most(3),
       .inputs = {ThreeBoxes(), Numbers({1, 3, 3}, {0.2, 0.7, 0.1, 0.1, 0.8, 0.1, 0, 0.4, 0.6}),
                  still, Image(1, 32, 40)},
       .expected = {{2, 0, 12, 10, 1, 0.8, 20, 20, 30, 30, 2, 0.6, 0, 0, 0, 0, 0, 0}}},
      {.name = "things of different classes may overlap",
       .attributes = Most(3),
       .inputs = {ThreeBoxes(), Numbers({1, 3, 3}, {0.2, 0.7, 0.1, 0.1, 0.1, 0.8, 0, 0.4, 0.6}),
                  still, Image(1, 32, 40)},
       .expected = {{2, 0, 12, 10, 2, 0.8, 0, 0, 10, 10, 1, 0.7, 20, 20, 30, 30, 2, 0.6}}},
      {.name = "no more than count",
       .attributes = Most(1),
       .inputs = {ThreeBoxes(), Numbers({1, 3, 3}, {0.2, 0.7, 0.1, 0.1, 0.1, 0.8, 0, 0.4, 0.6}),
                  still, Image(1, 32, 40)},
       .expected = {{2, 0, 12, 10, 2, 0.8}}},
      // The first is background, the second just good enough, the third not.
      {.name = "background and low scores",
       .attributes = Most(2),
       .inputs = {ThreeBoxes(),
                  Numbers({1, 3, 3}, {0.75, 0.125, 0.125, 0.25, 0.5, 0.25, 0.375, 0.125, 0.4375}),
                  still, Image(1, 32, 40)},
       .expected = {{2, 0, 12, 10, 1, 0.5, 0, 0, 0, 0, 0, 0}}},
      {.name = "of equal scores the first, of classes and of boxes",
       .attributes = Most(3, 0.25, 1),
       .inputs = {ThreeBoxes(),
                  Numbers({1, 3, 3}, {0.25, 0.25, 0.5, 0, 0.5, 0.5, 0.375, 0.375, 0.25}), still,
                  Image(1, 32, 40)},
       .expected = {{0, 0, 10, 10, 2, 0.5, 2, 0, 12, 10, 1, 0.5, 0, 0, 0, 0, 0, 0}}},
      // The deltas of class 2 give 5 = 0.1·5·10 to the right and 20 = 0.1·20·10 up.
      {.name = "deltas of its class, cut off at the edges",
       .attributes = Most(1),
       .inputs = {Numbers({1, 1, 4}, {20, 20, 30, 30}), Numbers({1, 1, 3}, {0, 0.25, 0.75}),
                  Numbers({1, 1, 3, 4}, {9, 9, 9, 9, 8, 8, 8, 8, 5, -20, 0, 0}), Image(1, 32, 32)},
       .expected = {{25, 0, 32, 10, 2, 0.75}}},
      {.name = "boxes without an area are none",
       .attributes = Most(2),
       .inputs = {Numbers({1, 3, 4}, {0, 0, 0, 0, 4, 4, 4, 9, 2, 0, 12, 10}),
                  Numbers({1, 3, 2}, {0, 1, 0.125, 0.875, 0.25, 0.75}), Zeros({1, 3, 2, 4}),
                  Image(1, 32, 32)},
       .expected = {{2, 0, 12, 10, 1, 0.75, 0, 0, 0, 0, 0, 0}}},
      {.name = "scores that are NaN are none",
       .attributes = Most(2, 0),
       .inputs = {Numbers({1, 2, 4}, {0, 0, 10, 10, 20, 20, 30, 30}),
                  Numbers({1, 2, 2}, {0.25, kNaN, 0, 0.5}), Zeros({1, 2, 2, 4}), Image(1, 32, 32)},
       .expected = {{20, 20, 30, 30, 1, 0.5, 0, 0, 0, 0, 0, 0}}},
      // The results were made with NumPy and ONNX.
      {.name = "two images",
       .attributes = Most(4, 0.4),
       .inputs = {Numbers(
                      {2, 8, 4},
                      {-1.9, 0.1,  14,   19.3, -0.9, 1.1,  15,   20.3, 0.5,  5.9,  12,   22.8, -0.5,
                       4.9,  11,   21.8, 12.7, -1.2, 30.6, 14.7, 13.5, -2.2, 29.7, 15.6, 7.8,  9.5,
                       20.9, 26.6, 12.4, 22.3, 31,   31.6, 1.7,  13.2, 19.9, 25.9, 2.7,  14.2, 20.9,
                       26.9, -4.2, 21.6, 12.2, 33.1, -5.2, 20.6, 11.2, 32.1, 18,   11.6, 32.8, 24.4,
                       17.7, 12.9, 33.1, 23.2, -0.4, 12.5, 9.8,  29.4, 4.5,  -1.2, 21.5, 13.6}),
                  Numbers({2, 8, 3}, {0.47, 0.1,  0.43, 0.1,  0.55, 0.35, 0.26, 0.41, 0.33, 0.65,
                                      0.04, 0.3,  0.17, 0.39, 0.43, 0.67, 0.1,  0.23, 0.21, 0.37,
                                      0.42, 0.48, 0.15, 0.37, 0.49, 0.04, 0.47, 0.23, 0.36, 0.41,
                                      0.38, 0.3,  0.32, 0.24, 0.6,  0.15, 0.27, 0.3,  0.43, 0.42,
                                      0.02, 0.56, 0.15, 0.56, 0.29, 0.23, 0.54, 0.23}),
                  AtLeastF32(Pattern({2, 8, 3, 4}, 7, 11)), Image(2, 24, 32)},
       .expected = {{0,
                     14.0664419445,
                     10.23,
                     22.6935580555,
                     1,
                     0.55,
                     0.901377635292,
                     0,
                     32,
                     13.2801519274,
                     2,
                     0.43,
                     17.3052837836,
                     0.731625061389,
                     24.4947162164,
                     24,
                     2,
                     0.42,
                     8.26635845633,
                     0,
                     13.4336415437,
                     24,
                     1,
                     0.41,
                     0,
                     17.15,
                     22.8894356136,
                     24,
                     1,
                     0.6,
                     12.3729498282,
                     9.44785176292,
                     32,
                     16.3521482371,
                     2,
                     0.56,
                     0,
                     7.27172513649,
                     13.992805882,
                     21.1082748635,
                     1,
                     0.56,
                     27.1176921353,
                     7.1723219351,
                     32,
                     24,
                     2,
                     0.43}}},
      Refused("bf16", Most(1), {Integers({1, 3, 4}, DType::kBF16, 0, 9), still, still, still},
              "needs f32 or f64"),
      Refused("no boxes", Most(1), {Random({3, 4}), Random({1, 3, 3}), still, Image(1, 4, 4)},
              "needs boxes [N, boxes, 4]"),
      Refused("scores of other boxes", Most(1),
              {ThreeBoxes(), Random({1, 2, 3}), still, Image(1, 4, 4)},
              "scores must be [1, 3, 3] for boxes [1, 3, 4]"),
      Refused("one class", Most(1),
              {ThreeBoxes(), Random({1, 3, 1}), Random({1, 3, 1, 4}), Image(1, 4, 4)},
              "of the background and of one class"),
      Refused("deltas of other classes", Most(1),
              {ThreeBoxes(), Random({1, 3, 3}), Random({1, 3, 2, 4}), Image(1, 4, 4)},
              "deltas must be [1, 3, 3, 4] for scores [1, 3, 3]"),
      Refused("other images", Most(1), {ThreeBoxes(), Random({1, 3, 3}), still, Image(2, 4, 4)},
              "needs images [1, channels, height, width]"),
      Refused("a score above 1", Most(1, 1.5),
              {ThreeBoxes(), Random({1, 3, 3}), still, Image(1, 4, 4)},
              "`min_score` must be at most 1"),
  };
}

}  // namespace cgrun::op_cases
