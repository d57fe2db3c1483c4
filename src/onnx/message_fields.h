// The tables of ONNX's messages: the number and name of each field, and the member that holds it.
// The reader, the writer and the comparison walk them; the type of the member says how.
//
// They come from onnx.proto and onnx-data.proto of ONNX 1.22. A message's rows are in the order of
// their numbers, as other writers have them. A field without a row is kept among the unknown ones.
#ifndef CGRUN_ONNX_MESSAGE_FIELDS_H_
#define CGRUN_ONNX_MESSAGE_FIELDS_H_

#include <tuple>

#include "src/onnx/model.h"

namespace cgrun::onnx {

// Says whether a text must be UTF-8. Other programs let descriptions and values of attributes be
// anything.
enum class Text { kUtf8, kAnyBytes };

template <class M, class T>
struct Field {
  constexpr Field(int number, const char* name, T M::*member, Text text = Text::kUtf8)
      : number(number), name(name), member(member), text(text) {}

  int number;
  const char* name;
  T M::*member;
  Text text;
};

// The functions give the table of a message by its type; the argument is null.
constexpr auto Fields(const Entry*) {
  return std::tuple{Field{1, "key", &Entry::key},
                    Field{2, "value", &Entry::value, Text::kAnyBytes}};
}

constexpr auto Fields(const Segment*) {
  return std::tuple{Field{1, "begin", &Segment::begin}, Field{2, "end", &Segment::end}};
}

constexpr auto Fields(const Tensor*) {
  return std::tuple{Field{1, "dims", &Tensor::dims},
                    Field{2, "data_type", &Tensor::data_type},
                    Field{3, "segment", &Tensor::segment},
                    Field{4, "float_data", &Tensor::float_data},
                    Field{5, "int32_data", &Tensor::int32_data},
                    Field{6, "string_data", &Tensor::string_data},
                    Field{7, "int64_data", &Tensor::int64_data},
                    Field{8, "name", &Tensor::name},
                    Field{9, "raw_data", &Tensor::raw_data},
                    Field{10, "double_data", &Tensor::double_data},
                    Field{11, "uint64_data", &Tensor::uint64_data},
                    Field{12, "doc_string", &Tensor::doc_string, Text::kAnyBytes},
                    Field{13, "external_data", &Tensor::external_data},
                    Field{14, "data_location", &Tensor::data_location},
                    Field{16, "metadata_props", &Tensor::metadata_props}};
}

constexpr auto Fields(const SparseTensor*) {
  return std::tuple{Field{1, "values", &SparseTensor::values},
                    Field{2, "indices", &SparseTensor::indices},
                    Field{3, "dims", &SparseTensor::dims}};
}

constexpr auto Fields(const Dimension*) {
  return std::tuple{Field{1, "dim_value", &Dimension::dim_value},
                    Field{2, "dim_param", &Dimension::dim_param},
                    Field{3, "denotation", &Dimension::denotation}};
}

constexpr auto Fields(const TensorShape*) {
  return std::tuple{Field{1, "dim", &TensorShape::dims}};
}

constexpr auto Fields(const TensorType*) {
  return std::tuple{Field{1, "elem_type", &TensorType::elem_type},
                    Field{2, "shape", &TensorType::shape}};
}

constexpr auto Fields(const ElementType*) {
  return std::tuple{Field{1, "elem_type", &ElementType::elem_type}};
}

constexpr auto Fields(const MapType*) {
  return std::tuple{Field{1, "key_type", &MapType::key_type},
                    Field{2, "value_type", &MapType::value_type}};
}

constexpr auto Fields(const OpaqueType*) {
  return std::tuple{Field{1, "domain", &OpaqueType::domain}, Field{2, "name", &OpaqueType::name}};
}

constexpr auto Fields(const Type*) {
  return std::tuple{Field{1, "tensor_type", &Type::tensor_type},
                    Field{4, "sequence_type", &Type::sequence_type},
                    Field{5, "map_type", &Type::map_type},
                    Field{6, "denotation", &Type::denotation},
                    Field{7, "opaque_type", &Type::opaque_type},
                    Field{8, "sparse_tensor_type", &Type::sparse_tensor_type},
                    Field{9, "optional_type", &Type::optional_type}};
}

constexpr auto Fields(const ValueInfo*) {
  return std::tuple{Field{1, "name", &ValueInfo::name}, Field{2, "type", &ValueInfo::type},
                    Field{3, "doc_string", &ValueInfo::doc_string, Text::kAnyBytes},
                    Field{4, "metadata_props", &ValueInfo::metadata_props}};
}

constexpr auto Fields(const Attribute*) {
  return std::tuple{Field{1, "name", &Attribute::name},
                    Field{2, "f", &Attribute::f},
                    Field{3, "i", &Attribute::i},
                    Field{4, "s", &Attribute::s, Text::kAnyBytes},
                    Field{5, "t", &Attribute::t},
                    Field{6, "g", &Attribute::g},
                    Field{7, "floats", &Attribute::floats},
                    Field{8, "ints", &Attribute::ints},
                    Field{9, "strings", &Attribute::strings, Text::kAnyBytes},
                    Field{10, "tensors", &Attribute::tensors},
                    Field{11, "graphs", &Attribute::graphs},
                    Field{13, "doc_string", &Attribute::doc_string, Text::kAnyBytes},
                    Field{14, "tp", &Attribute::tp},
                    Field{15, "type_protos", &Attribute::type_protos},
                    Field{20, "type", &Attribute::type},
                    Field{21, "ref_attr_name", &Attribute::ref_attr_name},
                    Field{22, "sparse_tensor", &Attribute::sparse_tensor},
                    Field{23, "sparse_tensors", &Attribute::sparse_tensors}};
}

constexpr auto Fields(const Node*) {
  return std::tuple{Field{1, "input", &Node::inputs},
                    Field{2, "output", &Node::outputs},
                    Field{3, "name", &Node::name},
                    Field{4, "op_type", &Node::op_type},
                    Field{5, "attribute", &Node::attributes},
                    Field{6, "doc_string", &Node::doc_string, Text::kAnyBytes},
                    Field{7, "domain", &Node::domain},
                    Field{8, "overload", &Node::overload},
                    Field{9, "metadata_props", &Node::metadata_props}};
}

constexpr auto Fields(const TensorAnnotation*) {
  return std::tuple{
      Field{1, "tensor_name", &TensorAnnotation::tensor_name},
      Field{2, "quant_parameter_tensor_names", &TensorAnnotation::quant_parameter_tensor_names}};
}

constexpr auto Fields(const Graph*) {
  return std::tuple{Field{1, "node", &Graph::nodes},
                    Field{2, "name", &Graph::name},
                    Field{5, "initializer", &Graph::initializers},
                    Field{10, "doc_string", &Graph::doc_string, Text::kAnyBytes},
                    Field{11, "input", &Graph::inputs},
                    Field{12, "output", &Graph::outputs},
                    Field{13, "value_info", &Graph::value_infos},
                    Field{14, "quantization_annotation", &Graph::quantization_annotations},
                    Field{15, "sparse_initializer", &Graph::sparse_initializers},
                    Field{16, "metadata_props", &Graph::metadata_props}};
}

constexpr auto Fields(const OperatorSet*) {
  return std::tuple{Field{1, "domain", &OperatorSet::domain},
                    Field{2, "version", &OperatorSet::version}};
}

constexpr auto Fields(const Function*) {
  return std::tuple{Field{1, "name", &Function::name},
                    Field{4, "input", &Function::inputs},
                    Field{5, "output", &Function::outputs},
                    Field{6, "attribute", &Function::attributes},
                    Field{7, "node", &Function::nodes},
                    Field{8, "doc_string", &Function::doc_string, Text::kAnyBytes},
                    Field{9, "opset_import", &Function::opset_imports},
                    Field{10, "domain", &Function::domain},
                    Field{11, "attribute_proto", &Function::attribute_protos},
                    Field{12, "value_info", &Function::value_infos},
                    Field{13, "overload", &Function::overload},
                    Field{14, "metadata_props", &Function::metadata_props}};
}

constexpr auto Fields(const Model*) {
  return std::tuple{Field{1, "ir_version", &Model::ir_version},
                    Field{2, "producer_name", &Model::producer_name},
                    Field{3, "producer_version", &Model::producer_version},
                    Field{4, "domain", &Model::domain},
                    Field{5, "model_version", &Model::model_version},
                    Field{6, "doc_string", &Model::doc_string, Text::kAnyBytes},
                    Field{7, "graph", &Model::graph},
                    Field{8, "opset_import", &Model::opset_imports},
                    Field{14, "metadata_props", &Model::metadata_props},
                    Field{25, "functions", &Model::functions}};
}

constexpr auto Fields(const Map*) {
  return std::tuple{Field{1, "name", &Map::name}, Field{2, "key_type", &Map::key_type},
                    Field{3, "keys", &Map::keys}, Field{4, "string_keys", &Map::string_keys},
                    Field{5, "values", &Map::values}};
}

constexpr auto Fields(const Sequence*) {
  return std::tuple{Field{1, "name", &Sequence::name},
                    Field{2, "elem_type", &Sequence::elem_type},
                    Field{3, "tensor_values", &Sequence::tensor_values},
                    Field{4, "sparse_tensor_values", &Sequence::sparse_tensor_values},
                    Field{5, "sequence_values", &Sequence::sequence_values},
                    Field{6, "map_values", &Sequence::map_values},
                    Field{7, "optional_values", &Sequence::optional_values}};
}

constexpr auto Fields(const Optional*) {
  return std::tuple{Field{1, "name", &Optional::name},
                    Field{2, "elem_type", &Optional::elem_type},
                    Field{3, "tensor_value", &Optional::tensor_value},
                    Field{4, "sparse_tensor_value", &Optional::sparse_tensor_value},
                    Field{5, "sequence_value", &Optional::sequence_value},
                    Field{6, "map_value", &Optional::map_value},
                    Field{7, "optional_value", &Optional::optional_value}};
}

}  // namespace cgrun::onnx

#endif  // CGRUN_ONNX_MESSAGE_FIELDS_H_
