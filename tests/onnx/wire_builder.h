// Messages of protocol buffers by hand, right ones and wrong ones.
#ifndef CGRUN_TESTS_ONNX_WIRE_BUILDER_H_
#define CGRUN_TESTS_ONNX_WIRE_BUILDER_H_

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "src/onnx/model.h"

namespace cgrun::onnx {

inline std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value > 0x7F; value >>= 7) bytes += static_cast<char>(0x80 | (value & 0x7F));
  return bytes + static_cast<char>(value);
}

// Number() makes a field of wire type 0, Bytes() one of wire type 2.
inline std::string Number(int field, uint64_t value) {
  return Varint(static_cast<uint64_t>(field) << 3) + Varint(value);
}
inline std::string Bytes(int field, std::string_view bytes) {
  return Varint(static_cast<uint64_t>(field) << 3 | 2) + Varint(bytes.size()) + std::string(bytes);
}

template <class T>
std::string Fixed(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}
inline std::string Float(int field, float value) {
  return Varint(static_cast<uint64_t>(field) << 3 | 5) + Fixed(value);
}

// Makes a StringStringEntryProto.
inline std::string Pair(int field, std::string_view key, std::string_view value) {
  return Bytes(field, Bytes(1, key) + Bytes(2, value));
}

// The fields of a tensor but for its elements; 14 is where its data lies, 13 the keys of that.
inline std::string TensorHead(std::string_view name, DataType type,
                              std::initializer_list<int64_t> dims) {
  std::string bytes;
  for (const int64_t size : dims) bytes += Number(1, static_cast<uint64_t>(size));
  return bytes + Number(2, static_cast<uint64_t>(type)) + Bytes(8, name);
}

// A model whose graph has these fields: 1 is a node, 5 an initializer.
inline std::string ModelOf(std::string_view graph) {
  return Number(1, 8) + Bytes(7, graph) + Bytes(8, Number(2, 17));
}

inline std::string ExternalTensor(std::initializer_list<std::pair<std::string, std::string>> keys,
                                  std::initializer_list<int64_t> dims = {4}) {
  std::string bytes = TensorHead("w", DataType::kUint8, dims) + Number(14, 1);
  for (const auto& [key, value] : keys) bytes += Pair(13, key, value);
  return bytes;
}

inline ByteSpan AsSpan(std::string_view bytes) {
  return std::as_bytes(std::span(bytes.data(), bytes.size()));
}
inline std::string TextOf(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace cgrun::onnx

#endif  // CGRUN_TESTS_ONNX_WIRE_BUILDER_H_
