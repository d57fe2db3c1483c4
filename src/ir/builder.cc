// Adding values and nodes with inferred types and unique names.
#include "src/ir/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

#include "src/base/check.h"

namespace cgrun {
namespace {

std::vector<TensorType> TypesOf(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<TensorType> types;
  types.reserve(ids.size());
  for (ValueId id : ids) types.push_back(graph.values[id].type);
  return types;
}

// Lists the operands that users gave. Values that the compiler adds (".step") are left out.
std::string OperandText(const Graph& graph, const std::vector<ValueId>& inputs,
                        bool parameters = true) {
  std::vector<std::string> operands;
  for (ValueId id : inputs) {
    const Value& value = graph.values[id];
    if (value.name.starts_with('.')) continue;
    if (!parameters && value.role == Role::kParameter) continue;
    operands.push_back(value.name + ": " + value.type.ToString());
  }
  return operands.empty() ? "" : fmt::format("operands: {}", fmt::join(operands, ", "));
}

// If two inputs of different number types fit the other way round, returns help that says which
// comes first.
std::string OrderHelp(OpId op, const Attributes& attributes, const std::vector<TensorType>& types) {
  if (types.size() != 2 || types[0].dtype == types[1].dtype) return "";
  InferContext exchanged(attributes, {types[1], types[0]});
  InferTypes(op, exchanged);
  if (exchanged.failed()) return "";
  const OpDef& def = GetOpDef(op);
  return "exchange the two: '" + std::string(def.inputs.at(0).name) + "' comes first, then '" +
         std::string(def.inputs.at(1).name) + "'";
}

// If the operator would take floating-point inputs in place of integer ones, returns help that
// names an operator for the conversion.
std::string CastHelp(const Graph& graph, OpId op, const Attributes& attributes,
                     const std::vector<ValueId>& inputs) {
  std::vector<TensorType> types = TypesOf(graph, inputs);
  const auto whole = std::ranges::find_if(types, [](const TensorType& type) {
    return !IsFloat(type.dtype) && type.dtype != DType::kBool;
  });
  if (whole == types.end()) return "";
  const auto real =
      std::ranges::find_if(types, [](const TensorType& type) { return IsFloat(type.dtype); });
  const DType from = whole->dtype, to = real == types.end() ? DType::kF32 : real->dtype;
  std::string named;
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i].dtype != from) continue;
    types[i].dtype = to;
    const Value& value = graph.values[inputs[i]];
    if (value.role == Role::kParameter || value.name.starts_with('.')) continue;
    named += (named.empty() ? "'" : " and '") + value.name + "'";
  }
  InferContext cast(attributes, types);
  InferTypes(op, cast);
  if (cast.failed() || named.empty()) return "";
  const bool one = named.find(" and ") == std::string::npos;
  return named + (one ? " is " : " are ") + std::string(Name(from)) +
         ": `normalize` or `cast` makes floats of " + (one ? "it" : "them");
}

}  // namespace

NameTable::NameTable(const Graph& graph) {
  Grow(std::bit_ceil(2 * (graph.values.size() + graph.nodes.size()) + 16));
  for (ValueId id : graph.values.ids()) Insert(graph.values[id].name, id);
  for (const Node& node : graph.nodes) Insert(node.name);
}

bool NameTable::Insert(std::string_view name, ValueId value) {
  if (2 * (taken_ + 1) > slots_.size()) Grow(2 * slots_.size());
  const uint64_t hash = std::hash<std::string_view>()(name);
  Slot& slot = slots_[PlaceOf(hash)];
  if (slot.is_taken) return false;
  slot = {hash, value, true};
  ++taken_;
  return true;
}

ValueId& NameTable::At(std::string_view name) {
  Slot& slot = slots_[PlaceOf(std::hash<std::string_view>()(name))];
  CGRUN_CHECK(slot.is_taken) << name << " was not given";
  return slot.value;
}

const ValueId* NameTable::Find(std::string_view name) const {
  const Slot& slot = slots_[PlaceOf(std::hash<std::string_view>()(name))];
  return slot.is_taken ? &slot.value : nullptr;
}

size_t NameTable::PlaceOf(uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t place = hash & mask;
  while (slots_[place].is_taken && slots_[place].hash != hash) place = (place + 1) & mask;
  return place;
}

void NameTable::Grow(size_t slots) {
  const std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(slots));
  for (const Slot& slot : before) {
    if (slot.is_taken) slots_[PlaceOf(slot.hash)] = slot;
  }
}

Builder::Builder(Graph& graph) : graph_(graph) {}

