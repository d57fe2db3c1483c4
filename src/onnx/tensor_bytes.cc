// A tensor's type decides which field holds its numbers, and how they become elements.
#include "src/onnx/tensor_bytes.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>

#include "src/base/diagnostics.h"
#include "src/base/shape.h"
#include "src/io/file_error.h"
#include "src/onnx/message_reader.h"

namespace cgrun::onnx {
namespace {

enum class Store { kFloat, kInt32, kInt64, kDouble, kUint64, kString };
constexpr std::array kStoreNames = {"float_data",  "int32_data",  "int64_data",
                                    "double_data", "uint64_data", "string_data"};

struct ElementRow {
  DataType type;
  const char* name;
  int bits;
  Store store;
};

// The source is the comments of TensorProto in onnx.proto, ONNX 1.22.
constexpr ElementRow kElementRows[] = {
    {DataType::kFloat, "float", 32, Store::kFloat},
    {DataType::kUint8, "uint8", 8, Store::kInt32},
    {DataType::kInt8, "int8", 8, Store::kInt32},
    {DataType::kUint16, "uint16", 16, Store::kInt32},
    {DataType::kInt16, "int16", 16, Store::kInt32},
    {DataType::kInt32, "int32", 32, Store::kInt32},
    {DataType::kInt64, "int64", 64, Store::kInt64},
    {DataType::kString, "string", 0, Store::kString},
    {DataType::kBool, "bool", 8, Store::kInt32},
    {DataType::kFloat16, "float16", 16, Store::kInt32},
    {DataType::kDouble, "double", 64, Store::kDouble},
    {DataType::kUint32, "uint32", 32, Store::kUint64},
    {DataType::kUint64, "uint64", 64, Store::kUint64},
    {DataType::kComplex64, "complex64", 64, Store::kFloat},
    {DataType::kComplex128, "complex128", 128, Store::kDouble},
    {DataType::kBfloat16, "bfloat16", 16, Store::kInt32},
    {DataType::kFloat8E4M3FN, "float8e4m3fn", 8, Store::kInt32},
    {DataType::kFloat8E4M3FNUZ, "float8e4m3fnuz", 8, Store::kInt32},
    {DataType::kFloat8E5M2, "float8e5m2", 8, Store::kInt32},
    {DataType::kFloat8E5M2FNUZ, "float8e5m2fnuz", 8, Store::kInt32},
    {DataType::kUint4, "uint4", 4, Store::kInt32},
    {DataType::kInt4, "int4", 4, Store::kInt32},
    {DataType::kFloat4E2M1, "float4e2m1", 4, Store::kInt32},
    {DataType::kFloat8E8M0, "float8e8m0", 8, Store::kInt32},
    {DataType::kUint2, "uint2", 2, Store::kInt32},
    {DataType::kInt2, "int2", 2, Store::kInt32},
};

const ElementRow* FindElementRow(DataType type) {
  const auto* const row = std::ranges::find(kElementRows, type, &ElementRow::type);
  return row == std::end(kElementRows) ? nullptr : row;
}

bool Holds(const Tensor& tensor, Store store) {
  const auto any = [](const auto& numbers) {
    return !numbers.wire.empty() || !numbers.values.empty();
  };
  switch (store) {
    case Store::kFloat:
      return any(tensor.float_data);
    case Store::kInt32:
      return any(tensor.int32_data);
    case Store::kInt64:
      return any(tensor.int64_data);
    case Store::kDouble:
      return any(tensor.double_data);
    case Store::kUint64:
      return any(tensor.uint64_data);
    case Store::kString:
      return !tensor.string_data.empty();
  }
  return false;
}

void CheckStores(const Tensor& tensor, std::string_view path, const ElementRow& row) {
  for (size_t i = 0; i < kStoreNames.size(); ++i) {
    const auto store = static_cast<Store>(i);
    if (!Holds(tensor, store) || (store == row.store && !tensor.raw_data)) continue;
    const char* const right =
        tensor.raw_data ? "raw_data" : kStoreNames[static_cast<size_t>(row.store)];
    ThrowTensorError(tensor, path,
                     std::string("has values in ") + kStoreNames[i] + ", where " + row.name +
                         " ones lie in " + right);
  }
}

// "[2, 3]", of a hostile number of dimensions the first.
std::string DimsText(const Tensor& tensor) {
  constexpr size_t kMostShown = 16;
  const auto count = static_cast<ptrdiff_t>(std::min(tensor.dims.size(), kMostShown));
  const std::string text = Shape::Of({tensor.dims.begin(), tensor.dims.begin() + count}).ToString();
  return tensor.dims.size() > kMostShown ? text + "…" : text;
}

void CheckSize(const Tensor& tensor, std::string_view path, int64_t expected, size_t there) {
  if (static_cast<uint64_t>(expected) == there) return;
  ThrowTensorError(tensor, path,
                   "has " + CountText(static_cast<int64_t>(there), "byte") + ", but its " +
                       DimsText(tensor) + " elements of " + NameOf(tensor.data_type) + " take " +
                       std::to_string(expected));
}

// Writes numbers as elements of `width` bytes. Every number that fits so many bits, with a sign or
// without, is taken, because exporters write an int8 of -1 as 255, too.
template <class T>
class Decoder {
 public:
  Decoder(const Tensor& tensor, std::string_view path, size_t width)
      : tensor_(tensor), path_(path), width_(width) {}

