// Maps number types of ONNX to those of cgrun, and back.
#ifndef CGRUN_ONNX_NUMBER_TYPES_H_
#define CGRUN_ONNX_NUMBER_TYPES_H_

#include <optional>

#include "src/base/dtype.h"
#include "src/onnx/model.h"

namespace cgrun {

// Returns the number type of cgrun; nothing where it has none that holds the same numbers.
std::optional<DType> DTypeOfOnnx(onnx::DataType type);
// Returns the type of ONNX for one of cgrun.
onnx::DataType OnnxTypeOf(DType dtype);

}  // namespace cgrun

#endif  // CGRUN_ONNX_NUMBER_TYPES_H_
