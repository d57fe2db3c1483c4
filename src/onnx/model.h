// ONNX's messages as plain structs, of IR version 13 and opset 27. The names are ONNX's, the lists
// in the plural.
//
// A struct may be changed freely. The writer finds out what was changed: it reads `source` once
// more and compares. So no flag can be forgotten.
//
// Views (`source`, `unknown`, raw data) point into the file that was read, or to bytes that the one
// who set them owns. They must live as long as the struct is used.
#ifndef CGRUN_ONNX_MODEL_H_
#define CGRUN_ONNX_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cgrun::onnx {

using ByteSpan = std::span<const std::byte>;

// A message that may be absent. It is copied with its content, and may contain its own kind.
template <class T>
class Box {
 public:
  Box() = default;
  Box(T value) : value_(std::make_unique<T>(std::move(value))) {}  // NOLINT: a value fills its box
  Box(const Box& other) : value_(other ? std::make_unique<T>(*other) : nullptr) {}
  Box(Box&&) noexcept = default;
  Box& operator=(Box other) noexcept {
    value_ = std::move(other.value_);
    return *this;
  }

  explicit operator bool() const { return value_ != nullptr; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }

 private:
  std::unique_ptr<T> value_;
};

// The numbers of a tensor. A file usually has them as one packed field. It stays where it is, and
// Bytes() decodes it. Other encodings are decoded when they are read.
template <class T>
struct Packed {
  ByteSpan wire;          // varints, or little-endian floats; empty if there are `values`
  std::vector<T> values;  // also those of a new tensor
};

struct Message {
  ByteSpan source;                // the bytes that the message was read from
  std::vector<ByteSpan> unknown;  // fields with their tags: of later versions, and rare ones
};

struct Graph;
struct Type;

struct Entry : Message {  // StringStringEntryProto
  std::string key, value;
};

enum class DataType : int32_t {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBfloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUint4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUint2 = 25,
  kInt2 = 26,
};

enum class DataLocation : int32_t { kDefault = 0, kExternal = 1 };

struct Segment : Message {
  int64_t begin = 0, end = 0;
};

struct Tensor : Message {
  std::string name, doc_string;
  DataType data_type = DataType::kUndefined;
  DataLocation data_location = DataLocation::kDefault;
  std::vector<int64_t> dims;
  // One of these holds the elements, row by row; see Bytes() in tensor_bytes.h.
  std::optional<ByteSpan> raw_data;
  Packed<float> float_data;
  Packed<int32_t> int32_data;
  Packed<int64_t> int64_data;
  Packed<double> double_data;
  Packed<uint64_t> uint64_data;
  std::vector<ByteSpan> string_data;
  std::vector<Entry> external_data;  // location, offset, length, checksum
  Box<Segment> segment;
  std::vector<Entry> metadata_props;
};

struct SparseTensor : Message {
  Box<Tensor> values, indices;
  std::vector<int64_t> dims;
};

struct Dimension : Message {
  std::optional<int64_t> dim_value;  // at most one of the two; neither: unknown
  std::optional<std::string> dim_param;
  std::string denotation;
};

struct TensorShape : Message {
  std::vector<Dimension> dims;
};

struct TensorType : Message {  // of tensors and of sparse ones
  DataType elem_type = DataType::kUndefined;
  Box<TensorShape> shape;  // absent: the rank is unknown
};

struct ElementType : Message {  // of sequences and of optional values
  Box<Type> elem_type;
};

struct MapType : Message {
  DataType key_type = DataType::kUndefined;
  Box<Type> value_type;
};

struct OpaqueType : Message {
  std::string domain, name;
};

struct Type : Message {
  // At most one is present.
  Box<TensorType> tensor_type, sparse_tensor_type;
  Box<ElementType> sequence_type, optional_type;
  Box<MapType> map_type;
  Box<OpaqueType> opaque_type;
  std::string denotation;
};

struct ValueInfo : Message {
  std::string name, doc_string;
  Box<Type> type;
  std::vector<Entry> metadata_props;
};

enum class AttributeType : int32_t {
  kUndefined = 0,
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
  kTensors = 9,
  kGraphs = 10,
  kSparseTensor = 11,
  kSparseTensors = 12,
  kTypeProto = 13,
  kTypeProtos = 14,
};

struct Attribute : Message {
  std::string name, ref_attr_name, doc_string;
  AttributeType type = AttributeType::kUndefined;
  std::optional<float> f;
  std::optional<int64_t> i;
  std::optional<std::string> s;  // any bytes
  Box<Tensor> t;
  Box<Graph> g;
  Box<SparseTensor> sparse_tensor;
  Box<Type> tp;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string> strings;  // any bytes
  std::vector<Tensor> tensors;
  std::vector<Graph> graphs;
  std::vector<SparseTensor> sparse_tensors;
  std::vector<Type> type_protos;
};

struct Node : Message {
  std::string name, op_type, domain, overload, doc_string;
  std::vector<std::string> inputs, outputs;  // "": an optional one that is absent
  std::vector<Attribute> attributes;
  std::vector<Entry> metadata_props;
};

struct TensorAnnotation : Message {
  std::string tensor_name;
  std::vector<Entry> quant_parameter_tensor_names;
};

struct Graph : Message {
  std::string name, doc_string;
  std::vector<Node> nodes;
  std::vector<Tensor> initializers;
  std::vector<SparseTensor> sparse_initializers;
  std::vector<ValueInfo> inputs, outputs, value_infos;
  std::vector<TensorAnnotation> quantization_annotations;
  std::vector<Entry> metadata_props;
};

struct OperatorSet : Message {
  std::string domain;  // "": ai.onnx
  int64_t version = 0;
};

struct Function : Message {
  std::string name, domain, overload, doc_string;
  std::vector<std::string> inputs, outputs;
  std::vector<std::string> attributes;      // without a default
  std::vector<Attribute> attribute_protos;  // with one
  std::vector<Node> nodes;
  std::vector<OperatorSet> opset_imports;
  std::vector<ValueInfo> value_infos;
  std::vector<Entry> metadata_props;
};

// training_info and the configurations of devices stay among the unknown fields.
struct Model : Message {
  int64_t ir_version = 0;
  std::vector<OperatorSet> opset_imports;
  std::string producer_name, producer_version, domain, doc_string;
  int64_t model_version = 0;
  Box<Graph> graph;
  std::vector<Function> functions;
  std::vector<Entry> metadata_props;
};

// Values beside tensors, of onnx-data.proto: files of test data hold them.
struct Sequence;
struct Optional;

struct Map : Message {
  std::string name;
  DataType key_type = DataType::kUndefined;
  std::vector<int64_t> keys;
  std::vector<ByteSpan> string_keys;
  Box<Sequence> values;
};

struct Sequence : Message {
  std::string name;
  int32_t elem_type = 0;  // tensor 1, sparse tensor 2, sequence 3, map 4, optional 5
  std::vector<Tensor> tensor_values;
  std::vector<SparseTensor> sparse_tensor_values;
  std::vector<Sequence> sequence_values;
  std::vector<Map> map_values;
  std::vector<Optional> optional_values;
};

struct Optional : Message {
  std::string name;
  int32_t elem_type = 0;  // as of a sequence
  Box<Tensor> tensor_value;
  Box<SparseTensor> sparse_tensor_value;
  Box<Sequence> sequence_value;
  Box<Map> map_value;
  Box<Optional> optional_value;
};

}  // namespace cgrun::onnx

#endif  // CGRUN_ONNX_MODEL_H_