  TensorBytes Decode(const Packed<T>& numbers, int64_t bytes) {
    const size_t count = numbers.values.size() + CountVarints(numbers.wire);
    CheckSize(tensor_, path_, bytes, count * width_);
    decoded_.reserve(static_cast<size_t>(bytes));
    for (const T value : numbers.values) Put(value);
    try {
      for (WireReader wire(numbers.wire); !wire.empty();) Put(ReadNumberOf<T>(wire));
    } catch (const WireFault& fault) {
      ThrowTensorError(tensor_, path_, "is damaged: " + fault.what, fault.help);
    }
    return TensorBytes(std::move(decoded_));
  }

 private:
  void Put(T value) {
    if (!Fits(value)) {
      ThrowTensorError(tensor_, path_,
                       "has the number " + std::to_string(value) + " in element " +
                           std::to_string(decoded_.size() / width_) + ", which " +
                           NameOf(tensor_.data_type) + " does not have");
    }
    const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
    decoded_.insert(decoded_.end(), bytes, bytes + width_);  // of a little-endian machine
  }

  bool Fits(T value) const {
    const int bits = static_cast<int>(8 * width_);
    if (tensor_.data_type == DataType::kBool) return value == 0 || value == 1;
    if (bits >= static_cast<int>(8 * sizeof(T))) return true;
    const T above = value >> (bits - 1);
    return above == 0 || above == 1 || above == static_cast<T>(-1);
  }

  const Tensor& tensor_;
  std::string_view path_;
  size_t width_;
  std::vector<std::byte> decoded_;
};

// Floats lie in the file as they lie in memory.
template <class T>
TensorBytes FloatBytes(const Tensor& tensor, std::string_view path, const Packed<T>& numbers,
                       int64_t bytes) {
  const ByteSpan there =
      numbers.values.empty() ? numbers.wire : std::as_bytes(std::span(numbers.values));
  CheckSize(tensor, path, bytes, there.size());
  return TensorBytes(there);
}

const ElementRow& RowOf(const Tensor& tensor, std::string_view path) {
  const ElementRow* const row = FindElementRow(tensor.data_type);
  if (row == nullptr)
    ThrowTensorError(tensor, path, "is of " + NameOf(tensor.data_type) + ", which is unknown");
  if (row->bits == 0) ThrowTensorError(tensor, path, "has strings, which are not numbers");
  return *row;
}

}  // namespace

std::string NameOf(DataType type) {
  const ElementRow* const row = FindElementRow(type);
  return row != nullptr ? row->name : "type " + std::to_string(static_cast<int32_t>(type));
}

int BitsOf(DataType type) {
  const ElementRow* const row = FindElementRow(type);
  return row != nullptr ? row->bits : 0;
}

void ThrowTensorError(const Tensor& tensor, std::string_view path, std::string_view what,
                      std::string_view help) {
  ThrowFileError(path, ": tensor '" + Shown(tensor.name) + "' " + std::string(what), help);
}

int64_t ByteSize(const Tensor& tensor, std::string_view path) {
  const ElementRow& row = RowOf(tensor, path);
  const std::optional<int64_t> elements = CheckedElements(tensor.dims);
  int64_t bits = 0;
  if (!elements || __builtin_mul_overflow(*elements, row.bits, &bits)) {
    ThrowTensorError(tensor, path, "has a size that is negative or too large: " + DimsText(tensor));
  }
  return bits / 8 + (bits % 8 != 0);
}

void CheckBools(const Tensor& tensor, std::string_view path, ByteSpan bytes) {
  if (tensor.data_type != DataType::kBool) return;
  if (std::ranges::all_of(bytes, [](std::byte byte) { return byte <= std::byte{1}; })) return;
  ThrowTensorError(tensor, path, "has a bool that is neither 0 nor 1");
}

TensorBytes Bytes(const Tensor& tensor, std::string_view path) {
  const ElementRow& row = RowOf(tensor, path);
  const int64_t bytes = ByteSize(tensor, path);
  if (tensor.data_location != DataLocation::kDefault) {
    ThrowTensorError(tensor, path, "has external data, which only a model may have");
  }
  if (tensor.segment)
    ThrowTensorError(tensor, path, "is a segment of a tensor, which is not supported");
  CheckStores(tensor, path, row);
  if (tensor.raw_data) {
    CheckSize(tensor, path, bytes, tensor.raw_data->size());
    CheckBools(tensor, path, *tensor.raw_data);
    return TensorBytes(*tensor.raw_data);
  }
  const auto width = static_cast<size_t>(std::max(row.bits / 8, 1));
  switch (row.store) {
    case Store::kFloat:
      return FloatBytes(tensor, path, tensor.float_data, bytes);
    case Store::kDouble:
      return FloatBytes(tensor, path, tensor.double_data, bytes);
    case Store::kInt32:
      return Decoder<int32_t>(tensor, path, width).Decode(tensor.int32_data, bytes);
    case Store::kInt64:
      return Decoder<int64_t>(tensor, path, width).Decode(tensor.int64_data, bytes);
    case Store::kUint64:
      return Decoder<uint64_t>(tensor, path, width).Decode(tensor.uint64_data, bytes);
    case Store::kString:
      break;
  }
  ThrowTensorError(tensor, path, "has no numbers");
}

}  // namespace cgrun::onnx
