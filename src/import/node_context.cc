// Access to a node with errors that name it.
#include "src/import/node_context.h"

#include <algorithm>
#include <utility>

#include "src/base/diagnostics.h"
#include "src/import/weight_slots.h"
#include "src/import/widen.h"
#include "src/onnx/wire.h"

namespace cgrun {

const ImportedValue* GraphScope::Find(std::string_view name) const {
  for (const GraphScope* scope = this; scope != nullptr; scope = scope->outer) {
    const auto found = scope->operands.find(name);
    if (found != scope->operands.end()) return &found->second;
  }
  return nullptr;
}

namespace {

// Types that a model whose precision is f32 has no parameters of.
bool IsHalf(DType dtype) { return dtype == DType::kF16 || dtype == DType::kBF16; }

// The keys of a `parameter` with the elements of a constant, whose type cgrun has.
std::vector<TreeEntry> ParameterKeys(const Constant& constant, DType precision) {
  const DType dtype = *DTypeOfOnnx(constant.type);
  std::vector<TreeEntry> keys = {KeyOfList("shape", constant.dims)};
  if (dtype != precision) keys.push_back(KeyOf("type", std::string(Name(dtype))));
  if (IsFloat(dtype)) keys.push_back(KeyOf("frozen", true));
  return keys;
}

}  // namespace

NodeContext::NodeContext(ImportState& state, const onnx::Node& node, size_t index)
    : state_(state),
      node_(node),
      index_(index),
      items_before_(static_cast<int>(state.network.items().size())) {}

std::string NodeContext::Label() const {
  const std::string name =
      node_.name.empty() ? std::to_string(index_) : "'" + onnx::Shown(node_.name) + "'";
  return "node " + name + " (" + onnx::Shown(node_.op_type) + ")";
}

void NodeContext::Fail(const std::string& what, const std::string& help) const {
  throw InputError("'" + state_.file.path() + "': " + Label() + ": " + what, help);
}

void NodeContext::FailAttribute(std::string_view name, const std::string& what) const {
  Fail("attribute '" + onnx::Shown(name) + "' " + what);
}

int NodeContext::num_inputs() const {
  int count = static_cast<int>(node_.inputs.size());
  while (count > 0 && !Has(count - 1)) --count;
  return count;
}

bool NodeContext::Has(int i) const {
  return static_cast<size_t>(i) < node_.inputs.size() &&
         !node_.inputs[static_cast<size_t>(i)].empty();
}

const ImportedValue& NodeContext::Input(int i) const {
  if (!Has(i)) Fail("input " + std::to_string(i) + " is absent");
  const auto at = static_cast<size_t>(i);
  if (widening_ && widening_->inputs[at]) return *widening_->inputs[at];
  const std::string& name = node_.inputs[at];
  const ImportedValue* const found = state_.scope->Find(name);
  if (found == nullptr) {
    Fail("reads '" + onnx::Shown(name) + "', which nothing before it makes",
         "it is neither an input, nor a constant, nor what another node makes before this one");
  }
  return *found;
}

const NetworkValue& NodeContext::Value(int i) const {
  const ImportedValue& operand = Input(i);
  if (!operand.constant) return operand.value;
  const NetworkValue& parameter = ParameterOf(i, *operand.constant);
  if (IsWeightSlot(node_, i)) state_.learned.insert(parameter.name);
  return parameter;
}

const NetworkValue& NodeContext::ParameterOf(int i, const Constant& constant) const {
  if (constant.tensor != nullptr) {
    const auto known = state_.parameters.find({constant.tensor, constant.dims});
    if (known != state_.parameters.end()) return known->second;
  }
  std::optional<Constant> computed;
  if (constant.tensor == nullptr) {
    std::optional<HostTensor> elements = HostOf(constant, state_.file);
    if (!elements) {
      Fail("input " + std::to_string(i) +
           " is a size that depends on the batch, and is supported "
           "only in shapes");
    }
    computed = ConstantOf(*std::move(elements));
  }
  const Constant& used = computed ? *computed : constant;
  return state_.parameters[{used.tensor, used.dims}] = AddParameter(i, used);
}

NetworkValue NodeContext::AddParameter(int i, const Constant& constant) const {
  const std::string& name = node_.inputs[static_cast<size_t>(i)];
  const std::optional<DType> dtype = DTypeOfOnnx(constant.type);
  if (!dtype) {
    Fail("its constant '" + onnx::Shown(name) + "' is " + onnx::NameOf(constant.type) +
         ", which is not supported");
  }
  if (ElementsOf(constant) == 0) {
    Fail("its constant '" + onnx::Shown(name) +
         "' has no elements, and is supported only as a "
         "shape or a list");
  }
  if (IsHalf(*dtype)) {
    const Constant wide = ConvertedConstant(constant, DType::kF32, state_.file);
    return CastValue(state_, AddParameter(i, wide), *dtype);
  }
  Item item{constant.name.empty() ? name : constant.name,
            "parameter",
            {},
            ParameterKeys(constant, state_.network.precision()),
            {{"value", constant}}};
  try {
    return state_.network.Add(std::move(item), {});
  } catch (const UserError& error) {
    Fail(error.what(), error.help());
  }
}

TensorType NodeContext::TypeOf(int i) const {
  const ImportedValue& operand = Input(i);
  if (!operand.constant) return state_.network.TypeOf(operand.value);
  const std::optional<DType> dtype = DTypeOfOnnx(operand.constant->type);
  if (!dtype) {
    Fail("input " + std::to_string(i) + " is " + onnx::NameOf(operand.constant->type) +
         ", which is not supported");
  }
  return {*dtype, Shape::Of(operand.constant->dims)};
}

void NodeContext::RefuseBatch(int i, int64_t axis, const std::string& what) const {
  if (IsBatch(i, axis)) Fail(what + " the batch axis");
}

const Constant& NodeContext::ConstantInput(int i) const {
  const ImportedValue& operand = Input(i);
  if (!operand.constant) {
    Fail("input " + std::to_string(i) + ", '" + onnx::Shown(node_.inputs[static_cast<size_t>(i)]) +
             "', is computed when the model runs, and is supported only as a constant",
         "weights, shapes and axes must be initialisers or constants");
  }
  return *operand.constant;
}

std::vector<int64_t> NodeContext::Integers(int i) const {
  const auto integers = IntegersOf(ConstantInput(i), state_.file);
  if (!integers) Fail("input " + std::to_string(i) + " must be a short list of fixed integers");
  return *integers;
}

std::optional<double> NodeContext::Number(int i) const {
  return NumberOf(ConstantInput(i), state_.file);
}

bool NodeContext::IsOnlyUse(int i) const {
  if (widening_ && widening_->inputs[static_cast<size_t>(i)]) return false;
  const std::string& name = node_.inputs[static_cast<size_t>(i)];
  const auto own = state_.scope->operands.find(name);  // values further out have other readers
  const auto uses = state_.scope->uses.find(name);
  return own != state_.scope->operands.end() && !own->second.shared &&
         uses != state_.scope->uses.end() && uses->second == 1;
}

const onnx::Attribute* NodeContext::Find(std::string_view name) {
  asked_.emplace(name);
  const auto found = std::ranges::find(node_.attributes, name, &onnx::Attribute::name);
  return found == node_.attributes.end() ? nullptr : &*found;
}

int64_t NodeContext::Int(std::string_view name, int64_t fallback) {
  const onnx::Attribute* attribute = Find(name);
  if (attribute == nullptr) return fallback;
  if (!attribute->i) FailAttribute(name, "is no integer");
  return *attribute->i;
}

float NodeContext::Real(std::string_view name, float fallback) {
  const onnx::Attribute* attribute = Find(name);
  if (attribute == nullptr) return fallback;
  if (!attribute->f) FailAttribute(name, "is no number");
  return *attribute->f;
}

std::string NodeContext::Text(std::string_view name, const std::string& fallback) {
  const onnx::Attribute* attribute = Find(name);
  if (attribute == nullptr) return fallback;
  if (!attribute->s) FailAttribute(name, "is no text");
  return *attribute->s;
}

std::optional<std::vector<int64_t>> NodeContext::Ints(std::string_view name) {
  const onnx::Attribute* attribute = Find(name);
  if (attribute == nullptr) return std::nullopt;
  if (attribute->i) FailAttribute(name, "is no list");
  return attribute->ints;
}

std::vector<float> NodeContext::Reals(std::string_view name) {
  const onnx::Attribute* attribute = Find(name);
  if (attribute == nullptr) return {};
  if (attribute->f) FailAttribute(name, "is no list");
  return attribute->floats;
}

const onnx::Tensor* NodeContext::TensorAttribute(std::string_view name) {
  const onnx::Attribute* attribute = Find(name);
  return attribute == nullptr || !attribute->t ? nullptr : &*attribute->t;
}

void NodeContext::Only(std::string_view name, int64_t value) {
  const int64_t given = Int(name, value);
  if (given == value) return;
  FailAttribute(name, "is " + std::to_string(given) + ", and only " + std::to_string(value) +
                          " is supported");
}

int64_t NodeContext::Axis(int64_t axis, int rank) const {
  if (axis < -rank || axis >= rank) {
    Fail("there is no axis " + std::to_string(axis) + " among " + std::to_string(rank));
  }
  return axis < 0 ? axis + rank : axis;
}

// Exporters name weights after layers, which is the name that people know.
std::string NodeContext::Wish(const std::vector<Weight>& weights) const {
  constexpr std::string_view kEnding = ".weight";
  for (const Weight& weight : weights) {
    const std::string& name = weight.source.name;
    if (name.ends_with(kEnding)) return name.substr(0, name.size() - kEnding.size());
  }
  if (!node_.name.empty()) return node_.name;
  return node_.outputs.empty() ? node_.op_type : node_.outputs[0];
}

NetworkValue NodeContext::Emit(const std::string& op, const std::vector<Network::Input>& inputs,
                               std::vector<TreeEntry> keys, std::vector<Weight> weights,
                               const std::string& part) {
  Item item{"", op, {}, std::move(keys), std::move(weights)};
  const std::string* const reserved = part.empty() ? ReservedName() : nullptr;
  item.name =
      reserved != nullptr ? *reserved : Wish(item.weights) + (part.empty() ? "" : "_" + part);
  try {
    return state_.network.Add(std::move(item), inputs, reserved != nullptr);
  } catch (const UserError& error) {
    Fail(error.what(), error.help());
  }
}

NetworkValue NodeContext::EmitParameter(Constant constant, const std::string& part) {
  const DType dtype = *DTypeOfOnnx(constant.type);
  if (IsHalf(dtype)) {
    constant = ConvertedConstant(constant, DType::kF32, state_.file);
    return CastValue(state_, EmitParameter(std::move(constant), part), dtype);
  }
  std::vector<TreeEntry> keys = ParameterKeys(constant, state_.network.precision());
  const NetworkValue parameter =
      Emit("parameter", {}, std::move(keys), {{"value", std::move(constant)}}, part);
  if (MakesWeights(node_)) state_.learned.insert(parameter.name);
  return parameter;
}

const std::string* NodeContext::ReservedName() const {
  const bool is_taken = widening_ && (widening_->narrowed & 1) != 0;  // by the cast behind
  if (!state_.scope->is_main || node_.outputs.empty() || is_taken) return nullptr;
  const auto output = state_.outputs.find(node_.outputs[0]);
  return output == state_.outputs.end() ? nullptr : &output->second;
}

NetworkValue NodeContext::EmitReshape(const NetworkValue& value, const std::vector<Dim>& dims,
                                      const std::string& part) {
  const bool has_batch = !TypeOf(value).shape.IsBound();
  if (has_batch && (dims.empty() || !(dims[0] == kBatchDim))) {
    Fail("its result has the shape " + Shape(dims).ToString() +
             ", in which the batch is not the first axis",
         "a reshape keeps the batch axis in front");
  }
  std::vector<int64_t> sizes;
  for (size_t i = has_batch ? 1 : 0; i < dims.size(); ++i) {
    if (dims[i].batch) Fail("its result has the batch in two axes");
    sizes.push_back(dims[i].size);
  }
  return Emit("reshape", {{value, ""}}, {KeyOfList("shape", sizes)}, {}, part);
}

void NodeContext::Set(int output, ImportedValue operand) {
  if (static_cast<size_t>(output) >= node_.outputs.size()) Fail("has no output");
  const std::string& name = node_.outputs[static_cast<size_t>(output)];
  if (name.empty()) return;
  Narrow(output, &operand);
  if (!operand.constant) operand.shared |= operand.value.item < items_before_;
  if (!state_.scope->operands.emplace(name, std::move(operand)).second) {
    Fail("makes '" + onnx::Shown(name) + "', which there is already");
  }
}

void NodeContext::Finish(int max_inputs) const {
  for (const onnx::Attribute& attribute : node_.attributes) {
    if (!asked_.contains(attribute.name)) FailAttribute(attribute.name, "is not known");
    if (!attribute.ref_attr_name.empty()) FailAttribute(attribute.name, "refers to a function");
  }
  if (num_inputs() > max_inputs) {
    Fail("has " + CountText(num_inputs(), "input") + ", and only " + std::to_string(max_inputs) +
         " are supported");
  }
  for (const std::string& output : node_.outputs) {
    if (state_.scope->uses.contains(output) && !state_.scope->operands.contains(output)) {
      Fail("its output '" + onnx::Shown(output) + "' is used, and is not supported");
    }
  }
}

}  // namespace cgrun
