// Builds nodes, constants and their names.
#include "src/export/node_emitter.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <utility>

#include "src/base/check.h"
#include "src/export/opsets.h"
#include "src/onnx/number_types.h"

namespace cgrun {
namespace {

onnx::Attribute AttributeOf(const std::string& name, onnx::AttributeType type) {
  onnx::Attribute attribute;
  attribute.name = name;
  attribute.type = type;
  return attribute;
}

onnx::Dimension DimensionOf(const Dim& dim) {
  onnx::Dimension dimension;
  if (dim.batch) {
    dimension.dim_param = dim.size == 1 ? "batch" : std::to_string(dim.size) + "*batch";
  } else {
    dimension.dim_value = dim.size;
  }
  return dimension;
}

// The elements of tensors of 16 bits and less lie in a list of int32, floats by their bits.
int32_t BitsAt(const HostTensor& tensor, int64_t i) {
  if (!IsFloat(tensor.dtype())) return static_cast<int32_t>(tensor.At(i));
  uint16_t bits = 0;
  CGRUN_CHECK(SizeOf(tensor.dtype()) == sizeof bits);
  std::memcpy(&bits, tensor.bytes().data() + i * static_cast<int64_t>(sizeof bits), sizeof bits);
  return bits;
}

// Returns the shortest text that is read as the same number of the tensor's type.
std::string NumberText(const HostTensor& tensor, int64_t i) {
  if (tensor.dtype() != DType::kF32) return ToString(AttributeValue(tensor.At(i)));
  char text[32];
  const auto end = std::to_chars(text, std::end(text), static_cast<float>(tensor.At(i)));
  return {text, end.ptr};
}

// Returns "f32(0.5)" or "int64[-1, 128]" for a short constant, and else "constant".
std::string NameOfConstant(const HostTensor& tensor) {
  constexpr int64_t kMostShown = 8;
  std::string text(Name(tensor.dtype()));
  if (tensor.dtype() == DType::kF16 || tensor.elements() > kMostShown) return "constant";
  const bool is_list = tensor.shape().rank() > 0;
  text += is_list ? "[" : "(";
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    if (i > 0) text += ", ";
    text += NumberText(tensor, i);
  }
  return text + (is_list ? "]" : ")");
}

// Says which input has the type by which an operator is looked up.
size_t TypedInput(std::string_view op_type) { return op_type == "Where" ? 1 : 0; }

}  // namespace

std::string ExportState::Take(const std::string& wish) {
  std::string name = wish;
  for (int number = 2; !names.insert(name).second; ++number) {
    name = wish + "_" + std::to_string(number);
  }
  return name;
}

OnnxValue ExportState::AddInput(const std::string& wish, const TensorType& type) {
  const OnnxValue value{Take(wish), type.dtype};
  out.inputs.push_back(ValueInfoOf(value.name, type));
  return value;
}

onnx::ValueInfo ValueInfoOf(const std::string& name, const TensorType& type) {
  onnx::TensorShape shape;
  for (const Dim& dim : type.shape) shape.dims.push_back(DimensionOf(dim));
  onnx::TensorType tensor;
  tensor.elem_type = OnnxTypeOf(type.dtype);
  tensor.shape = std::move(shape);
  onnx::Type described;
  described.tensor_type = std::move(tensor);
  onnx::ValueInfo info;
  info.name = name;
  info.type = std::move(described);
  return info;
}

onnx::Tensor TensorOf(const std::string& name, const HostTensor& tensor) {
  onnx::Tensor made;
  made.name = name;
  made.data_type = OnnxTypeOf(tensor.dtype());
  made.dims = tensor.shape().Sizes();
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    if (tensor.dtype() == DType::kF32) {
      made.float_data.values.push_back(static_cast<float>(tensor.At(i)));
    } else if (tensor.dtype() == DType::kF64) {
      made.double_data.values.push_back(tensor.At(i));
    } else if (tensor.dtype() == DType::kI64) {
      made.int64_data.values.push_back(tensor.data<int64_t>()[static_cast<size_t>(i)]);
    } else {
      made.int32_data.values.push_back(BitsAt(tensor, i));
    }
  }
  return made;
}

onnx::Attribute IntOf(const std::string& name, int64_t value) {
  onnx::Attribute attribute = AttributeOf(name, onnx::AttributeType::kInt);
  attribute.i = value;
  return attribute;
}

onnx::Attribute IntsOf(const std::string& name, std::vector<int64_t> values) {
  onnx::Attribute attribute = AttributeOf(name, onnx::AttributeType::kInts);
  attribute.ints = std::move(values);
  return attribute;
}

