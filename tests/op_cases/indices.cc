// Cases of one_hot, embedding and its gradient. Known results: by hand.
#include <limits>

#include "src/ops/embedding.h"
#include "src/ops/one_hot.h"
#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Attributes Classes(int64_t classes, double on = 1, double off = 0, DType dtype = DType::kF32) {
  return Attributes::Of(OneHotAttributes{classes, on, off, dtype});
}

Attributes Table(int64_t entries, int64_t units) {
  return Attributes::Of(EmbeddingAttributes{entries, units, DType::kF32});
}

CaseInput Ids(Shape shape, std::vector<double> values, DType dtype = DType::kI32) {
  return Given(std::move(shape), std::move(values), dtype);
}

}  // namespace

std::vector<OpCase> one_hot() {
  return {
      {.name = "rows",
       .attributes = Classes(3),
       .inputs = {Ids({3}, {1, 0, 2})},
       .expected = {{0, 1, 0, 1, 0, 0, 0, 0, 1}}},
      {.name = "outside",
       .attributes = Classes(2, 5, -1),
       .inputs = {Ids({2, 2}, {-1, 1, 2, 0}, DType::kI64)},
       .expected = {{-1, -1, -1, 5, -1, -1, 5, -1}}},
      {.name = "bytes as f64",
       .attributes = Classes(2, 1, 0, DType::kF64),
       .inputs = {Ids({}, {1}, DType::kU8)},
       .expected = {{0, 1}}},
      {.name = "bf16",
       .attributes = Classes(4, 0.9, 0.1, DType::kBF16),
       .inputs = {Ids({1}, {3}, DType::kI64)},
       .expected = {{0.10009765625, 0.10009765625, 0.10009765625, 0.8984375}}},
      {.name = "no class",
       .attributes = Classes(0),
       .inputs = {Ids({2}, {})},
       .error = "`classes` must be at least 1"},
      {.name = "no indices",
       .attributes = Classes(2),
       .inputs = {Uniform({2})},
       .error = "indices of type uint8, int32 or int64, not f64[2]"},
      {.name = "to integers",
       .attributes = Classes(2, 1, 0, DType::kI32),
       .inputs = {Ids({2}, {})},
       .error = "`dtype` must be a floating-point type, not int32"},
  };
}

std::vector<OpCase> embedding() {
  const CaseInput weight = Given({3, 2}, {1, 2, 3, 4, 5, 6});
  return {
      {.name = "rows",
       .attributes = Table(3, 2),
       .inputs = {Ids({4}, {2, 0, 2, 1}), weight},
       .expected = {{5, 6, 1, 2, 5, 6, 3, 4}}},
      {.name = "outside",
       .attributes = Table(3, 2),
       .inputs = {Ids({3}, {3, 1, -1}, DType::kI64), weight},
       .expected = {{kNaN, kNaN, 3, 4, kNaN, kNaN}},
       .check_gradient = false},
      {.name = "one id",
       .attributes = Table(3, 2),
       .inputs = {Ids({}, {1}, DType::kU8), weight},
       .expected = {{3, 4}}},
      {.name = "sequences",
       .attributes = Table(7, 3),
       .inputs = {Integers({4, 5}, DType::kI32, 0, 6), Uniform({7, 3})}},
      {.name = "more entries than ids",
       .attributes = Table(20, 2),
       .inputs = {Integers({3}, DType::kI64, 0, 19), Uniform({20, 2})}},
      {.name = "large rows",
       .attributes = Table(7, 203),
       .inputs = {Integers({9, 11}, DType::kU8, 0, 6), Uniform({7, 203})}},
      {.name = "ids are no integers",
       .attributes = Table(3, 2),
       .inputs = {Uniform({4}), weight},
       .error = "ids of type uint8, int32 or int64, not f64[4]"},
      {.name = "weight of another shape",
       .attributes = Table(3, 2),
       .inputs = {Ids({4}, {}), Uniform({2, 3})},
       .error = "`weight` must be f64[3, 2] for an input int32[4], not f64[2, 3]"},
      {.name = "weight of integers",
       .attributes = Table(3, 2),
       .inputs = {Ids({4}, {}), Integers({3, 2}, DType::kI32, 0, 1)},
       .error = "`weight` must be of a floating-point type"},
      {.name = "no entry",
       .attributes = Table(0, 2),
       .inputs = {Ids({4}, {}), Uniform({0, 2})},
       .error = "`entries` must be at least 1"},
  };
}

std::vector<OpCase> embedding_grad() {
  const CaseInput dy = Given({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  return {
      {.name = "sums by entry",
       .attributes = Table(4, 2),
       .inputs = {Ids({4}, {2, 0, 2, 2}), dy},
       .expected = {{3, 4, 0, 0, 13, 16, 0, 0}}},
      {.name = "outside",
       .attributes = Table(2, 2),
       .inputs = {Ids({2, 2}, {-1, 1, 2, 1}), Given({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})},
       .expected = {{0, 0, 10, 12}}},
      // In this order alone 1 stays: 1e20 − 1e20 comes first.
      {.name = "order",
       .attributes = Table(2, 1),
       .inputs = {Ids({4}, {1, 0, 1, 1}, DType::kI64), Given({4, 1}, {1e20, 7, -1e20, 1})},
       .expected = {{7, 1}}},
      {.name = "nothing but -0",
       .attributes = Table(2, 1),
       .inputs = {Ids({2}, {1, 1}), Given({2, 1}, {-0.0, -0.0})},
       .expected = {{0, 0}}},
      {.name = "large rows",
       .attributes = Table(7, 203),
       .inputs = {Integers({9, 11}, DType::kI64, -1, 5), Uniform({9, 11, 203})}},
      {.name = "gradient of another shape",
       .attributes = Table(4, 2),
       .inputs = {Ids({4}, {}), Uniform({4, 3})},
       .error = "a floating-point gradient of shape [4, 2], not f64[4, 3]"},
  };
}

}  // namespace cgrun::op_cases
