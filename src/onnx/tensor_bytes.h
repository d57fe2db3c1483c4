// The elements of a tensor as plain bytes.
#ifndef CGRUN_ONNX_TENSOR_BYTES_H_
#define CGRUN_ONNX_TENSOR_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "src/onnx/model.h"

namespace cgrun::onnx {

// Row-major, little-endian elements at any address. Elements of four bits lie two in a byte, the
// first in the low half; those of two bits lie four in a byte.
class TensorBytes {
 public:
  // The bytes lie in the file, or in the tensor.
  explicit TensorBytes(ByteSpan view) : view_(view) {}
  // The bytes had to be decoded.
  explicit TensorBytes(std::vector<std::byte> decoded)
      : decoded_(std::move(decoded)), view_(decoded_) {}
  TensorBytes(TensorBytes&&) = default;
  TensorBytes& operator=(TensorBytes&&) = default;

  ByteSpan bytes() const { return view_; }
  // Returns whether the elements have memory of their own.
  bool decoded() const { return !decoded_.empty(); }

 private:
  std::vector<std::byte> decoded_;
  ByteSpan view_;
};

// "float16", as the documents of ONNX have it; "type 99" for a type that is not in them.
std::string NameOf(DataType type);

// Bits of one element; 0 for strings and for what is no type.
int BitsOf(DataType type);

// Returns the bytes of the elements of `tensor`, which is in the file `path`. Throws InputError for
// a size that is negative or too large to count, for strings, and for an unknown type.
int64_t ByteSize(const Tensor& tensor, std::string_view path);

// The elements of `tensor`, which is in the file `path`. InputError unless they lie in the one
// field that is for their type, in the number that the dimensions tell, and each is a value of the
// type. Takes memory for what is there, never for what is declared only. It also refuses external
// data, which an OnnxFile has, and segments, which no exporter writes.
TensorBytes Bytes(const Tensor& tensor, std::string_view path);

// InputError "'PATH': tensor 'NAME' WHAT".
[[noreturn]] void ThrowTensorError(const Tensor& tensor, std::string_view path,
                                   std::string_view what, std::string_view help = "");

// InputError for a bool that is neither 0 nor 1.
void CheckBools(const Tensor& tensor, std::string_view path, ByteSpan bytes);

}  // namespace cgrun::onnx

#endif  // CGRUN_ONNX_TENSOR_BYTES_H_
