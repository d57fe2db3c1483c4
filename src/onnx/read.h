// Reads one message of ONNX.
#ifndef CGRUN_ONNX_READ_H_
#define CGRUN_ONNX_READ_H_

#include <string_view>

#include "src/onnx/model.h"

namespace cgrun::onnx {

// Reads a Model, Tensor, Sequence, Map or Optional of the file `path`, whose bytes must outlive the
// result. InputError names the file, the field ("graph.node[12] 'conv1'.attribute[0] 'pads'"), the
// byte and the fault: a length past the end of its message, a wrong wire type, a group, a name that
// is not UTF-8. It also refuses more than 64 messages in each other, and more messages than the
// size of the file warrants.
//
// Memory is at most MostStructBytes() and the texts, times three while a list grows. Time is
// linear.
template <class M>
M ReadMessage(ByteSpan bytes, std::string_view path);

}  // namespace cgrun::onnx

#endif  // CGRUN_ONNX_READ_H_
