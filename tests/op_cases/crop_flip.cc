// Cases of crop and flip. Known results: by hand.
#include <limits>

#include "src/ops/crop.h"
#include "src/ops/flip.h"
#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Attributes Part(IntList size, IntList offset = {}) {
  return Attributes::Of(CropAttributes{std::move(size), std::move(offset)});
}

Attributes Along(IntList axes) { return Attributes::Of(FlipAttributes{std::move(axes)}); }

OpCase Refused(std::string name, Attributes attributes, CaseInput input, std::string error) {
  return {.name = std::move(name),
          .attributes = std::move(attributes),
          .inputs = {std::move(input)},
          .error = std::move(error)};
}

}  // namespace

std::vector<OpCase> crop() {
  const CaseInput x = Given({3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  return {
      {"known, at an offset", Part({2, 2}, {1, 2}), {x}, {{6, 7, 10, 11}}},
      {"known, in the middle", Part({1, 2}), {x}, {{5, 6}}},
      {"an odd row less above and to the left", Part({2, 1}), {x}, {{1, 5}}},
      {"all of it", Part({3, 4}), {x}, {x.values}},
      {"a pixel of several images",
       Part({1, 1}, {0, 1}),
       {Given({2, 1, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})},
       {{2, 6}}},
      {"bytes", Part({1, 2}), {Given({1, 4}, {250, 251, 252, 253}, DType::kU8)}, {{251, 252}}},
      {.name = "infinity and NaN",
       .attributes = Part({1, 2}, {0, 1}),
       .inputs = {Given({1, 3}, {1, kNaN, -kInfinity})},
       .expected = {{kNaN, -kInfinity}},
       .check_gradient = false},
      {"random", Part({2, 3}, {1, 1}), {Uniform({2, 3, 4, 5})}},
      {"random, in the middle", Part({3, 2}), {Uniform({2, 3, 4, 5})}},
      Refused("too high", Part({4, 4}), x, "a part 4x4 does not lie in the images of [3, 4]"),
      Refused("beyond the last column", Part({2, 2}, {1, 3}), x, "2x2 from 1x3 does not lie"),
      Refused("far beyond", Part({2, 2}, {std::numeric_limits<int64_t>::max(), 0}), x, "from 9"),
      Refused("size 0", Part({0, 2}), x, "`size` must be at least 1"),
      Refused("negative offset", Part({2, 2}, {-1, 0}), x, "`offset` must be at least 0"),
      Refused("one size", Part({2}), x, "2 numbers each"),
      Refused("no images", Part({2, 2}), Uniform({kBatchDim, 4}), "[N, …, height, width]"),
      Refused("vector", Part({1, 1}), Uniform({4}), "[N, …, height, width]"),
  };
}

std::vector<OpCase> flip() {
  const CaseInput x = Given({2, 3}, {1, 2, 3, 4, 5, 6});
  return {
      {"columns", Along({1}), {x}, {{3, 2, 1, 6, 5, 4}}},
      {"rows", Along({0}), {x}, {{4, 5, 6, 1, 2, 3}}},
      {"both", Along({-1, 0}), {x}, {{6, 5, 4, 3, 2, 1}}},
      {"the axis in the middle",
       Along({1}),
       {Given({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})},
       {{3, 4, 1, 2, 7, 8, 5, 6}}},
      {"outer axes", Along({0, 1}), {Given({2, 2, 1}, {1, 2, 3, 4})}, {{4, 3, 2, 1}}},
      {"a size of 1", Along({0}), {Given({1, 2}, {1, 2})}, {{1, 2}}},
      {"bytes", Along({-1}), {Given({3}, {1, 2, 255}, DType::kU8)}, {{255, 2, 1}}},
      {.name = "infinity and NaN",
       .attributes = Along({0}),
       .inputs = {Given({3}, {kNaN, kInfinity, -0.0})},
       .expected = {{-0.0, kInfinity, kNaN}},
       .check_gradient = false},
      {"random", Along({1, 3}), {Uniform({2, 3, 4, 5})}},
      Refused("no axis", Along({}), x, "`axes` is empty"),
      Refused("no such axis", Along({2}), x, "axes [2] do not fit [2, 3]"),
      Refused("axis twice", Along({1, -1}), x, "do not fit"),
      Refused("batch", Along({0}), Uniform({kBatchDim, 3}), "batch axis cannot be flipped"),
  };
}

}  // namespace cgrun::op_cases
