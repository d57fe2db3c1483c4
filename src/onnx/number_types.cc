// Number types of ONNX and of cgrun.
#include "src/onnx/number_types.h"

#include "src/base/check.h"

namespace cgrun {

std::optional<DType> DTypeOfOnnx(onnx::DataType type) {
  switch (type) {
    case onnx::DataType::kFloat:
      return DType::kF32;
    case onnx::DataType::kDouble:
      return DType::kF64;
    case onnx::DataType::kInt64:
      return DType::kI64;
    case onnx::DataType::kInt32:
      return DType::kI32;
    case onnx::DataType::kUint8:
      return DType::kU8;
    case onnx::DataType::kBool:
      return DType::kBool;
    case onnx::DataType::kFloat16:
      return DType::kF16;
    case onnx::DataType::kBfloat16:
      return DType::kBF16;
    case onnx::DataType::kInt8:
      return DType::kI8;
    case onnx::DataType::kInt16:
      return DType::kI16;
    case onnx::DataType::kUint16:
      return DType::kU16;
    case onnx::DataType::kUint32:
      return DType::kU32;
    case onnx::DataType::kUint64:
      return DType::kU64;
    default:
      return std::nullopt;
  }
}

onnx::DataType OnnxTypeOf(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return onnx::DataType::kFloat;
    case DType::kF64:
      return onnx::DataType::kDouble;
    case DType::kI64:
      return onnx::DataType::kInt64;
    case DType::kI32:
      return onnx::DataType::kInt32;
    case DType::kU8:
      return onnx::DataType::kUint8;
    case DType::kBool:
      return onnx::DataType::kBool;
    case DType::kF16:
      return onnx::DataType::kFloat16;
    case DType::kBF16:
      return onnx::DataType::kBfloat16;
    case DType::kI8:
      return onnx::DataType::kInt8;
    case DType::kI16:
      return onnx::DataType::kInt16;
    case DType::kU16:
      return onnx::DataType::kUint16;
    case DType::kU32:
      return onnx::DataType::kUint32;
    case DType::kU64:
      return onnx::DataType::kUint64;
  }
  CGRUN_CHECK(false) << "a number type that ONNX does not have";
}

}  // namespace cgrun
