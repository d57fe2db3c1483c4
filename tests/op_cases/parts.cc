// Cases of concat, slice, pad and their gradients. Known results: by hand.
#include <limits>

#include "src/ops/concat.h"
#include "src/ops/pad.h"
#include "src/ops/slice.h"
#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

Attributes Join(int64_t axis) { return Attributes::Of(ConcatAttributes{axis}); }

Attributes Part(int64_t axis, int64_t begin, int64_t size) {
  return Attributes::Of(ConcatGradAttributes{axis, Shape{begin}, Shape{size}});
}

Attributes Cut(IntList axes, IntList starts, IntList ends, IntList steps = {}) {
  return Attributes::Of(
      SliceAttributes{std::move(axes), std::move(starts), std::move(ends), std::move(steps)});
}

Attributes Around(std::string mode, IntList axes, IntList before, IntList after) {
  return Attributes::Of(
      PadAttributes{std::move(axes), std::move(before), std::move(after), 0, std::move(mode)});
}

Attributes Frame(IntList axes, IntList before, IntList after, double value = 0) {
  return Attributes::Of(PadAttributes{std::move(axes), std::move(before), std::move(after), value});
}

}  // namespace

std::vector<OpCase> concat() {
  const CaseInput a = Given({2, 2}, {1, 2, 3, 4}), b = Given({2, 1}, {5, 6});
  return {
      {"columns", Join(1), {a, b}, {{1, 2, 5, 3, 4, 6}}},
      {"rows", Join(0), {a, Given({1, 2}, {7, 8})}, {{1, 2, 3, 4, 7, 8}}},
      {"one input", Join(0), {a}, {{1, 2, 3, 4}}},
      {"bytes",
       Join(0),
       {Given({2}, {1, 2}, DType::kU8), Given({1}, {3}, DType::kU8)},
       {{1, 2, 3}}},
      {"three along the middle",
       Join(1),
       {Uniform({2, 1, 3}), Uniform({2, 2, 3}), Uniform({2, 3, 3})}},
      {"last axis from the end", Join(-1), {Uniform({2, 3}), Uniform({2, 1})}},
      Refused("other sizes differ", Join(0), {a, b}, "cannot join"),
      Refused("ranks differ", Join(0), {a, Uniform({2})}, "cannot join"),
      Refused("types differ", Join(0), {a, Given({1, 2}, {1, 2}, DType::kI32)}, "cannot join"),
      Refused("no such axis", Join(2), {a, b}, "axes [2]"),
      Refused("batch and a number", Join(0), {Uniform({kBatchDim, 2}), a}, "depend on the batch"),
      Refused("no inputs", Join(0), {}, "at least 1 input"),
  };
}

std::vector<OpCase> concat_grad() {
  const CaseInput dy = Given({2, 3}, {1, 2, 3, 4, 5, 6});
  return {
      {"first columns", Part(1, 0, 2), {dy}, {{1, 2, 4, 5}}},
      {"last column", Part(1, 2, 1), {dy}, {{3, 6}}},
      {"last row", Part(0, 1, 1), {dy}, {{4, 5, 6}}},
      {"all", Part(1, 0, 3), {dy}, {{1, 2, 3, 4, 5, 6}}},
      Refused("beyond the end", Part(1, 2, 2), {dy}, "no part begins"),
      Refused("empty", Part(1, 2, 0), {dy}, "no part begins"),
      Refused("no such axis", Part(2, 0, 1), {dy}, "no part begins"),
  };
}