NameTable& Builder::names() {
  if (!names_) names_.emplace(graph_);
  return *names_;
}

std::string Builder::UniqueName(std::string_view wish) {
  std::string name(wish);
  if (names().Insert(name)) return name;
  int& suffix = last_suffix_.emplace(name, 1).first->second;  // up to there all are taken
  do {
    name = std::string(wish) + "." + std::to_string(++suffix);
  } while (!names().Insert(name));
  return name;
}

ValueId Builder::FindValue(std::string_view name) {
  const ValueId* found = names().Find(name);
  return found == nullptr ? ValueId() : *found;
}

ValueId Builder::Add(Value value) {
  ValueId& named = names().At(value.name);
  named = graph_.values.push_back(std::move(value));
  return named;
}

ValueId Builder::AddSource(Role role, Zone zone, TensorType type, std::string_view name,
                           SourceMark mark) {
  Value value;
  value.type = std::move(type);
  value.role = role;
  value.zone = zone;
  value.name = UniqueName(name);
  value.mark = std::move(mark);
  return Add(std::move(value));
}

ValueId Builder::AddConstant(HostTensor tensor, std::string_view name, SourceMark mark) {
  const ValueId id = AddSource(Role::kConstant, Zone::kForward, {tensor.dtype(), tensor.shape()},
                               name, std::move(mark));
  graph_.constants.emplace(id, std::move(tensor));
  return id;
}

std::vector<ValueId> Builder::AddNode(OpId op, Attributes attributes, std::vector<ValueId> inputs,
                                      std::string_view name, const NodeOptions& options) {
  InferContext context(attributes, TypesOf(graph_, inputs));
  std::vector<TensorType> types = InferTypes(op, context);
  CGRUN_CHECK(!context.failed()) << name << " (" << NameOf(op) << "): " << context.message() << "; "
                                 << OperandText(graph_, inputs);
  return Append(op, std::move(attributes), std::move(inputs), std::move(types), name, options);
}

std::optional<std::vector<ValueId>> Builder::TryAddNode(OpId op, Attributes attributes,
                                                        std::vector<ValueId> inputs,
                                                        std::string_view name,
                                                        const NodeOptions& options,
                                                        Diagnostics& diagnostics) {
  InferContext context(attributes, TypesOf(graph_, inputs));
  std::vector<TensorType> types = InferTypes(op, context);
  if (context.failed()) {
    const std::string order = OrderHelp(op, attributes, TypesOf(graph_, inputs));
    const std::string cast = order.empty() ? CastHelp(graph_, op, attributes, inputs) : "";
    // The types of parameters follow from what is to be cast.
    std::string help = OperandText(graph_, inputs, cast.empty());
    const std::string& first = !order.empty() ? order : !cast.empty() ? cast : context.help();
    if (!first.empty()) help = first + (help.empty() ? "" : "; ") + help;
    if (!WasTold(options.mark, context.message())) {
      diagnostics.Error(options.mark, std::string(name) + ": " + context.message(), help);
    }
    return std::nullopt;
  }
  if (!context.warning().empty() && !WasTold(options.mark, context.warning())) {
    diagnostics.Warning(options.mark, std::string(name) + ": " + context.warning(),
                        context.warning_help());
  }
  return Append(op, std::move(attributes), std::move(inputs), std::move(types), name, options);
}

bool Builder::WasTold(const SourceMark& mark, const std::string& message) {
  return mark.file && !told_.insert(mark.ToString() + " " + message).second;
}

std::vector<ValueId> Builder::Append(OpId op, Attributes attributes, std::vector<ValueId> inputs,
                                     std::vector<TensorType> types, std::string_view name,
                                     const NodeOptions& options) {
  const OpDef& def = GetOpDef(op);
  Node node;
  node.op = op;
  node.attributes = std::move(attributes);
  node.inputs = std::move(inputs);
  node.phase = options.phase;
  node.path = options.path;
  node.mark = options.mark;
  node.name = UniqueName(name);
  const NodeId id(static_cast<int64_t>(graph_.nodes.size()));
  for (size_t i = 0; i < types.size(); ++i) {
    Value value;
    value.type = std::move(types[i]);
    value.role = options.output_role;
    value.zone = options.output_zone;
    value.mark = options.mark;
    value.producer = id;
    value.output_index = static_cast<int>(i);
    value.name = i == 0 ? node.name : UniqueName(node.name + "." + def.outputs.at(i).name);
    node.outputs.push_back(Add(std::move(value)));
  }
  std::vector<ValueId> outputs = node.outputs;
  graph_.nodes.push_back(std::move(node));
  return outputs;
}

}  // namespace cgrun
