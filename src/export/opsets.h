// Says which opsets of ONNX have an operator for a number type, and which IR version goes with an
// opset.
#ifndef CGRUN_EXPORT_OPSETS_H_
#define CGRUN_EXPORT_OPSETS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "src/base/dtype.h"
#include "src/onnx/model.h"

namespace cgrun {

// Returns the first opset from 7 on in which `op_type` takes data of a type: its input 0, for Where
// its input 1, for ConstantOfShape its output. If no opset has it, returns nothing.
std::optional<int64_t> FirstOpset(std::string_view op_type, DType dtype);

// Returns the lowest IR version that goes with an opset, from the table in ONNX's Versioning.md.
int64_t IrVersionOf(int64_t opset);

onnx::DataType ElementTypeOf(DType dtype);

}  // namespace cgrun

#endif  // CGRUN_EXPORT_OPSETS_H_