onnx::Attribute RealOf(const std::string& name, double value) {
  onnx::Attribute attribute = AttributeOf(name, onnx::AttributeType::kFloat);
  attribute.f = static_cast<float>(value);
  return attribute;
}

onnx::Attribute RealsOf(const std::string& name, const std::vector<double>& values) {
  onnx::Attribute attribute = AttributeOf(name, onnx::AttributeType::kFloats);
  for (const double value : values) attribute.floats.push_back(static_cast<float>(value));
  return attribute;
}

onnx::Attribute TextOf(const std::string& name, const std::string& value) {
  onnx::Attribute attribute = AttributeOf(name, onnx::AttributeType::kString);
  attribute.s = value;
  return attribute;
}

onnx::Attribute TensorAttributeOf(const std::string& name, const HostTensor& tensor) {
  onnx::Attribute attribute = AttributeOf(name, onnx::AttributeType::kTensor);
  attribute.t = TensorOf("", tensor);
  return attribute;
}

OnnxValue NodeEmitter::In(int i) const {
  const auto found = state_.values.find(node_.inputs.at(static_cast<size_t>(i)));
  CGRUN_CHECK(found != state_.values.end()) << "input " << i << " of " << node_.name;
  return found->second;
}

const TensorType& NodeEmitter::TypeOf(int i) const {
  return state_.graph.values[node_.inputs.at(static_cast<size_t>(i))].type;
}

const TensorType& NodeEmitter::OutType() const {
  return state_.graph.values[node_.outputs.at(0)].type;
}

void NodeEmitter::Need(int64_t opset) { state_.needed = std::max(state_.needed, opset); }

void NodeEmitter::Fail(const std::string& message, const std::string& help) const {
  throw ExportFault("'" + GetOpDef(node_.op).name + "' cannot be exported: " + message, help);
}

OnnxValue NodeEmitter::Integers(const std::vector<int64_t>& values) {
  return Constant(HostTensor::Of<int64_t>({std::ssize(values)}, values));
}

OnnxValue NodeEmitter::Number(DType dtype, double value) { return Numbers(dtype, {value}, {}); }

OnnxValue NodeEmitter::Numbers(DType dtype, const std::vector<double>& values, Shape shape) {
  if (dtype == DType::kF16) Fail("it computes with f16", "export the model in another precision");
  HostTensor tensor(dtype, std::move(shape));
  for (size_t i = 0; i < values.size(); ++i) tensor.Set(static_cast<int64_t>(i), values[i]);
  return Constant(tensor);
}

OnnxValue NodeEmitter::Constant(const HostTensor& tensor) {
  std::string key = TensorType{tensor.dtype(), tensor.shape()}.ToString();
  key.append(reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size());
  const auto known = state_.constants.find(key);
  if (known != state_.constants.end()) return known->second;
  const OnnxValue value{state_.Take(NameOfConstant(tensor)), tensor.dtype()};
  state_.out.initializers.push_back(TensorOf(value.name, tensor));
  state_.constants.emplace(std::move(key), value);
  return value;
}

OnnxValue NodeEmitter::Emit(const std::string& op_type, const Values& inputs,
                            AttributeList attributes, std::optional<DType> dtype) {
  const DType result = dtype.value_or(inputs.empty() ? DType::kF32 : inputs[0].dtype);
  return EmitAll(op_type, inputs, std::move(attributes), {result})[0];
}

NodeEmitter::Values NodeEmitter::EmitAll(const std::string& op_type, const Values& inputs,
                                         AttributeList attributes,
                                         const std::vector<DType>& dtypes) {
  const DType looked_up =
      op_type == "ConstantOfShape" ? dtypes[0] : inputs.at(TypedInput(op_type)).dtype;
  const std::optional<int64_t> first = FirstOpset(op_type, looked_up);
  if (!first) Fail("ONNX has no " + op_type + " of " + std::string(Name(looked_up)));
  Need(*first);
  onnx::Node made;
  made.op_type = op_type;
  made.attributes = std::move(attributes);
  for (const OnnxValue& input : inputs) made.inputs.push_back(input.name);
  while (!made.inputs.empty() && made.inputs.back().empty()) made.inputs.pop_back();
  Values values;
  for (const DType dtype : dtypes) {
    values.push_back({state_.Take(node_.name + "/" + op_type), dtype});
    made.outputs.push_back(values.back().name);
  }
  made.name = values[0].name;
  state_.out.nodes.push_back(std::move(made));
  ++added_;
  return values;
}

void NodeEmitter::Set(const OnnxValue& value) {
  const ValueId output = node_.outputs.at(0);
  OnnxValue& named = state_.values[output];
  named = value;
  if (added_ == 0 || state_.out.nodes.back().outputs[0] != value.name) return;
  onnx::Node& last = state_.out.nodes.back();
  state_.names.erase(value.name);
  const auto wish = state_.wishes.find(output);
  // The name of an output of the model was taken before.
  named.name =
      wish != state_.wishes.end() ? wish->second : state_.Take(state_.graph.values[output].name);
  last.name = node_.name;
  last.outputs[0] = named.name;
}

