// Cases of the operators that read and write at indices. Known results: by hand, and the examples
// of ONNX's Gather, GatherElements, GatherND, ScatterElements and ScatterND.
#include "src/ops/gather.h"

#include <limits>

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Attributes Axis(int64_t axis) { return Attributes::Of(GatherAttributes{axis}); }
Attributes GradOf(int64_t axis, Shape shape) {
  return Attributes::Of(GatherGradAttributes{axis, std::move(shape)});
}
Attributes Elements(int64_t axis) { return Attributes::Of(GatherElementsAttributes{axis}); }
Attributes Blocks(int64_t batch_dims) { return Attributes::Of(GatherNdAttributes{batch_dims}); }
Attributes WriteElements(int64_t axis, std::string reduction = "none") {
  return Attributes::Of(ScatterElementsAttributes{axis, std::move(reduction)});
}
Attributes WriteBlocks(int64_t batch_dims, std::string reduction = "none") {
  return Attributes::Of(ScatterNdAttributes{batch_dims, std::move(reduction)});
}

CaseInput Index(Shape shape, std::vector<double> values, DType dtype = DType::kI64) {
  return Given(std::move(shape), std::move(values), dtype);
}

CaseInput Table() { return Given({3, 2}, {1, 2, 3, 4, 5, 6}); }

}  // namespace

std::vector<OpCase> gather() {
  return {
      {"rows", Axis(0), {Table(), Index({2, 2}, {0, 1, 1, -1})}, {{1, 2, 3, 4, 3, 4, 5, 6}}},
      {"columns",
       Axis(1),
       {Table(), Index({3}, {1, 0, -2}, DType::kI32)},
       {{2, 1, 1, 4, 3, 3, 6, 5, 5}}},
      {"one", Axis(-1), {Table(), Index({}, {1}, DType::kU8)}, {{2, 4, 6}}},
      {.name = "outside",
       .attributes = Axis(0),
       .inputs = {Table(), Index({3}, {3, -4, 1})},
       .expected = {{kNaN, kNaN, kNaN, kNaN, 3, 4}},
       .check_gradient = false},
      {"integers outside",
       Axis(0),
       {Given({2}, {7, 8}, DType::kI32), Index({3}, {2, 1, -3})},
       {{0, 8, 0}}},
      {"bools", Axis(0), {Given({2}, {0, 1}, DType::kBool), Index({3}, {1, 0, 5})}, {{1, 0, 0}}},
      {"middle axis", Axis(1), {Uniform({3, 7, 5}), Integers({2, 4}, DType::kI64, -7, 6)}},
      {"large slices", Axis(0), {Uniform({7, 203}), Integers({9, 11}, DType::kI32, -7, 6)}},
      Refused("no indices", Axis(0), {Table(), Uniform({2})}, "indices of type uint8"),
      Refused("no such axis", Axis(2), {Table(), Index({1}, {0})}, "axes [2]"),
      Refused("batch axis", Axis(0), {Uniform({kBatchDim, 3}), Index({1}, {0})}, "the batch axis"),
      Refused("two batch axes", Axis(1), {Uniform({kBatchDim, 3}), Index({kBatchDim}, {})},
              "two batch axes"),
  };
}

std::vector<OpCase> gather_grad() {
  return {
      {"sums by entry",
       GradOf(0, {4, 2}),
       {Index({4}, {2, 0, -2, 2}), Given({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})},
       {{3, 4, 0, 0, 13, 16, 0, 0}}},
      {"columns, and one outside",
       GradOf(1, {2, 3}),
       {Index({3}, {2, 3, 0}, DType::kI32), Given({2, 3}, {1, 2, 3, 4, 5, 6})},
       {{3, 0, 1, 6, 0, 4}}},
      // In this order alone 1 stays: 1e20 − 1e20 comes first.
      {"order",
       GradOf(0, {2, 1}),
       {Index({4}, {1, 0, 1, 1}), Given({4, 1}, {1e20, 7, -1e20, 1})},
       {{7, 1}}},
      Refused("shape of dy", GradOf(0, {4, 2}), {Index({4}, {}), Uniform({4, 3})},
              "a floating-point gradient of shape [4, 2]"),
  };
}

