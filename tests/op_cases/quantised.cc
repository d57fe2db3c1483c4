// Cases of products of 8-bit integers. Known results: by hand.
#include "src/ops/conv_integer.h"
#include "tests/op_cases/op_cases.h"

namespace cgrun::op_cases {
namespace {

CaseInput Signed(Shape shape, std::vector<double> values) {
  return Given(std::move(shape), std::move(values), DType::kI8);
}
CaseInput Unsigned(Shape shape, std::vector<double> values) {
  return Given(std::move(shape), std::move(values), DType::kU8);
}
CaseInput AnySigned(Shape shape) { return Integers(std::move(shape), DType::kI8, -128, 127); }
CaseInput AnyUnsigned(Shape shape) { return Integers(std::move(shape), DType::kU8, 0, 255); }
CaseInput All(Shape shape, DType dtype, int64_t value) {
  return Integers(std::move(shape), dtype, value, value);
}

Attributes Windows(IntList stride, IntList padding, IntList dilation = {1, 1}, int64_t groups = 1) {
  return Attributes::Of(
      ConvIntegerAttributes{std::move(stride), std::move(padding), std::move(dilation), groups});
}

OpCase RefusedProduct(std::string name, std::vector<CaseInput> inputs, std::string error) {
  return Refused(std::move(name), {}, std::move(inputs), std::move(error));
}

}  // namespace

std::vector<OpCase> matmul_integer() {
  const CaseInput zero = Signed({1}, {0}), unsigned_zero = Unsigned({1}, {0});
  return {
      {.name = "known",
       .inputs = {Signed({2, 3}, {1, 2, 3, 4, 5, -6}), Signed({3, 2}, {1, 0, 2, -1, 0, 3}), zero,
                  zero},
       .expected = {{5, 7, 14, -23}}},
      {.name = "zero points of rows and columns",
       .inputs = {Unsigned({2, 2}, {10, 11, 20, 22}), Signed({2, 2}, {1, 2, 3, 4}),
                  Unsigned({2}, {10, 20}), Signed({2}, {0, 1})},
       .expected = {{3, 3, 6, 6}}},
      // −128·−128 fills 15 bits: two of them overflow where int16 is summed.
      {.name = "the least numbers",
       .inputs = {All({3, 70}, DType::kI8, -128), All({70, 5}, DType::kI8, -128), zero, zero},
       .expected = {std::vector<double>(15, 70 * 16384)}},
      {.name = "the largest bytes",
       .inputs = {All({5, 33}, DType::kU8, 255), All({33, 3}, DType::kU8, 255), unsigned_zero,
                  unsigned_zero},
       .expected = {std::vector<double>(15, 33 * 65025)}},
      // Bytes less their zero points lie in ±255.
      {.name = "the largest differences",
       .inputs = {All({2, 64}, DType::kU8, 0), All({64, 2}, DType::kI8, 127), Unsigned({}, {255}),
                  Signed({}, {-128})},
       .expected = {std::vector<double>(4, -64 * 65025)}},
      // 255²·33,026 is above 2³¹.
      {.name = "a sum that wraps around",
       .inputs = {All({1, 33026}, DType::kU8, 255), All({33026, 1}, DType::kU8, 255), unsigned_zero,
                  unsigned_zero},
       .expected = {{65025.0 * 33026 - 4294967296.0}}},
      {.name = "a row and a column",
       .inputs = {AnyUnsigned({1, 7}), AnySigned({7, 1}), AnyUnsigned({1}), AnySigned({1})}},
      {.name = "many rows and columns",
       .inputs = {AnyUnsigned({37, 70}), AnySigned({70, 67}), AnyUnsigned({37}), AnySigned({67})}},
      {.name = "a stack and one matrix",
       .inputs = {AnySigned({2, 3, 5, 6}), AnyUnsigned({6, 9}), AnySigned({1}), AnyUnsigned({9})}},
      {.name = "one matrix and a stack",
       .inputs = {AnySigned({5, 6}), AnySigned({4, 6, 2}), AnySigned({5}), AnySigned({1})}},
      RefusedProduct("floats", {Uniform({2, 2}), AnySigned({2, 2}), zero, zero},
                     "needs int8 or uint8"),
      RefusedProduct("inner sizes differ", {AnySigned({2, 3}), AnySigned({2, 3}), zero, zero},
                     "go together"),
      RefusedProduct("a zero point of another type",
                     {AnyUnsigned({2, 2}), AnySigned({2, 2}), zero, zero}, "must be one uint8"),
      RefusedProduct("too many zero points",
                     {AnySigned({2, 2}), AnySigned({2, 2}), zero, AnySigned({3})}, "or 2 of them"),
  };
}

std::vector<OpCase> conv_integer() {
  const CaseInput zero = Signed({1}, {0});
  const CaseInput x = Unsigned({1, 1, 3, 3}, {2, 3, 4, 5, 6, 7, 8, 9, 10});
  const CaseInput ones = Unsigned({1, 1, 2, 2}, {1, 1, 1, 1});
  return {
      // This is the example of ONNX ConvInteger.
      {.name = "known",
       .attributes = Windows({1, 1}, {0, 0, 0, 0}),
       .inputs = {x, ones, Unsigned({1}, {1}), Unsigned({1}, {0})},
       .expected = {{12, 16, 24, 28}}},
      {.name = "padding is the zero point",
       .attributes = Windows({1, 1}, {1, 1, 1, 1}),
       .inputs = {x, ones, Unsigned({}, {1}), Unsigned({}, {0})},
       .expected = {{1, 3, 5, 3, 5, 12, 16, 9, 11, 24, 28, 15, 7, 15, 17, 9}}},
      {.name = "the least numbers",
       .attributes = Windows({1, 1}, {0, 0, 0, 0}),
       .inputs = {All({1, 40, 2, 2}, DType::kI8, -128), All({3, 40, 1, 1}, DType::kI8, -128), zero,
                  zero},
       .expected = {std::vector<double>(12, 40 * 16384)}},
      {.name = "the largest differences",
       .attributes = Windows({1, 1}, {0, 0, 0, 0}),
       .inputs = {All({1, 40, 1, 2}, DType::kU8, 255), All({2, 40, 1, 1}, DType::kU8, 0),
                  Unsigned({1}, {0}), Unsigned({2}, {255, 254})},
       .expected = {{-40 * 65025, -40 * 65025, -40 * 255 * 254, -40 * 255 * 254}}},
      {.name = "images",
       .attributes = Windows({2, 1}, {1, 0, 2, 1}),
       .inputs = {AnyUnsigned({2, 3, 9, 11}), AnySigned({5, 3, 3, 2}), AnyUnsigned({1}),
                  AnySigned({5})}},
      {.name = "groups and dilation",
       .attributes = Windows({1, 1}, {2, 2, 2, 2}, {2, 2}, 2),
       .inputs = {AnySigned({1, 6, 10, 10}), AnySigned({4, 3, 3, 3}), AnySigned({1}),
                  AnySigned({1})}},
      {.name = "depthwise, and padding that is wider than the image",
       .attributes = Windows({1, 1}, {3, 3, 3, 3}, {1, 1}, 3),
       .inputs = {AnyUnsigned({2, 3, 2, 2}), AnyUnsigned({3, 1, 3, 3}), AnyUnsigned({1}),
                  AnyUnsigned({3})}},
      {.name = "same",
       .attributes = Windows({2, 2}, {-1, -1, -1, -1}),
       .inputs = {AnyUnsigned({1, 2, 17, 16}), AnySigned({9, 2, 3, 3}), AnyUnsigned({1}),
                  AnySigned({9})}},
      Refused("floats", Windows({1, 1}, {0, 0, 0, 0}),
              {Uniform({1, 1, 2, 2}), AnySigned({1, 1, 1, 1}), zero, zero}, "needs int8 or uint8"),
      Refused("channels differ", Windows({1, 1}, {0, 0, 0, 0}),
              {AnySigned({1, 2, 2, 2}), AnySigned({1, 1, 1, 1}), zero, zero}, "do not fit"),
      Refused("rows", Windows({1, 1}, {0, 0, 0, 0}),
              {AnySigned({1, 2, 2}), AnySigned({1, 2, 1}), zero, zero}, "needs images"),
      Refused("two zero points of x", Windows({1, 1}, {0, 0, 0, 0}),
              {AnySigned({1, 1, 2, 2}), AnySigned({2, 1, 1, 1}), AnySigned({2}), zero},
              "a zero point must be one int8"),
      Refused("a filter that is too large", Windows({1, 1}, {0, 0, 0, 0}),
              {AnySigned({1, 1, 2, 2}), AnySigned({1, 1, 3, 3}), zero, zero}, "kernel"),
  };
}

}  // namespace cgrun::op_cases
