// Cases of random_resized_crop, its gradient and random_erasing. Known results: by PyTorch's
// interpolate of the parts, and by hand, from boxes that Philox4x32-10 written out in Python draws.
#include "src/ops/random_erasing.h"
#include "src/ops/random_resized_crop.h"
#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr int64_t kKey = 5;

const RealList kScale = {0.2, 0.7}, kRatio = {0.5, 2};

Attributes Crop(IntList size, bool varied = true, RealList scale = kScale,
                RealList ratio = kRatio) {
  return Attributes::Of(RandomResizedCropAttributes{std::move(size), std::move(scale),
                                                    std::move(ratio), kKey, varied});
}

Attributes CropGrad(IntList size, Shape shape, bool varied = true) {
  return Attributes::Of(RandomResizedCropGradAttributes{std::move(size), kScale, kRatio, kKey,
                                                        varied, std::move(shape)});
}

Attributes Erase(double probability, double value = 0, bool varied = true,
                 RealList scale = kScale) {
  return Attributes::Of(
      RandomErasingAttributes{probability, std::move(scale), kRatio, value, kKey, varied});
}

}  // namespace

std::vector<OpCase> random_resized_crop() {
  const CaseInput x = Counted({2, 5, 6});
  return {
      // 3x3 from [1, 0]; 5x3 from [0, 1].
      {"known",
       Crop({2, 3}),
       {x, Step(3)},
       {{7.5, 8.5, 9.5, 16.5, 17.5, 18.5, 35.5, 36.5, 37.5, 50.5, 51.5, 52.5}}},
      {"in the middle outside training",
       Crop({2, 3}, false),
       {Counted({1, 5, 6}), Step(3)},
       {{3.5, 5.5, 7.5, 15.5, 17.5, 19.5}}},
      {"a square in the middle",
       Crop({2, 2}, false),
       {Counted({1, 2, 4}), Step(3)},
       {{1, 2, 5, 6}}},
      // Ten times more than there is: what is left is the middle, of the largest ratio allowed.
      {"what never fits",
       Crop({1, 2}, true, {1, 1}, {2, 2}),
       {Counted({1, 4, 4}), Step(3)},
       {{6.5, 8.5}}},
      {"all of it",
       Crop({2, 3}, true, {1, 1}, {1.5, 1.5}),
       {Counted({1, 2, 3}), Step(0)},
       {{0, 1, 2, 3, 4, 5}}},
      // Halves up.
      {"bytes",
       Crop({2, 3}, false),
       {Counted({1, 5, 6}, DType::kU8), Step(3)},
       {{4, 6, 8, 16, 18, 20}}},
      {"larger", Crop({7, 5}), {Uniform({2, 3, 4}), Step(6)}},
      {"random", Crop({3, 4}), {Uniform({3, 2, 5, 6}), Step(9)}},
      {"random, in the middle", Crop({3, 4}, false), {Uniform({2, 2, 5, 7}), Step(9)}},
      Refused("no samples", Crop({2, 2}), {Uniform({3, 4}), Step(0)}, "[N, …, height, width]"),
      Refused("one size", Crop({2}), {x, Step(0)}, "needs 2 numbers"),
      Refused("scale of 0", Crop({2, 2}, true, {0, 1}), {x, Step(0)}, "`scale` needs two"),
      Refused("scale above 1", Crop({2, 2}, true, {0.1, 1.1}), {x, Step(0)}, "`scale` needs two"),
      Refused("one scale", Crop({2, 2}, true, {0.1}), {x, Step(0)}, "`scale` needs two"),
      Refused("ratio backwards", Crop({2, 2}, true, kScale, {2, 1}), {x, Step(0)},
              "`ratio` needs two"),
      Refused("integers", Crop({2, 2}), {Integers({2, 5, 6}, DType::kI32, 0, 3), Step(0)},
              "uint8 or floating"),
      Refused("step of another type", Crop({2, 2}), {x, Uniform({})}, "`step` must be int64[]"),
  };
}

std::vector<OpCase> random_resized_crop_grad() {
  const CaseInput dy = Given({1, 1, 2}, {1, 4});
  return {
      // The crop is the mean of 2x2 pixels in the middle of 2x4: two above, and two below.
      {"known",
       CropGrad({1, 1}, {1, 2, 4}, false),
       {Given({1, 1, 1}, {4}), Step(0)},
       {{0, 1, 1, 0, 0, 1, 1, 0}}},
      {"channels", CropGrad({3, 2}, {2, 2, 4, 5}), {Uniform({2, 2, 3, 2}), Step(1)}},
      Refused("shape of dy", CropGrad({2, 1}, {3, 3, 3}), {dy, Step(0)}, "of shape [3, 2, 1]"),
      Refused("too large", CropGrad({1, 2}, {1, int64_t{1} << 40, int64_t{1} << 40}), {dy, Step(0)},
              "too large"),
      Refused("step of another shape", CropGrad({1, 2}, {1, 3, 3}),
              {dy, Integers({1}, DType::kI64, 0, 1)}, "`step` must be int64[]"),
  };
}

std::vector<OpCase> random_erasing() {
  const CaseInput x = Counted({1, 5, 6});
  return {
      // 3x3 from [1, 0].
      {"known", Erase(1, -1), {x, Step(3)}, {{0,  1,  2,  3,  4,  5,  -1, -1, -1, 9,
                                              10, 11, -1, -1, -1, 15, 16, 17, -1, -1,
                                              -1, 21, 22, 23, 24, 25, 26, 27, 28, 29}}},
      // 0.102 and 0.419: the first sample alone.
      {"rarely",
       Erase(0.3, 7),
       {Given({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), Step(3)},
       {{1, 2, 7, 4, 5, 6, 7, 8}}},
      {"never", Erase(0), {x, Step(3)}, {x.values}},
      {"outside training", Erase(1, 9, false), {x, Step(3)}, {x.values}},
      {"all",
       Erase(1, 255, true, {1, 1}),
       {Integers({2, 1, 1}, DType::kU8, 0, 9), Step(0)},
       {{255, 255}}},
      {"random", Erase(0.7, 0.5), {Uniform({5, 2, 4, 3}), Step(3)}},
      Refused("no samples", Erase(1), {Uniform({3, 4}), Step(0)}, "[N, …, height, width]"),
      Refused("value of bytes", Erase(1, -1), {Integers({1, 2, 2}, DType::kU8, 0, 1), Step(0)},
              "0 to 255"),
      Refused("scale", Erase(1, 0, true, {0.5, 2}), {x, Step(0)}, "`scale` needs two"),
      Refused("probability", Erase(1.5), {x, Step(0)}, "`probability` must be at most 1"),
      Refused("integers", Erase(1), {Integers({2, 5, 6}, DType::kI32, 0, 3), Step(0)},
              "uint8 or floating"),
  };
}

}  // namespace cgrun::op_cases