std::vector<OpCase> gather_elements() {
  return {
      {"rows",
       Elements(1),
       {Given({2, 2}, {1, 2, 3, 4}), Index({2, 2}, {0, 0, 1, 0})},
       {{1, 1, 4, 3}}},
      {"columns, fewer of them",
       Elements(0),
       {Given({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}),
        Index({2, 3}, {-1, -2, 0, -2, 0, 0}, DType::kI32)},
       {{7, 5, 3, 4, 2, 3}}},
      {.name = "outside",
       .attributes = Elements(-1),
       .inputs = {Given({3}, {1, 2, 3}), Index({4}, {3, 0, -4, -3})},
       .expected = {{kNaN, 1, kNaN, 1}},
       .check_gradient = false},
      {"bytes outside",
       Elements(0),
       {Given({2}, {7, 8}, DType::kU8), Index({2}, {1, 2})},
       {{8, 0}}},
      {"middle axis", Elements(1), {Uniform({3, 4, 5}), Integers({3, 6, 5}, DType::kI64, -4, 3)}},
      Refused("axes", Elements(0), {Table(), Index({3}, {})}, "do not fit"),
      Refused("longer on another axis", Elements(0), {Table(), Index({1, 3}, {})}, "do not fit"),
      Refused("batch axis", Elements(0), {Uniform({kBatchDim, 3}), Index({kBatchDim, 3}, {})},
              "the batch axis"),
  };
}

std::vector<OpCase> scatter_elements() {
  const CaseInput x = Given({1, 5}, {1, 2, 3, 4, 5});
  const CaseInput twice = Index({1, 2}, {1, 1}), updates = Given({1, 2}, {1.5, 2.25});
  return {
      {"one axis",
       WriteElements(1),
       {x, Index({1, 2}, {1, 3}), Given({1, 2}, {1.5, 2.25})},
       {{1, 1.5, 3, 2.25, 5}}},
      {"columns",
       WriteElements(0),
       {Given({3, 3}, {0, 0, 0, 0, 0, 0, 0, 0, 0}), Index({2, 3}, {1, 0, 2, 0, 2, 1}),
        Given({2, 3}, {1, 1.5, 2, 3, 4, 5})},
       {{3, 1.5, 0, 1, 0, 5, 0, 4, 2}}},
      {"negative, and one outside",
       WriteElements(1),
       {x, Index({1, 3}, {-4, 5, -6}), Given({1, 3}, {9, 8, 7})},
       {{1, 9, 3, 4, 5}}},
      {"sums", WriteElements(1, "add"), {x, twice, updates}, {{1, 5.75, 3, 4, 5}}},
      {"products", WriteElements(1, "mul"), {x, twice, updates}, {{1, 6.75, 3, 4, 5}}, {}, false},
      {"least", WriteElements(1, "min"), {x, twice, updates}, {{1, 1.5, 3, 4, 5}}, {}, false},
      {"largest", WriteElements(1, "max"), {x, twice, updates}, {{1, 2.25, 3, 4, 5}}, {}, false},
      {"integers",
       WriteElements(0, "add"),
       {Given({2}, {2147483647, 5}, DType::kI32), Index({2}, {0, 1}),
        Given({2}, {1, 2}, DType::kI32)},
       {{-2147483648.0, 7}}},
      {"bools",
       WriteElements(0),
       {Given({2}, {0, 1}, DType::kBool), Index({1}, {0}), Given({1}, {1}, DType::kBool)},
       {{1, 1}}},
      {"gradient",
       WriteElements(1),
       {Uniform({2, 4, 3}), Index({2, 2, 3}, {0, 1, 2, 3, 2, 1, 3, 2, 1, 0, 1, 2}),
        Uniform({2, 2, 3})}},
      {"gradient of sums",
       WriteElements(1, "add"),
       {Uniform({2, 4, 3}), Integers({2, 5, 3}, DType::kI64, -4, 3), Uniform({2, 5, 3})}},
      Refused("shape of the updates", WriteElements(1), {x, twice, Uniform({1, 3})},
              "`updates` must be"),
      Refused("sum of bools", WriteElements(0, "add"),
              {Given({2}, {0, 1}, DType::kBool), Index({1}, {0}), Given({1}, {1}, DType::kBool)},
              "needs floats or integers"),
      Refused("no such reduction", WriteElements(1, "sum"), {x, twice, updates},
              "`reduction` must be one of"),
  };
}

