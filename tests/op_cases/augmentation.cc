// Cases of random_crop, its gradient and random_flip. Known results: by hand, from offsets and
// choices that Philox4x32-10 written out in Python draws.
#include "src/ops/random_crop.h"
#include "src/ops/random_flip.h"
#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr int64_t kKey = 5;

Attributes Crop(IntList size, bool varied = true) {
  return Attributes::Of(RandomCropAttributes{std::move(size), kKey, varied});
}

Attributes CropGrad(IntList size, Shape shape, bool varied = true) {
  return Attributes::Of(RandomCropGradAttributes{std::move(size), kKey, varied, std::move(shape)});
}

Attributes Flip(IntList axes, double probability = 0.5, bool varied = true) {
  return Attributes::Of(RandomFlipAttributes{std::move(axes), probability, kKey, varied});
}

}  // namespace

std::vector<OpCase> random_crop() {
  const CaseInput x = Counted({3, 2, 3, 4});
  return {
      // The crops begin at rows and columns [0, 0], [1, 0], [0, 1].
      {"known, step 3", Crop({2, 2}), {x, Step(3)}, {{0,  1,  4,  5,  12, 13, 16, 17,
                                                      28, 29, 32, 33, 40, 41, 44, 45,
                                                      49, 50, 53, 54, 61, 62, 65, 66}}},
      // The crops begin at [1, 0], [0, 2], [1, 1].
      {"known, step 4", Crop({2, 2}), {x, Step(4)}, {{4,  5,  8,  9,  16, 17, 20, 21,
                                                      26, 27, 30, 31, 38, 39, 42, 43,
                                                      53, 54, 57, 58, 65, 66, 69, 70}}},
      {"in the middle outside training",
       Crop({1, 2}, false),
       {Counted({2, 3, 4}), Step(3)},
       {{5, 6, 17, 18}}},
      {"all of it", Crop({3, 4}), {x, Step(3)}, {x.values}},
      {"one sample", Crop({1, 1}), {Given({1, 1, 1}, {7}), Step(0)}, {{7}}},
      {"bytes",
       Crop({1, 1}, false),
       {Given({2, 1, 3}, {1, 255, 3, 4, 5, 6}, DType::kU8), Step(0)},
       {{255, 5}}},
      {"random", Crop({2, 3}), {Uniform({4, 2, 4, 5}), Step(9)}},
      {"random, in the middle", Crop({3, 2}, false), {Uniform({2, 2, 4, 5}), Step(9)}},
      Refused("too high", Crop({4, 4}), {x, Step(0)},
              "a part 4x4 does not lie in the images of [3, 2, 3, 4]"),
      Refused("size 0", Crop({0, 2}), {x, Step(0)}, "`size` must be at least 1"),
      Refused("one size", Crop({2}), {x, Step(0)}, "needs 2 numbers"),
      Refused("no samples", Crop({2, 2}), {Uniform({3, 4}), Step(0)}, "[N, …, height, width]"),
      Refused("rows are the batch", Crop({1, 1}), {Uniform({3, kBatchDim, 4}), Step(0)},
              "[N, …, height, width]"),
      Refused("step of another type", Crop({2, 2}), {x, Uniform({})}, "`step` must be int64[]"),
      Refused("without a step", Crop({2, 2}), {x}, "takes 2 inputs, not 1"),
  };
}

std::vector<OpCase> random_crop_grad() {
  const CaseInput dy = Given({3, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const Shape whole = {3, 3, 3};
  return {
      // To [0, 0], [1, 0], [0, 1].
      {"known",
       CropGrad({2, 2}, whole),
       {dy, Step(3)},
       {{1, 2, 0, 3, 4, 0, 0, 0, 0, 0, 0, 0, 5, 6, 0, 7, 8, 0, 0, 9, 10, 0, 11, 12, 0, 0, 0}}},
      {"in the middle",
       CropGrad({1, 1}, {2, 3, 1}, false),
       {Given({2, 1, 1}, {1, 2}), Step(3)},
       {{0, 1, 0, 0, 2, 0}}},
      {"channels", CropGrad({2, 1}, {2, 3, 4, 2}), {Uniform({2, 3, 2, 1}), Step(1)}},
      Refused("shape of dy", CropGrad({2, 1}, whole), {dy, Step(0)}, "of shape [3, 2, 1]"),
      Refused("too large", CropGrad({2, 2}, {3, int64_t{1} << 31, int64_t{1} << 31}), {dy, Step(0)},
              "too large"),
      Refused("step of another shape", CropGrad({2, 2}, whole),
              {dy, Integers({1}, DType::kI64, 0, 1)}, "`step` must be int64[]"),
  };
}

std::vector<OpCase> random_flip() {
  const CaseInput x = Counted({4, 3});
  return {
      // Samples 0, 1 and 3.
      {"known, step 3", Flip({1}), {x, Step(3)}, {{2, 1, 0, 5, 4, 3, 6, 7, 8, 11, 10, 9}}},
      // Samples 1 and 2.
      {"known, step 4", Flip({-1}), {x, Step(4)}, {{0, 1, 2, 5, 4, 3, 8, 7, 6, 9, 10, 11}}},
      // 0.186, 0.318, 0.609, 0.197: below 0.19 is the first alone.
      {"rarely", Flip({1}, 0.19), {x, Step(3)}, {{2, 1, 0, 3, 4, 5, 6, 7, 8, 9, 10, 11}}},
      {"never", Flip({1}, 0), {x, Step(3)}, {x.values}},
      {"always", Flip({1}, 1), {x, Step(3)}, {{2, 1, 0, 5, 4, 3, 8, 7, 6, 11, 10, 9}}},
      {"outside training", Flip({1}, 1, false), {x, Step(3)}, {x.values}},
      {"two axes together",
       Flip({1, 2}, 1),
       {Counted({2, 2, 2}), Step(0)},
       {{3, 2, 1, 0, 7, 6, 5, 4}}},
      {"bytes", Flip({1}, 1), {Counted({1, 3}, DType::kU8), Step(0)}, {{2, 1, 0}}},
      {"random", Flip({2}), {Uniform({5, 2, 3, 2}), Step(3)}},
      Refused("samples", Flip({0}), {x, Step(0)}, "cannot be flipped"),
      Refused("samples from the end", Flip({-2}), {x, Step(0)}, "cannot be flipped"),
      Refused("batch elsewhere", Flip({1}), {Uniform({2, kBatchDim}), Step(0)},
              "the axis of the samples must be 0"),
      Refused("no axis", Flip({}), {x, Step(0)}, "`axes` is empty"),
      Refused("no such axis", Flip({2}), {x, Step(0)}, "axes [2]"),
      Refused("probability", Flip({1}, 1.5), {x, Step(0)}, "`probability` must be at most 1"),
      Refused("step of another type", Flip({1}), {x, Uniform({})}, "`step` must be int64[]"),
  };
}

}  // namespace cgrun::op_cases
