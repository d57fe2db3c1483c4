// Declarative operator cases: one drives type inference, the forward kernel in every number type,
// its in-place form, the gradient against finite differences, and each device against `reference`.
#ifndef CGRUN_TESTS_OP_CASES_OP_CASE_H_
#define CGRUN_TESTS_OP_CASES_OP_CASE_H_

#include <string>
#include <vector>

#include "src/ir/attributes.h"

namespace cgrun {

// Says how one input is made. Floating-point inputs take each number type in turn, and are f64 for
// gradients.
struct CaseInput {
  Shape shape;
  DType dtype = DType::kF64;  // kF64 stands for 'the floating-point type of the run'
  bool fixed_dtype = false;   // kF64 means f64
  bool at_least_f32 = false;  // f32 where the type of the run is smaller: a loss, say
  double low = -2;            // uniform in [low, high]; integers are drawn from it inclusively
  double high = 2;
  std::vector<double> values;  // given values instead
};

// Uniform in [low, high].
CaseInput Uniform(Shape shape, double low = -2, double high = 2);
// Integers in [low, high].
CaseInput Integers(Shape shape, DType dtype, int64_t low, int64_t high);
CaseInput Given(Shape shape, std::vector<double> values, DType dtype = DType::kF64);
// Uniform, of this very type in every run: a learning rate, say.
CaseInput Fixed(Shape shape, DType dtype, double low, double high);
// Has (i·factor mod modulus) − ⌊modulus ÷ 2⌋ at element i. The numbers are exact in every number
// type, and easy to make elsewhere.
CaseInput Pattern(Shape shape, int64_t factor, int64_t modulus);
// 0, 1, 2, …
CaseInput Counted(const Shape& shape, DType dtype = DType::kF64);
// The value of a step counter.
CaseInput Step(int64_t step);
// The same input, in f32 where the floating-point type of the run is smaller.
CaseInput AtLeastF32(CaseInput input);

struct OpCase {
  std::string name;
  Attributes attributes = {};
  std::vector<CaseInput> inputs = {};
  // Known results, an entry an output, row-major; an empty entry is not compared. Worked by hand,
  // or made by PyTorch or ONNX: say which in a comment.
  std::vector<std::vector<double>> expected = {};
  // Inputs whose gradient is checked; empty: all floating-point inputs, if the operator has one.
  std::vector<int> gradient_inputs = {};
  bool check_gradient = true;
  // Type inference must refuse the inputs with a message that contains this.
  std::string error = "";
  // Outputs through which a gradient flows; empty: all floating-point outputs.
  std::vector<int> gradient_outputs = {};
};

// A case that type inference refuses with a message that contains `error`.
OpCase Refused(std::string name, Attributes attributes, std::vector<CaseInput> inputs,
               std::string error);

}  // namespace cgrun

#endif  // CGRUN_TESTS_OP_CASES_OP_CASE_H_