std::vector<OpCase> gather_nd() {
  const CaseInput cube = Counted({2, 2, 2});
  return {
      {"elements", Blocks(0), {Given({2, 2}, {0, 1, 2, 3}), Index({2, 2}, {0, 0, 1, 1})}, {{0, 3}}},
      {"rows", Blocks(0), {Given({2, 2}, {0, 1, 2, 3}), Index({2, 1}, {1, 0})}, {{2, 3, 0, 1}}},
      {"blocks", Blocks(0), {cube, Index({2, 1, 2}, {0, 1, 1, 0})}, {{2, 3, 4, 5}}},
      {"batches", Blocks(1), {cube, Index({2, 1}, {1, 0}, DType::kI32)}, {{2, 3, 4, 5}}},
      {.name = "negative, and one outside",
       .attributes = Blocks(0),
       .inputs = {cube, Index({2, 2}, {-1, -2, 0, 2})},
       .expected = {{4, 5, kNaN, kNaN}},
       .check_gradient = false},
      {"random", Blocks(1), {Uniform({3, 4, 5, 2}), Integers({3, 6, 2}, DType::kI64, -4, 3)}},
      Refused("tuple too long", Blocks(0), {Uniform({2, 2}), Index({1, 3}, {})}, "do not fit"),
      Refused("batches differ", Blocks(1), {Uniform({2, 2}), Index({3, 1}, {})}, "do not fit"),
      Refused("batch axis", Blocks(0), {Uniform({kBatchDim, 2}), Index({1, 1}, {})}, "do not fit"),
  };
}

std::vector<OpCase> scatter_nd() {
  const CaseInput x = Given({4}, {1, 2, 3, 4});
  const CaseInput index = Index({3, 1}, {3, 1, -1}), updates = Given({3}, {9, 8, 7});
  return {
      {"elements, one twice", WriteBlocks(0), {x, index, updates}, {{1, 8, 3, 7}}, {}, false},
      {"sums", WriteBlocks(0, "add"), {x, index, updates}, {{1, 10, 3, 20}}},
      {"products", WriteBlocks(0, "mul"), {x, index, updates}, {{1, 16, 3, 252}}, {}, false},
      {"least", WriteBlocks(0, "min"), {x, index, updates}, {{1, 2, 3, 4}}, {}, false},
      {"largest", WriteBlocks(0, "max"), {x, index, updates}, {{1, 8, 3, 9}}, {}, false},
      {"rows, and one outside",
       WriteBlocks(0),
       {Table(), Index({2, 1}, {2, 3}), Given({2, 2}, {9, 8, 7, 7})},
       {{1, 2, 3, 4, 9, 8}}},
      {"integers",
       WriteBlocks(0),
       {Given({2}, {5, 6}, DType::kI32), Index({1, 1}, {0}), Given({1}, {7}, DType::kI32)},
       {{7, 6}}},
      {"gradient",
       WriteBlocks(1),
       {Uniform({2, 4, 3}), Index({2, 2, 1}, {0, 2, 3, 1}), Uniform({2, 2, 3})}},
      {"gradient of sums",
       WriteBlocks(0, "add"),
       {Uniform({4, 3}), Integers({5, 2}, DType::kI64, -3, 2), Uniform({5})}},
      Refused("shape of the updates", WriteBlocks(0), {x, index, Uniform({2})},
              "`updates` must be"),
      Refused("no tuples", WriteBlocks(0), {x, Index({}, {}), Uniform({})}, "do not fit"),
  };
}

}  // namespace cgrun::op_cases
