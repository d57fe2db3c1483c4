// Cases of the reductions: axes in every position, kept and dropped, ties and special values.
#include "src/ops/reduce.h"

#include <limits>

#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Attributes Axes(IntList axes, bool keep_dims = false) {
  return Attributes::Of(ReduceAttributes{std::move(axes), keep_dims});
}

std::vector<OpCase> With(std::vector<OpCase> cases) {
  const auto add = [&](std::string name, Attributes attributes, Shape shape) {
    cases.push_back({std::move(name), std::move(attributes), {Uniform(std::move(shape))}});
  };
  add("all axes", Axes({}), {2, 3, 4});
  add("all axes, kept", Axes({}, true), {2, 3, 4});
  add("first axis", Axes({0}), {5, 4});
  add("last axis, kept", Axes({-1}, true), {5, 4});
  add("middle axis", Axes({1}), {2, 3, 4});
  add("outer axes", Axes({0, 2}), {2, 3, 4});
  add("outer axes in another order, kept", Axes({-1, 0}, true), {2, 3, 4});
  add("axes of size 1", Axes({1}), {3, 1, 4});
  add("one element", Axes({}), {1, 1});
  add("scalar", Axes({}), {});
  cases.push_back({"no such axis", Axes({2}), {Uniform({2, 3})}, {}, {}, true, "axes [2]"});
  cases.push_back({"axis twice", Axes({1, -1}), {Uniform({2, 3})}, {}, {}, true, "stand once"});
  return cases;
}

std::vector<OpCase> WithIntegers(std::vector<OpCase> cases) {
  cases.push_back({"integers", Axes({1}), {Integers({2, 3}, DType::kI32, -9, 9)}});
  cases.push_back(
      Refused("bools", Axes({}), {Integers({2, 3}, DType::kBool, 0, 1)}, "floats or integers"));
  return With(std::move(cases));
}

}  // namespace

std::vector<OpCase> reduce_sum() {
  const CaseInput x = Given({2, 3}, {1, 2, 3, 4, 5, 6});
  return WithIntegers({
      {"integers in their own type",
       Axes({1}),
       {Given({2, 2}, {2147483647, 1, -5, 3}, DType::kI32)},
       {{-2147483648.0, -2}}},
      {"bytes", Axes({0}), {Given({3}, {200, 55, 2}, DType::kU8)}, {{1}}},
      {"known, all", Axes({}), {x}, {{21}}},
      {"known, rows", Axes({1}), {x}, {{6, 15}}},
      {"known, columns kept", Axes({0}, true), {x}, {{5, 7, 9}}},
      {"special values",
       Axes({1}),
       {Given({3, 2}, {kInfinity, 1, kInfinity, -kInfinity, -0.0, -0.0})},
       {{kInfinity, kNaN, -0.0}},
       {},
       false},
  });
}

std::vector<OpCase> reduce_mean() {
  const CaseInput x = Given({2, 3}, {1, 2, 3, 4, 5, 6});
  return With({
      {"known, all", Axes({}), {x}, {{3.5}}},
      {"known, rows", Axes({-1}), {x}, {{2, 5}}},
      {"known, columns", Axes({0}), {x}, {{2.5, 3.5, 4.5}}},
      Refused("integers", Axes({}), {Integers({2, 3}, DType::kI32, 0, 9)}, "floating-point"),
  });
}

std::vector<OpCase> reduce_max() {
  return WithIntegers({
      {"negative integers", Axes({0}), {Given({3}, {-7, -3, -5}, DType::kI64)}, {{-3}}},
      {"known, rows", Axes({1}), {Given({2, 3}, {1, 7, 3, -4, -5, -6})}, {{7, -4}}},
      {"special values",
       Axes({1}),
       {Given({3, 3}, {1, kNaN, 3, -kInfinity, -kInfinity, -kInfinity, 2, kInfinity, 1})},
       {{kNaN, -kInfinity, kInfinity}},
       {},
       false},
  });
}

std::vector<OpCase> reduce_min() {
  return WithIntegers({
      {"known, rows", Axes({1}), {Given({2, 3}, {1, 7, 3, -4, -5, -6})}, {{1, -6}}},
      {"large integers", Axes({0}), {Given({3}, {70, 30, 50}, DType::kI64)}, {{30}}},
      {"special values",
       Axes({1}),
       {Given({3, 3}, {1, kNaN, 3, kInfinity, kInfinity, kInfinity, 2, -kInfinity, 1})},
       {{kNaN, kInfinity, -kInfinity}},
       {},
       false},
  });
}

std::vector<OpCase> reduce_prod() {
  return {
      {"known, rows", Axes({1}), {Given({2, 3}, {1, 7, 3, -4, -5, -6})}, {{21, -120}}},
      {"integers", Axes({0}), {Given({3, 1}, {3, -5, 7}, DType::kI64)}, {{-105}}},
      {"bytes", Axes({0}), {Given({2}, {16, 17}, DType::kU8)}, {{16}}},
      {"all axes", Axes({}), {Uniform({2, 3}, 0.5, 1.5)}},
      {"kept", Axes({-1, 0}, true), {Uniform({2, 2, 3}, -1.5, 1.5)}},
      {"a zero, two zeros and none", Axes({1}), {Given({3, 3}, {2, 0, 3, 0, 5, 0, 2, 3, 4})}},
      Refused("bools", Axes({}), {Integers({2}, DType::kBool, 0, 1)}, "floats or integers"),
  };
}

std::vector<OpCase> reduce_prod_grad() {
  return {
      {"others",
       Axes({1}),
       {Given({3, 3}, {2, 0, 3, 0, 5, 0, 2, 3, 4}), Given({3}, {10, 10, 10})},
       {{0, 60, 0, 0, 0, 0, 120, 80, 60}}},
      Refused("shape of dy", Axes({0}), {Uniform({2, 3}), Uniform({2})}, "needs f64[3]"),
  };
}

std::vector<OpCase> reduce_max_grad() {
  return {
      {"ties share",
       Axes({1}),
       {Given({2, 3}, {1, 7, 7, 4, 4, 4}), Given({2}, {7, 4}), Given({2}, {3, 6})},
       {{0, 1.5, 1.5, 2, 2, 2}}},
      {"columns kept",
       Axes({0}, true),
       {Given({2, 3}, {1, 7, 3, 4, 5, 2}), Given({1, 3}, {4, 7, 3}), Given({1, 3}, {-1, 2, 0.5})},
       {{0, 2, 0.5, -1, 0, 0}}},
      {"NaN",
       Axes({0}),
       {Given({3}, {1, kNaN, 3}), Given({}, {kNaN}), Given({}, {2})},
       {{0, 2, 0}},
       {},
       false},
      {"shape of y",
       Axes({0}),
       {Uniform({2, 3}), Uniform({2}), Uniform({2})},
       {},
       {},
       true,
       "needs f64[3]"},
  };
}

}  // namespace cgrun::op_cases
