// Declares type inference that many operators share.
#ifndef CGRUN_OPS_INFER_H_
#define CGRUN_OPS_INFER_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/ir/op_def.h"

namespace cgrun {

// Takes one floating-point input. The output has its type.
std::vector<TensorType> InferSameAsInput(InferContext& context);
// Takes one input of floats or integers. The output has its type.
std::vector<TensorType> InferSameNumbers(InferContext& context);
// Takes inputs of one floating-point type. The output has it too.
std::vector<TensorType> InferSameAsInputs(InferContext& context);
// Takes two floating-point inputs of one number type, broadcast as NumPy and ONNX do.
std::vector<TensorType> InferBroadcast(InferContext& context);
// Takes two inputs of one number type, floats or integers, broadcast in the same way.
std::vector<TensorType> InferBroadcastNumbers(InferContext& context);

// Takes two floating-point inputs, broadcast as above, and the gradient of the result, whose type
// the output has. Gradients of broadcasting operators read these.
std::vector<TensorType> InferBroadcastGrad(InferContext& context);

// Returns whether input `i`, which the operator calls `name`, has type `wanted`; reports it where
// not: "`weight` must be f32[10, 84] for an input f32[N, 84], not f32[84, 10]".
bool ExpectInput(InferContext& context, int i, std::string_view name, const TensorType& wanted);

// Returns the common shape of two shapes under NumPy's rules, or nothing. A batch dimension goes
// with itself and with 1. [N, 1] and [N] do not go together, as a shape has one batch dimension at
// most.
std::optional<Shape> BroadcastShapes(const Shape& a, const Shape& b);

// Gives the common shape of inputs 0 and 1, as elements of that type; reports where there is none.
std::vector<TensorType> InferCommonShape(InferContext& context, DType dtype);

// Returns `axis` in [0, rank). A negative axis counts from the end. If it is outside, returns
// nothing.
std::optional<int> NormalizeAxis(int64_t axis, int rank);
// Returns sorted unique axes. If `axes` is empty, it means all. If one is outside or given twice,
// returns nothing.
std::optional<std::vector<int>> NormalizeAxes(const IntList& axes, int rank);

// "axes [0, 7] do not fit [N, 10]", for NormalizeAxes that gave nothing.
std::string AxesMessage(const IntList& axes, const Shape& shape);

// Does what Shape::ElementsDim does for shapes that come from outside. If a size is not positive,
// two dimensions depend on the batch, or the product does not fit, returns nothing.
std::optional<Dim> CountElements(const Shape& shape);

// The cost of operators that only move data.
OpCost NoOperations(const NodeSignature& node);

// Returns whether it is uint8, int32 or int64, the types that count classes and entries.
bool IsIndex(DType dtype);
// Returns whether arithmetic takes it: floats and the types of IsIndex().
bool HasArithmetic(DType dtype);

// Returns a message about a wrong rank: "'conv' needs a 4-dimensional input [N, C, H, W], not [N,
// 10]".
std::string RankMessage(std::string_view op, std::string_view wanted, const Shape& shape);

}  // namespace cgrun

#endif  // CGRUN_OPS_INFER_H_
