// Types are those that the compiler infers: each item becomes a node of a graph of its own.
#include "src/import/network.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "src/frontend/attribute_parser.h"
#include "src/frontend/frontend.h"
#include "src/frontend/numbers.h"
#include "src/import/constant.h"

namespace cgrun {
namespace {

[[noreturn]] void ThrowFirst(const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics.Sorted()) {
    if (diagnostic.severity == Severity::kError) {
      throw UserError(diagnostic.message, diagnostic.help);
    }
  }
  throw UserError("cannot be imported");
}

OpSpec SpecOf(const Item& item) {
  OpSpec spec;
  spec.target.value = item.op;
  spec.attributes = item.keys;
  return spec;
}

std::string DimsText(const std::vector<int64_t>& dims) { return Shape::Of(dims).ToString(); }

// Sets the type of the weight that becomes `owned`.
void CheckWeight(Weight& weight, const OwnedTensor& owned, const std::string& op) {
  const std::optional<DType> dtype = DTypeOfOnnx(weight.source.type);
  if (dtype != owned.type.dtype) {
    throw UserError("its tensor '" + weight.source.name + "' is " +
                    onnx::NameOf(weight.source.type) + ", and '" + op + "' wants " +
                    std::string(Name(owned.type.dtype)));
  }
  weight.type = owned.type;
  std::vector<int64_t> dims = weight.source.dims, wanted = owned.type.shape.Sizes();
  if (weight.transposed) std::reverse(dims.begin(), dims.end());
  std::erase(dims, 1);
  std::erase(wanted, 1);
  if (dims == wanted || (weight.fills && ElementsOf(weight.source) == 1)) return;
  throw UserError("its tensor '" + weight.source.name + "' is " + DimsText(weight.source.dims) +
                  ", and " + DimsText(owned.type.shape.Sizes()) + " is wanted");
}

}  // namespace

NetworkValue Network::AddInput(std::string_view wish, const TensorType& type) {
  const std::string name = names_.Take(wish);
  placeholders_.push_back(
      {name, typed_->builder.AddSource(Role::kPlaceholder, Zone::kForward, type, name), -1});
  return placeholders_.back();
}

const Weight* Network::WeightOf(ValueId source) const {
  const auto found = weights_.find(source);
  return found == weights_.end() ? nullptr
                                 : &items_[found->second.first].weights[found->second.second];
}

ValueId Network::Infer(Item& item, size_t place, const std::vector<Input>& inputs) {
  Graph& graph = typed_->graph;
  Builder& builder = typed_->builder;
  Diagnostics diagnostics;
  Numbers numbers(builder, diagnostics);
  std::optional<DType> dtype;
  for (const Input& input : inputs) {
    if (!input.number.empty()) continue;
    const DType of_value = TypeOf(input.value).dtype;
    if (!dtype && of_value != DType::kBool) dtype = of_value;
  }
  std::vector<ValueId> ids;
  std::vector<TensorType> types;
  for (const Input& input : inputs) {
    if (input.number.empty()) {
      ids.push_back(input.value.id);
    } else {
      const MarkedText number{input.number, {}};
      const auto constant = numbers.Constant(number, dtype.value_or(precision_));
      if (!constant) ThrowFirst(diagnostics);
      ids.push_back(*constant);
    }
    types.push_back(graph.values[ids.back()].type);
  }
  const std::optional<OpId> op = FindOp(item.op);
  const OpDef& def = GetOpDef(*op);
  Attributes attributes = ParseAttributes(def, SpecOf(item), CommonKeys(), diagnostics);
  if (diagnostics.has_errors()) ThrowFirst(diagnostics);
  const AttributeField* training = def.schema->Find("training");
  if (training != nullptr) attributes = attributes.With(*training, false);
  const AttributeField* type = def.schema->Find("type");
  const bool has_type = std::ranges::find(item.keys, "type", &TreeEntry::key) != item.keys.end();
  if (type != nullptr && type->kind == AttributeKind::kDType && !has_type) {
    attributes = attributes.With(*type, precision_);
  }
  attributes = ForInputs(def, std::move(attributes), types);
  if (def.owned != nullptr) {
    InferContext context(attributes, types);
    const std::vector<OwnedTensor> owned = def.owned(context);
    for (const OwnedTensor& tensor : owned) {
      const auto weight = std::ranges::find(item.weights, tensor.name, &Weight::name);
      if (weight == item.weights.end()) throw UserError("has no tensor '" + tensor.name + "'");
      CheckWeight(*weight, tensor, item.op);
      ids.push_back(builder.AddSource(tensor.role, Zone::kForward, tensor.type,
                                      item.name + "." + tensor.name));
      weights_[ids.back()] = {place, static_cast<size_t>(weight - item.weights.begin())};
    }
  }
  const auto outputs = builder.TryAddNode(*op, attributes, ids, item.name, {}, diagnostics);
  if (!outputs) ThrowFirst(diagnostics);
  return outputs->front();
}

NetworkValue Network::Add(Item item, const std::vector<Input>& inputs, bool reserved) {
  if (!reserved) item.name = names_.Take(item.name);
  for (const Input& input : inputs) {
    item.in.push_back(input.number.empty() ? input.value.name : input.number);
  }
  const ValueId id = Infer(item, items_.size(), inputs);
  items_.push_back(std::move(item));
  inputs_.push_back(inputs);
  ids_.push_back(id);
  return {items_.back().name, id, static_cast<int>(items_.size()) - 1};
}

NetworkValue Network::Replace(const NetworkValue& value, Item item) {
  const auto place = static_cast<size_t>(value.item);
  const ValueId id = Infer(item, place, inputs_[place]);
  items_[place] = std::move(item);
  ids_[place] = id;
  return {items_[place].name, id, value.item};
}

}  // namespace cgrun