OnnxValue NodeEmitter::Cast(const OnnxValue& value, DType dtype) {
  if (value.dtype == dtype) return value;
  if (dtype == DType::kBF16) Need(*FirstOpset("Cast", dtype));
  return Emit("Cast", {value}, {IntOf("to", static_cast<int64_t>(OnnxTypeOf(dtype)))}, dtype);
}

OnnxValue NodeEmitter::Reshape(const OnnxValue& value, const Shape& shape) {
  std::vector<int64_t> sizes;
  for (const Dim& dim : shape) sizes.push_back(dim.batch ? -1 : dim.size);
  return Emit("Reshape", {value, Integers(sizes)});
}

OnnxValue NodeEmitter::Transpose(const OnnxValue& value, const std::vector<int64_t>& perm) {
  return Emit("Transpose", {value}, {IntsOf("perm", perm)});
}

OnnxValue NodeEmitter::Concat(const Values& values, int64_t axis) {
  return values.size() == 1 ? values[0] : Emit("Concat", values, {IntOf("axis", axis)});
}

// Bounds became inputs in opset 10, with steps.
OnnxValue NodeEmitter::Slice(const OnnxValue& value, const std::vector<Cut>& cuts) {
  if (cuts.empty()) return value;
  std::vector<int64_t> axes, starts, ends, steps;
  for (const Cut& cut : cuts) {
    axes.push_back(cut.axis);
    starts.push_back(cut.start);
    ends.push_back(cut.end);
    steps.push_back(cut.step);
  }
  const bool has_steps = std::ranges::any_of(steps, [](int64_t step) { return step != 1; });
  if (has_steps) Need(10);
  if (!Has(10)) {
    return Emit("Slice", {value},
                {IntsOf("axes", axes), IntsOf("ends", ends), IntsOf("starts", starts)});
  }
  Values inputs = {value, Integers(starts), Integers(ends), Integers(axes)};
  if (has_steps) inputs.push_back(Integers(steps));
  return Emit("Slice", inputs);
}

// Axes became an input in opset 13 for the sum, in 18 for others.
OnnxValue NodeEmitter::Reduce(const std::string& op_type, const OnnxValue& value,
                              const std::vector<int64_t>& axes, bool keeps) {
  const AttributeList keep = {IntOf("keepdims", keeps ? 1 : 0)};
  if (Has(op_type == "ReduceSum" ? 13 : 18)) return Emit(op_type, {value, Integers(axes)}, keep);
  return Emit(op_type, {value}, {IntsOf("axes", axes), keep[0]});
}

// Widths became an input in opset 11.
OnnxValue NodeEmitter::Pad(const OnnxValue& value, const std::vector<int64_t>& before,
                           const std::vector<int64_t>& after, double fill,
                           const std::string& mode) {
  std::vector<int64_t> pads = before;
  pads.insert(pads.end(), after.begin(), after.end());
  if (mode == "wrap") Need(19);
  const bool is_exact = static_cast<double>(static_cast<float>(fill)) == fill;
  if (!is_exact && value.dtype == DType::kF64) Need(11);
  if (!Has(11)) {
    return Emit("Pad", {value},
                {TextOf("mode", mode), IntsOf("pads", pads), RealOf("value", fill)});
  }
  Values inputs = {value, Integers(pads)};
  if (fill != 0 && mode == "constant") inputs.push_back(Number(value.dtype, fill));
  return Emit("Pad", inputs, {TextOf("mode", mode)});
}

OnnxValue NodeEmitter::BatchSize() {
  for (const auto& [id, value] : state_.values) {
    const Value& source = state_.graph.values[id];
    const bool is_input = !source.producer.valid() && source.role == Role::kPlaceholder;
    if (!is_input || source.type.shape.rank() == 0 || source.type.shape[0] != kBatchDim) continue;
    return Sizes(value, source.type.shape, 0, 1);
  }
  Fail("no input of the model has the batch", "`--batch N` fixes its size");
}

OnnxValue NodeEmitter::Sizes(const OnnxValue& value, const Shape& shape, int first, int last) {
  const Shape part(std::vector<Dim>(shape.begin() + first, shape.begin() + last));
  if (part.IsBound()) return Integers(part.Sizes());
  const OnnxValue sizes = Emit("Shape", {value}, {}, DType::kI64);
  if (first == 0 && last == shape.rank()) return sizes;
  return Slice(sizes, {{0, first, last}});
}

}  // namespace cgrun
