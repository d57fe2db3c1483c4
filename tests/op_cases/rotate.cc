// Cases of rotate, random_rotate and their gradients. Known results: PyTorch's grid_sample on the
// turned grid, torch.rot90, and angles that Philox4x32-10 written out in Python draws.
#include "src/ops/rotate.h"

#include <limits>

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Attributes By(double degrees, double fill = 0) {
  return Attributes::Of(RotateAttributes{degrees, fill});
}

Attributes Randomly(RealList degrees, double fill = 0, bool varied = true) {
  return Attributes::Of(RandomRotateAttributes{std::move(degrees), fill, 5, varied});
}

}  // namespace

std::vector<OpCase> rotate() {
  const CaseInput x = Counted({1, 3, 4}), square = Counted({1, 3, 3});
  return {
      {"30 degrees",
       By(30),
       {x},
       {{0.269151560335, 1.38517696412, 3.96891108675, 4.58141571296, 1.20096189432, 4.06698729811,
         6.93301270189, 9.79903810568, 3.1291651246, 7.03108891325, 8.33854359425, 3.95456899804}}},
      {"30 degrees, filled",
       By(30, 5),
       {x},
       {{3.34927857926, 1.96530398304, 3.96891108675, 6.07660624134, 1.20096189432, 4.06698729811,
         6.93301270189, 9.79903810568, 4.62435565298, 7.03108891325, 8.91867061317,
         7.03469601696}}},
      {"clockwise",
       By(-70.5),
       {x},
       {{7.41086454136, 4.94051062454, 1.50375151941, 0.266877649488, 5.27392361417, 7.21837955257,
         3.78162044743, 1.17249178281, 2.50766229592, 9.49624848059, 6.05948937546,
         2.70742630719}}},
      {"a quarter", By(90, 9), {square}, {{2, 5, 8, 1, 4, 7, 0, 3, 6}}},
      {"three quarters back", By(-270), {square}, {{2, 5, 8, 1, 4, 7, 0, 3, 6}}},
      {"a half, planes",
       By(540),
       {Counted({2, 2, 1, 3})},
       {{2, 1, 0, 5, 4, 3, 8, 7, 6, 11, 10, 9}}},
      {"not at all", By(0, 9), {x}, {x.values}},
      // Rounded to nearest, halves up: 0.586, 2.586, 2.929, …
      {"bytes", By(45), {Counted({1, 3, 3}, DType::kU8)}, {{1, 3, 3, 1, 4, 7, 2, 5, 4}}},
      {"random", By(17, 0.5), {Uniform({2, 2, 4, 3})}},
      Refused("no samples", By(3), {Uniform({3, 4})}, "[N, …, height, width]"),
      Refused("integers", By(3), {Integers({1, 3, 4}, DType::kI32, 0, 3)}, "uint8 or floating"),
      Refused("fill of bytes", By(3, 256), {Integers({1, 3, 4}, DType::kU8, 0, 3)}, "0 to 255"),
      Refused("degrees", By(kNaN), {x}, "`degrees`"),
  };
}

std::vector<OpCase> rotate_grad() {
  const CaseInput dy = Counted({1, 3, 3});
  return {
      {"a quarter", By(90), {dy}, {{6, 3, 0, 7, 4, 1, 8, 5, 2}}},
      {"not at all", By(0), {dy}, {dy.values}},
      {"planes", By(33), {Uniform({2, 3, 4, 5})}},
      Refused("no samples", By(3), {Uniform({3, 4})}, "[N, …, height, width]"),
  };
}

std::vector<OpCase> random_rotate() {
  const CaseInput x = Counted({2, 3, 3});
  return {
      // The images turn by -26.972 and -17.757 degrees.
      {"known",
       Randomly({-40, 30}, 1),
       {x, Step(3)},
       {{1.45013124469, 0.87276221487, 1.28676610008, 4.46945056742, 4.0, 3.53054943258,
         4.6445225347, 7.12723778513, 4.48115739009, 7.7269021271, 9.83794346139, 8.1646822143,
         12.9626041899, 13.0, 13.0373958101, 11.6590749036, 16.1620565386, 12.0968549908}}},
      {"all by one angle",
       Randomly({90, 90}),
       {x, Step(1)},
       {{2, 5, 8, 1, 4, 7, 0, 3, 6, 11, 14, 17, 10, 13, 16, 9, 12, 15}}},
      {"outside training", Randomly({90, 90}, 7, false), {x, Step(3)}, {x.values}},
      {"random, one number", Randomly({60}, 0.5), {Uniform({3, 2, 4, 3}), Step(2)}},
      {"random bytes", Randomly({60}), {Integers({3, 2, 4, 3}, DType::kU8, 0, 255), Step(2)}},
      Refused("three numbers", Randomly({1, 2, 3}), {x, Step(0)}, "1 or 2 numbers"),
      Refused("no number", Randomly({}), {x, Step(0)}, "1 or 2 numbers"),
      Refused("backwards", Randomly({3, -3}), {x, Step(0)}, "from the smaller"),
      Refused("below 0", Randomly({-3}), {x, Step(0)}, "from the smaller"),
      Refused("rows are the batch", Randomly({3}), {Uniform({3, kBatchDim, 4}), Step(0)},
              "[N, …, height, width]"),
      Refused("step of another type", Randomly({3}), {x, Uniform({})}, "`step` must be int64[]"),
  };
}

std::vector<OpCase> random_rotate_grad() {
  const CaseInput dy = Counted({1, 3, 3});
  return {
      {"all by one angle", Randomly({90, 90}), {dy, Step(3)}, {{6, 3, 0, 7, 4, 1, 8, 5, 2}}},
      {"outside training", Randomly({50}, 0, false), {dy, Step(3)}, {dy.values}},
      {"planes", Randomly({33}), {Uniform({2, 3, 4, 5}), Step(1)}},
      Refused("without a step", Randomly({3}), {dy}, "takes 2 inputs, not 1"),
  };
}

}  // namespace cgrun::op_cases
