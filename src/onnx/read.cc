// Adds the name of the file to the errors of MessageReader.
#include "src/onnx/read.h"

#include <string>

#include "src/io/file_error.h"
#include "src/onnx/message_reader.h"

namespace cgrun::onnx {

template <class M>
M ReadMessage(ByteSpan bytes, std::string_view path) {
  M message;
  try {
    MessageReader(bytes.size()).Read(bytes, &message);
  } catch (const WireFault& fault) {
    if (fault.at == bytes.data()) {
      ThrowFileError(path, "is not a file of ONNX: at its first byte, " + fault.what);
    }
    const std::string place = fault.path + (fault.path.empty() ? "byte " : ", byte ") +
                              std::to_string(fault.at - bytes.data());
    ThrowFileError(path, ": " + place + ": " + fault.what, fault.help);
  }
  return message;
}

template Model ReadMessage(ByteSpan, std::string_view);
template Tensor ReadMessage(ByteSpan, std::string_view);
template Sequence ReadMessage(ByteSpan, std::string_view);
template Map ReadMessage(ByteSpan, std::string_view);
template Optional ReadMessage(ByteSpan, std::string_view);

}  // namespace cgrun::onnx
