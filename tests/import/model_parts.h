// Makes parts of ONNX models for tests.
#ifndef CGRUN_TESTS_IMPORT_MODEL_PARTS_H_
#define CGRUN_TESTS_IMPORT_MODEL_PARTS_H_

#include <string>
#include <utility>
#include <vector>

#include "src/onnx/model.h"

namespace cgrun {

using Floats = std::vector<float>;

inline onnx::Attribute Ints(const std::string& name, std::vector<int64_t> ints) {
  onnx::Attribute attribute;
  attribute.name = name;
  attribute.type = onnx::AttributeType::kInts;
  attribute.ints = std::move(ints);
  return attribute;
}

inline onnx::Attribute Int(const std::string& name, int64_t value) {
  onnx::Attribute attribute;
  attribute.name = name;
  attribute.type = onnx::AttributeType::kInt;
  attribute.i = value;
  return attribute;
}

inline onnx::Node NodeOf(const std::string& op_type, std::vector<std::string> inputs,
                         const std::string& output, std::vector<onnx::Attribute> attributes = {}) {
  onnx::Node node;
  node.op_type = op_type;
  node.name = op_type + "_of_" + output;
  node.inputs = std::move(inputs);
  node.outputs = {output};
  node.attributes = std::move(attributes);
  return node;
}

inline onnx::Tensor FloatsOf(const std::string& name, std::vector<int64_t> dims, Floats values) {
  onnx::Tensor tensor;
  tensor.name = name;
  tensor.dims = std::move(dims);
  tensor.data_type = onnx::DataType::kFloat;
  tensor.float_data.values = std::move(values);
  return tensor;
}

inline onnx::Tensor IntegersOf(const std::string& name, std::vector<int64_t> values,
                               bool scalar = false) {
  onnx::Tensor tensor;
  tensor.name = name;
  if (!scalar) tensor.dims = {static_cast<int64_t>(values.size())};
  tensor.data_type = onnx::DataType::kInt64;
  tensor.int64_data.values = std::move(values);
  return tensor;
}

// A size of 0 is the batch; a negative one has the name "side".
inline onnx::ValueInfo ValueOf(const std::string& name, const std::vector<int64_t>& sizes) {
  onnx::TensorShape shape;
  for (const int64_t size : sizes) {
    onnx::Dimension dim;
    if (size > 0) dim.dim_value = size;
    if (size <= 0) dim.dim_param = size == 0 ? "batch" : "side";
    shape.dims.push_back(dim);
  }
  onnx::TensorType tensor;
  tensor.elem_type = onnx::DataType::kFloat;
  tensor.shape = std::move(shape);
  onnx::Type type;
  type.tensor_type = std::move(tensor);
  onnx::ValueInfo value;
  value.name = name;
  value.type = std::move(type);
  return value;
}

inline onnx::Model ModelOf(onnx::Graph graph) {
  onnx::Model model;
  model.ir_version = 8;
  onnx::OperatorSet set;
  set.version = 17;
  model.opset_imports = {set};
  model.graph = std::move(graph);
  return model;
}

// Numbers from -1 to 1 that look like random ones.
inline Floats Numbers(size_t count, float low = -1) {
  Floats numbers;
  for (size_t i = 0; i < count; ++i) {
    const float unit = static_cast<float>((i * 37 + 11) % 101) / 101;
    numbers.push_back(low + (1 - low) * unit);
  }
  return numbers;
}

}  // namespace cgrun

#endif  // CGRUN_TESTS_IMPORT_MODEL_PARTS_H_
