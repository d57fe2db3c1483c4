// Cases of relu_bits and of the gradient by them. Known results: by hand.
#include <limits>

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

CaseInput AnyBits(Shape shape) { return Integers(std::move(shape), DType::kU8, 0, 255); }

}  // namespace

std::vector<OpCase> relu_bits() {
  return {
      {.name = "vector",
       .inputs = {Given({10}, {1, 0, 2, -3, kInfinity, kNaN, -0.0, 0.5, -kInfinity, 4})},
       .expected = {{1 + 4 + 16 + 128, 2}}},
      {.name = "rows",
       .inputs = {Given({2, 9}, {1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1})},
       .expected = {{255, 0, 0, 1}}},
      {.name = "planes",
       .inputs = {Given({1, 3, 2}, {1, 0, 0, 2, 3, 4})},
       .expected = {{1 + 4, 2 + 4}}},
      {.name = "images", .inputs = {Uniform({2, 16, 3, 5})}},
      {.name = "channels that leave a part of a byte over", .inputs = {Uniform({3, 21, 4, 7})}},
      {.name = "few channels", .inputs = {Uniform({2, 3, 9, 2})}},
      {.name = "three axes", .inputs = {Uniform({2, 12, 33})}},
      {.name = "matrix", .inputs = {Uniform({3, 70})}},
      Refused("scalar", {}, {Uniform({})}, "cannot pack []"),
      Refused("axis of the batch", {}, {Uniform({kBatchDim})}, "must not depend on the batch"),
      Refused("integers", {}, {Integers({4}, DType::kI32, 0, 3)}, "floating-point"),
  };
}

std::vector<OpCase> relu_grad_by_bits() {
  return {
      {.name = "vector",
       .inputs = {Given({2}, {1 + 4 + 128, 2 + 4}, DType::kU8),
                  Given({10}, {1, 2, 3, 4, 5, 6, 7, kNaN, 9, -kInfinity})},
       .expected = {{1, 0, 3, 0, 0, 0, 0, kNaN, 0, -kInfinity}}},
      {.name = "planes",
       .inputs = {Given({1, 1, 2}, {1 + 4, 2 + 4}, DType::kU8),
                  Given({1, 3, 2}, {1, 2, 3, 4, 5, 6})},
       .expected = {{1, 0, 0, 4, 5, 6}}},
      {.name = "images", .inputs = {AnyBits({2, 2, 3, 5}), Uniform({2, 16, 3, 5})}},
      {.name = "channels that leave a part of a byte over",
       .inputs = {AnyBits({3, 3, 4, 7}), Uniform({3, 21, 4, 7})}},
      {.name = "few channels", .inputs = {AnyBits({2, 1, 9, 2}), Uniform({2, 3, 9, 2})}},
      {.name = "three axes", .inputs = {AnyBits({2, 2, 33}), Uniform({2, 12, 33})}},
      {.name = "matrix", .inputs = {AnyBits({3, 9}), Uniform({3, 70})}},
      Refused("bits of another shape", {}, {AnyBits({2, 3}), Uniform({2, 16})},
              "needs bits uint8[2, 2]"),
      Refused("bits of another type", {}, {Uniform({2, 2}), Uniform({2, 16})},
              "needs bits uint8[2, 2]"),
      Refused("axis of the batch", {}, {AnyBits({1}), Uniform({kBatchDim})},
              "must not depend on the batch"),
      Refused("integers", {}, {AnyBits({1}), Integers({4}, DType::kI32, 0, 3)}, "floating-point"),
  };
}

}  // namespace cgrun::op_cases
