// Cases of arg_max, arg_min and top_k. Known results: by hand; those of NaN as NumPy's argmax.
#include <limits>

#include "src/ops/arg_max.h"
#include "src/ops/top_k.h"
#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Attributes Along(int64_t axis, bool keep_dims = false, bool last = false) {
  return Attributes::Of(ArgMaxAttributes{axis, keep_dims, last});
}

Attributes Top(int64_t k, int64_t axis = -1, bool smallest = false) {
  return Attributes::Of(TopKAttributes{k, axis, smallest});
}

CaseInput Table() { return Given({2, 3}, {3, 7, 7, -1, -5, -5}); }

// Sizes, types and refusals that both searches have in common.
std::vector<OpCase> SearchCases(std::vector<OpCase> cases) {
  const std::vector<OpCase> more = {
      {.name = "middle axis", .attributes = Along(1), .inputs = {Pattern({2, 5, 3}, 7, 30)}},
      {.name = "long lines", .attributes = Along(0), .inputs = {Pattern({67, 5}, 11, 400)}},
      {.name = "no such axis",
       .attributes = Along(2),
       .inputs = {Uniform({2, 3})},
       .error = "axes [2]"},
      {.name = "batch axis",
       .attributes = Along(0),
       .inputs = {Uniform({kBatchDim, 3})},
       .error = "the batch axis"},
      {.name = "bools",
       .attributes = Along(0),
       .inputs = {Integers({3}, DType::kBool, 0, 1)},
       .error = "floats or integers"},
  };
  cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

}  // namespace

std::vector<OpCase> arg_max() {
  return SearchCases({
      {.name = "rows", .attributes = Along(1), .inputs = {Table()}, .expected = {{1, 0}}},
      {.name = "the last of equal ones",
       .attributes = Along(-1, false, true),
       .inputs = {Table()},
       .expected = {{2, 0}}},
      {.name = "columns kept",
       .attributes = Along(0, true),
       .inputs = {Table()},
       .expected = {{0, 0, 0}}},
      {.name = "special values",
       .attributes = Along(1),
       .inputs = {Given({3, 3},
                        {1, kNaN, kNaN, -kInfinity, kInfinity, 2, -kInfinity, -kInfinity, -3})},
       .expected = {{1, 1, 2}}},
      {.name = "integers",
       .attributes = Along(0),
       .inputs = {Given({3}, {16777216, 16777217, -4}, DType::kI32)},
       .expected = {{1}}},
  });
}

std::vector<OpCase> arg_min() {
  return SearchCases({
      {.name = "rows", .attributes = Along(1), .inputs = {Table()}, .expected = {{0, 1}}},
      {.name = "the last of equal ones",
       .attributes = Along(-1, false, true),
       .inputs = {Table()},
       .expected = {{0, 2}}},
      {.name = "NaN",
       .attributes = Along(0),
       .inputs = {Given({4}, {1, kNaN, -kInfinity, kNaN})},
       .expected = {{1}}},
      {.name = "bytes",
       .attributes = Along(0, true),
       .inputs = {Given({3}, {255, 3, 200}, DType::kU8)},
       .expected = {{1}}},
  });
}

std::vector<OpCase> top_k() {
  return {
      {.name = "rows", .attributes = Top(2), .inputs = {Table()}, .expected = {{1, 2, 0, 1}}},
      {.name = "least",
       .attributes = Top(2, -1, true),
       .inputs = {Table()},
       .expected = {{0, 1, 1, 2}}},
      {.name = "columns",
       .attributes = Top(2, 0),
       .inputs = {Given({3, 2}, {1, 9, 5, 7, 3, 8})},
       .expected = {{1, 0, 2, 2}}},
      {.name = "NaN",
       .attributes = Top(4),
       .inputs = {Given({4}, {1, kNaN, kInfinity, -2})},
       .expected = {{1, 2, 0, 3}}},
      {.name = "NaN among the least",
       .attributes = Top(4, 0, true),
       .inputs = {Given({4}, {1, kNaN, kInfinity, -2})},
       .expected = {{3, 0, 2, 1}}},
      {.name = "integers",
       .attributes = Top(1),
       .inputs = {Given({2, 2}, {16777216, 16777217, -4, -5}, DType::kI64)},
       .expected = {{1, 0}}},
      {.name = "middle axis", .attributes = Top(3, 1), .inputs = {Pattern({2, 7, 5}, 11, 70)}},
      {.name = "more than there are",
       .attributes = Top(4),
       .inputs = {Uniform({2, 3})},
       .error = "`k` is 4, and axis 1 of [2, 3] is shorter"},
      {.name = "none",
       .attributes = Top(0),
       .inputs = {Uniform({2, 3})},
       .error = "`k` must be at least 1"},
      {.name = "batch axis",
       .attributes = Top(1, 0),
       .inputs = {Uniform({kBatchDim, 3})},
       .error = "the batch axis"},
  };
}

}  // namespace cgrun::op_cases
