// Writes one message of ONNX.
#ifndef CGRUN_ONNX_WRITE_H_
#define CGRUN_ONNX_WRITE_H_

#include <string>
#include <string_view>

#include "src/onnx/model.h"

namespace cgrun::onnx {

// The bytes of a Model, Tensor, Sequence, Map or Optional. A message that is as it was read is
// written as the bytes that it was read from. Another one has its fields in the order of their
// numbers, then its unknown fields. A field at its default is left out unless it was read.
template <class M>
std::string WriteMessage(const M& message);

// Writes the file `path` atomically, without a copy of the raw data of tensors. UserError where it
// cannot.
void WriteModel(std::string_view path, const Model& model);

}  // namespace cgrun::onnx

#endif  // CGRUN_ONNX_WRITE_H_
