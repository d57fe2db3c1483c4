// Makers of case inputs and of cases.
#include "tests/op_cases/op_case.h"

#include <numeric>
#include <utility>

namespace cgrun {

CaseInput Uniform(Shape shape, double low, double high) {
  CaseInput input;
  input.shape = std::move(shape);
  input.low = low;
  input.high = high;
  return input;
}

CaseInput Integers(Shape shape, DType dtype, int64_t low, int64_t high) {
  CaseInput input = Uniform(std::move(shape), static_cast<double>(low), static_cast<double>(high));
  input.dtype = dtype;
  return input;
}

CaseInput Given(Shape shape, std::vector<double> values, DType dtype) {
  CaseInput input;
  input.shape = std::move(shape);
  input.values = std::move(values);
  input.dtype = dtype;
  return input;
}

CaseInput Fixed(Shape shape, DType dtype, double low, double high) {
  CaseInput input = Uniform(std::move(shape), low, high);
  input.dtype = dtype;
  input.fixed_dtype = true;
  return input;
}

CaseInput Pattern(Shape shape, int64_t factor, int64_t modulus) {
  std::vector<double> values;
  for (int64_t i = 0; i < shape.Elements(); ++i) {
    values.push_back(static_cast<double>(i * factor % modulus - modulus / 2));
  }
  return Given(std::move(shape), std::move(values));
}

CaseInput Counted(const Shape& shape, DType dtype) {
  std::vector<double> values(static_cast<size_t>(shape.Elements()));
  std::iota(values.begin(), values.end(), 0);
  return Given(shape, std::move(values), dtype);
}

CaseInput Step(int64_t step) { return Given({}, {static_cast<double>(step)}, DType::kI64); }

CaseInput AtLeastF32(CaseInput input) {
  input.at_least_f32 = true;
  return input;
}

OpCase Refused(std::string name, Attributes attributes, std::vector<CaseInput> inputs,
               std::string error) {
  return {.name = std::move(name),
          .attributes = std::move(attributes),
          .inputs = std::move(inputs),
          .error = std::move(error)};
}

}  // namespace cgrun