std::vector<OpCase> slice() {
  const CaseInput x = Given({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  return {
      {"columns", Cut({1}, {1}, {3}), {x}, {{2, 3, 6, 7}}},
      {"every other", Cut({1}, {0}, {kEnd}, {2}), {x}, {{1, 3, 5, 7}}},
      {"every third from the second", Cut({1}, {1}, {4}, {3}), {x}, {{2, 6}}},
      {"from the end", Cut({-1}, {-2}, {-1}), {x}, {{3, 7}}},
      {"beyond both ends", Cut({1}, {-9}, {9}), {x}, {{1, 2, 3, 4, 5, 6, 7, 8}}},
      {"first axes", Cut({}, {1, 2}, {2, 4}), {x}, {{7, 8}}},
      {"nothing cut", Cut({}, {}, {}), {x}, {{1, 2, 3, 4, 5, 6, 7, 8}}},
      {"bytes", Cut({0}, {1}, {3}), {Given({3}, {7, 8, 9}, DType::kU8)}, {{8, 9}}},
      {"two axes with steps", Cut({2, 1}, {1, 0}, {5, 3}, {2, 2}), {Uniform({2, 3, 5})}},
      Refused("nothing is left", Cut({1}, {3}, {3}), {x}, "nothing is left of axis 1"),
      Refused("beyond the end", Cut({1}, {4}, {9}), {x}, "nothing is left of axis 1"),
      Refused("lengths differ", Cut({1}, {0}, {1, 2}), {x}, "differ in length"),
      Refused("steps differ", Cut({1}, {0}, {1}, {1, 1}), {x}, "differ in length"),
      Refused("step 0", Cut({1}, {0}, {1}, {0}), {x}, "`steps` must be at least 1"),
      Refused("no such axis", Cut({2}, {0}, {1}), {x}, "axes [2]"),
      Refused("batch axis", Cut({0}, {0}, {1}), {Uniform({kBatchDim, 3})}, "the batch axis"),
  };
}

std::vector<OpCase> slice_grad() {
  const auto whole = [](IntList starts, IntList ends, IntList steps, Shape shape) {
    return Attributes::Of(SliceGradAttributes{
        {1}, std::move(starts), std::move(ends), std::move(steps), std::move(shape)});
  };
  return {
      {"columns",
       whole({1}, {3}, {}, {2, 4}),
       {Given({2, 2}, {1, 2, 3, 4})},
       {{0, 1, 2, 0, 0, 3, 4, 0}}},
      {"every other",
       whole({0}, {kEnd}, {2}, {2, 4}),
       {Given({2, 2}, {1, 2, 3, 4})},
       {{1, 0, 2, 0, 3, 0, 4, 0}}},
      {"random", whole({-3}, {-1}, {}, {2, 5, 3}), {Uniform({2, 2, 3})}},
      Refused("shape of dy", whole({1}, {3}, {}, {2, 4}), {Uniform({2, 3})}, "of shape [2, 2]"),
  };
}

std::vector<OpCase> pad() {
  const CaseInput x = Given({2, 2}, {1, 2, 3, 4});
  return {
      {"columns", Frame({1}, {1}, {2}), {x}, {{0, 1, 2, 0, 0, 0, 3, 4, 0, 0}}},
      {"all around, 9",
       Frame({}, {1, 1}, {}, 9),
       {x},
       {{9, 9, 9, 9, 9, 1, 2, 9, 9, 3, 4, 9, 9, 9, 9, 9}}},
      {"one width for all", Frame({0, 1}, {1}, {0}), {x}, {{0, 0, 0, 0, 1, 2, 0, 3, 4}}},
      {"minus infinity",
       Frame({0}, {0}, {1}, -std::numeric_limits<double>::infinity()),
       {Given({1}, {5})},
       {{5, -std::numeric_limits<double>::infinity()}},
       {},
       false},
      {"bytes", Frame({0}, {1}, {1}, 255), {Given({2}, {7, 8}, DType::kU8)}, {{255, 7, 8, 255}}},
      {"nothing added", Frame({1}, {0}, {0}), {x}, {{1, 2, 3, 4}}},
      {"two axes", Frame({-1, 1}, {1, 0}, {0, 2}, 0.5), {Uniform({2, 3, 4})}},
      Refused("negative", Frame({1}, {-1}, {0}), {x}, "`before` must be at least 0"),
      Refused("lengths differ", Frame({1}, {1}, {1, 2}), {x}, "differ in length"),
      Refused("no such axis", Frame({2}, {1}, {1}), {x}, "axes [2]"),
      Refused("too large", Frame({1}, {kEnd}, {1}), {x}, "too much padding"),
      Refused("batch axis", Frame({0}, {1}, {0}), {Uniform({kBatchDim, 3})}, "the batch axis"),
      Refused("value is no byte", Frame({0}, {1}, {0}, 256), {Integers({2}, DType::kU8, 0, 9)},
              "`value` 256 is no uint8"),
      {"mirrored", Around("reflect", {0}, {2}, {1}), {Given({3}, {1, 2, 3})}, {{3, 2, 1, 2, 3, 2}}},
      {"mirrored twice",
       Around("reflect", {0}, {4}, {0}),
       {Given({3}, {1, 2, 3})},
       {{1, 2, 3, 2, 1, 2, 3}}},
      {"one element mirrored", Around("reflect", {0}, {2}, {1}), {Given({1}, {5})}, {{5, 5, 5, 5}}},
      {"edges",
       Around("edge", {0, 1}, {1, 0}, {0, 2}),
       {x},
       {{1, 2, 2, 2, 1, 2, 2, 2, 3, 4, 4, 4}}},
      {"wrapped",
       Around("wrap", {0}, {4}, {1}),
       {Given({3}, {1, 2, 3})},
       {{3, 1, 2, 3, 1, 2, 3, 1}}},
      {"bytes mirrored",
       Around("reflect", {0}, {1}, {1}),
       {Given({3}, {7, 8, 9}, DType::kU8)},
       {{8, 7, 8, 9, 8}}},
      {"images mirrored", Around("reflect", {2, 3}, {1, 2}, {2, 1}), {Uniform({2, 3, 4, 5})}},
      {"middle axis wrapped", Around("wrap", {1}, {2}, {3}), {Uniform({2, 3, 2})}},
      {"edges of all", Around("edge", {}, {1, 2}, {2, 1}), {Uniform({2, 3})}},
      Refused("no such mode", Around("mirror", {1}, {1}, {1}), {x}, "`mode` must be one of"),
  };
}

std::vector<OpCase> pad_grad() {
  const auto of = [](std::string mode, IntList before, IntList after, Shape shape) {
    return Attributes::Of(PadGradAttributes{
        {0}, std::move(before), std::move(after), std::move(mode), std::move(shape)});
  };
  return {
      {"mirrored", of("reflect", {2}, {1}, {3}), {Counted({6})}, {{2, 9, 4}}},
      {"edges", of("edge", {2}, {1}, {2}), {Counted({5})}, {{3, 7}}},
      Refused("shape of dy", of("wrap", {1}, {0}, {3}), {Uniform({3})},
              "a floating-point gradient"),
  };
}

}  // namespace cgrun::op_cases
