// Cases of add, sub, mul, div: broadcasting of each kind, and IEEE 754's special values.
#include <limits>

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Shapes that go together in every way that gradients tell apart. Values of b keep away from 0.
std::vector<OpCase> Shapes() {
  std::vector<OpCase> cases;
  const auto add = [&](std::string name, Shape a, Shape b) {
    cases.push_back({std::move(name), {}, {Uniform(std::move(a)), Uniform(std::move(b), 0.5, 2)}});
  };
  add("same shape", {3, 4, 5}, {3, 4, 5});
  add("row", {3, 4}, {4});
  add("column", {3, 4}, {3, 1});
  add("scalar", {3, 4}, {});
  add("first is the scalar", {}, {2, 3});
  add("both repeated", {3, 1, 4}, {2, 1});
  add("leading axes of size 1", {5}, {1, 1, 5});
  add("leading and inner", {2, 3, 4}, {3, 1});
  add("channels", {2, 3, 4, 4}, {1, 3, 1, 1});
  add("two scalars", {}, {});
  cases.push_back({"shapes do not go together",
                   {},
                   {Uniform({2, 3}), Uniform({2})},
                   {},
                   {},
                   true,
                   "go together"});
  cases.push_back({"two batch sizes apart",
                   {},
                   {Uniform({kBatchDim, 3}), Uniform({Dim(2, true), 3})},
                   {},
                   {},
                   true,
                   "go together"});
  cases.push_back(
      {.name = "integers",
       .inputs = {Integers({2, 3}, DType::kI32, -9, 9), Integers({3}, DType::kI32, 1, 9)}});
  cases.push_back({.name = "bools",
                   .inputs = {Integers({2}, DType::kBool, 0, 1), Integers({2}, DType::kBool, 0, 1)},
                   .error = "one type, floats or integers"});
  cases.push_back({"types differ",
                   {},
                   {Uniform({2}), Given({2}, {1, 2}, DType::kF32)},
                   {},
                   {},
                   true,
                   "one type"});
  cases.push_back({"one input", {}, {Uniform({2})}, {}, {}, true, "takes 2 inputs"});
  return cases;
}

std::vector<OpCase> With(std::vector<OpCase> cases) {
  for (OpCase& op_case : Shapes()) cases.push_back(std::move(op_case));
  return cases;
}

}  // namespace

std::vector<OpCase> add() {
  return With({
      {.name = "known bytes",
       .inputs = {Given({2}, {250, 3}, DType::kU8), Given({2}, {10, 4}, DType::kU8)},
       .expected = {{4, 7}}},
      {.name = "known integers",
       .inputs = {Given({3}, {3, 2147483647, -7}, DType::kI32),
                  Given({3}, {5, 1, 10}, DType::kI32)},
       .expected = {{8, -2147483648.0, 3}}},
      {"known", {}, {Given({2, 2}, {1, 2, 3, 4}), Given({2}, {10, 20})}, {{11, 22, 13, 24}}},
      {"special values",
       {},
       {Given({4}, {kInfinity, kInfinity, kNaN, -0.0}), Given({4}, {1, -kInfinity, 1, -0.0})},
       {{kInfinity, kNaN, kNaN, -0.0}},
       {},
       false},
  });
}

std::vector<OpCase> sub() {
  return With({
      {.name = "known integers",
       .inputs = {Given({3}, {3, -2147483648.0, -7}, DType::kI32),
                  Given({3}, {5, 1, 10}, DType::kI32)},
       .expected = {{-2, 2147483647, -17}}},
      {"known", {}, {Given({2, 2}, {1, 2, 3, 4}), Given({2, 1}, {10, 20})}, {{-9, -8, -17, -16}}},
      {"known, first repeated",
       {},
       {Given({2}, {1, 2}), Given({2, 2}, {10, 20, 30, 40})},
       {{-9, -18, -29, -38}}},
  });
}

std::vector<OpCase> mul() {
  return With({
      {.name = "known integers",
       .inputs = {Given({3}, {3, 65536, -7}, DType::kI32), Given({3}, {5, 65536, 10}, DType::kI32)},
       .expected = {{15, 0, -70}}},
      {"known", {}, {Given({2, 2}, {1, 2, 3, 4}), Given({2}, {10, -1})}, {{10, -2, 30, -4}}},
      {"special values",
       {},
       {Given({3}, {kInfinity, 0, kNaN}), Given({3}, {0, -1, 0})},
       {{kNaN, -0.0, kNaN}},
       {},
       false},
  });
}

std::vector<OpCase> div() {
  return With({
      {.name = "known integers",
       .inputs = {Given({5}, {7, -7, 7, 5, -2147483648.0}, DType::kI32),
                  Given({5}, {2, 2, -2, 0, -1}, DType::kI32)},
       .expected = {{3, -3, -3, 0, -2147483648.0}}},
      {"known", {}, {Given({2, 2}, {1, 2, 3, 4}), Given({2}, {2, 4})}, {{0.5, 0.5, 1.5, 1}}},
      {"special values",
       {},
       {Given({4}, {1, -1, 0, 1}), Given({4}, {0, 0, 0, kInfinity})},
       {{kInfinity, -kInfinity, kNaN, 0}},
       {},
       false},
  });
}

}  // namespace cgrun::op_cases
