// The table comes from the schemas of ONNX 1.23. The test tests/export/onnx_schemas_test.py
// compares them, where that library is there.
#include "src/export/opsets.h"

#include <algorithm>
#include <iterator>

#include "src/base/check.h"

namespace cgrun {
namespace {

constexpr int8_t kNever = 0;

struct TypesOfOperator {
  std::string_view op_type;
  int8_t floats = 7;  // f32, f64, f16
  int8_t bf16 = 13;
  int8_t integers = 7;  // int32, int64
  int8_t bytes = 7;     // uint8, and integers that are only stored
  int8_t bools = 7;
};

// Operators that are not here have the defaults above.
constexpr TypesOfOperator kTypes[] = {
    {"Abs", 7, 13, 7, 7, kNever},
    {"Acos", 7, 22, kNever, kNever, kNever},
    {"Acosh", 9, 22, kNever, kNever, kNever},
    {"Add", 7, 13, 7, 14, kNever},
    {"And", kNever, kNever, kNever, kNever, 7},
    {"ArgMax", 7, 13, 7, 7, kNever},
    {"ArgMin", 7, 13, 7, 7, kNever},
    {"Asin", 7, 22, kNever, kNever, kNever},
    {"Asinh", 9, 22, kNever, kNever, kNever},
    {"Atan", 7, 22, kNever, kNever, kNever},
    {"Atanh", 9, 22, kNever, kNever, kNever},
    {"AveragePool", 7, 22, kNever, kNever, kNever},
    {"BatchNormalization", 7, 14, kNever, kNever, kNever},
    {"Ceil", 7, 13, kNever, kNever, kNever},
    {"Clip", 7, 13, 12, 12, kNever},
    {"ConstantOfShape", 9, 20, 9, 9, 9},
    {"Conv", 7, 22, kNever, kNever, kNever},
    {"ConvTranspose", 7, 22, kNever, kNever, kNever},
    {"Cos", 7, 22, kNever, kNever, kNever},
    {"Cosh", 9, 22, kNever, kNever, kNever},
    {"ConvInteger", kNever, kNever, kNever, 10, kNever},
    {"CumSum", 11, 14, 11, kNever, kNever},
    {"Div", 7, 13, 7, 14, kNever},
    {"Elu", 7, 22, kNever, kNever, kNever},
    {"Equal", 11, 13, 7, 11, 7},
    {"Erf", 9, 13, 9, 9, kNever},
    {"Exp", 7, 13, kNever, kNever, kNever},
    {"Expand", 8, 13, 8, 8, 8},
    {"Flatten", 7, 13, 9, 9, 9},
    {"Floor", 7, 13, kNever, kNever, kNever},
    {"GatherElements", 11, 13, 11, 11, 11},
    {"GatherND", 11, 13, 11, 11, 11},
    {"Gelu", 20, 20, kNever, kNever, kNever},
    {"Gemm", 7, 13, 9, kNever, kNever},
    {"GlobalAveragePool", 7, 22, kNever, kNever, kNever},
    {"Greater", 7, 13, 9, 9, kNever},
    {"GreaterOrEqual", 12, 16, 12, 12, kNever},
    {"GridSample", 16, 22, 16, 16, 16},
    {"HardSwish", 14, 22, kNever, kNever, kNever},
    {"LayerNormalization", 17, 17, kNever, kNever, kNever},
    {"LeakyRelu", 7, 16, kNever, kNever, kNever},
    {"Less", 7, 13, 9, 9, kNever},
    {"LessOrEqual", 12, 16, 12, 12, kNever},
    {"Log", 7, 13, kNever, kNever, kNever},
    {"LogSoftmax", 7, 13, kNever, kNever, kNever},
    {"MatMul", 7, 13, 9, kNever, kNever},
    {"MatMulInteger", kNever, kNever, kNever, 10, kNever},
    {"Max", 7, 13, 12, 12, kNever},
    {"MaxPool", 7, 22, kNever, 12, kNever},
    {"Min", 7, 13, 12, 12, kNever},
    {"Mod", 10, 13, 10, 10, kNever},
    {"Mul", 7, 13, 7, 14, kNever},
    {"Neg", 7, 13, 7, kNever, kNever},
    {"NonMaxSuppression", 10, kNever, kNever, kNever, kNever},
    {"NonZero", 9, 13, 9, 9, 9},
    {"Not", kNever, kNever, kNever, kNever, 7},
    {"OneHot", 9, kNever, 9, 9, kNever},
    {"Or", kNever, kNever, kNever, kNever, 7},
    {"Pad", 7, 13, 11, 11, 13},
    {"Pow", 7, 13, 12, kNever, kNever},
    {"ReduceMax", 7, 13, 7, 12, 20},
    {"ReduceMean", 7, 13, 7, kNever, kNever},
    {"ReduceMin", 7, 13, 7, 12, 20},
    {"ReduceProd", 7, 13, 7, kNever, kNever},
    {"ReduceSum", 7, 13, 7, kNever, kNever},
    {"Relu", 7, 13, 14, kNever, kNever},
    {"Resize", 10, 13, 10, 10, 10},
    {"RoiAlign", 10, 22, kNever, kNever, kNever},
    {"Round", 11, 22, kNever, kNever, kNever},
    {"ScatterElements", 11, 13, 11, 11, 11},
    {"ScatterND", 11, 13, 11, 11, 11},
    {"Sigmoid", 7, 13, kNever, kNever, kNever},
    {"Sign", 9, 13, 9, 9, kNever},
    {"Sin", 7, 22, kNever, kNever, kNever},
    {"Sinh", 9, 22, kNever, kNever, kNever},
    {"Softmax", 7, 13, kNever, kNever, kNever},
    {"Softplus", 7, 22, kNever, kNever, kNever},
    {"Sqrt", 7, 13, kNever, kNever, kNever},
    {"Sub", 7, 13, 7, 14, kNever},
    {"Swish", 24, 24, kNever, kNever, kNever},
    {"Tan", 7, 22, kNever, kNever, kNever},
    {"Tanh", 7, 13, kNever, kNever, kNever},
    {"TopK", 7, 24, 11, 11, kNever},
    {"Trilu", 14, 14, 14, 14, 14},
    {"Where", 9, 16, 9, 9, 9},
    {"Xor", kNever, kNever, kNever, kNever, 7},
};

int8_t FirstOf(const TypesOfOperator& types, DType dtype) {
  switch (dtype) {
    case DType::kF64:
    case DType::kF32:
    case DType::kF16:
      return types.floats;
    case DType::kBF16:
      return types.bf16;
    case DType::kI64:
    case DType::kI32:
      return types.integers;
    case DType::kU8:
    case DType::kI8:
    case DType::kI16:
    case DType::kU16:
    case DType::kU32:
    case DType::kU64:
      return types.bytes;
    case DType::kBool:
      return types.bools;
  }
  return kNever;
}

struct IrOfOpset {
  int64_t last_opset;
  int64_t ir_version;
};

constexpr IrOfOpset kIrVersions[] = {{8, 3},  {9, 4},  {10, 5},  {11, 6},  {14, 7},
                                     {18, 8}, {20, 9}, {22, 10}, {23, 11}, {24, 12}};
constexpr int64_t kIrOfLaterOpsets = 13;

}  // namespace

std::optional<int64_t> FirstOpset(std::string_view op_type, DType dtype) {
  const auto row = std::ranges::find(kTypes, op_type, &TypesOfOperator::op_type);
  const int8_t first = FirstOf(row == std::end(kTypes) ? TypesOfOperator{op_type} : *row, dtype);
  return first == kNever ? std::nullopt : std::optional<int64_t>(first);
}

int64_t IrVersionOf(int64_t opset) {
  for (const IrOfOpset& row : kIrVersions) {
    if (opset <= row.last_opset) return row.ir_version;
  }
  return kIrOfLaterOpsets;
}

}  // namespace cgrun
