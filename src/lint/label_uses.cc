// Walks from losses, metrics and embeddings back to the inputs that they read.
#include "src/lint/label_uses.h"

#include <optional>
#include <string_view>

#include "src/base/check.h"
#include "src/ir/op_def.h"

namespace cgrun {
namespace {

// Operands of a loss or metric that reads labels.
constexpr size_t kLogits = 0, kLabel = 1;

int64_t CountIn(const Node& node, std::string_view key) {
  const AttributeField* field = node.attributes.schema().Find(key);
  CGRUN_CHECK(field != nullptr) << NameOf(node.op) << " has no attribute " << key;
  return std::get<int64_t>(node.attributes.Get(*field));
}

// Finds the layer that says how many classes logits have. Other operators may move what it gives.
void FindMaker(const Graph& graph, ValueId logits, LabelUse& use) {
  while (graph.values[logits].producer.valid()) {
    const Node& node = graph.nodes[graph.values[logits].producer];
    const OpDef& def = GetOpDef(node.op);
    if (!def.units.empty()) {
      if (CountIn(node, def.units) != use.classes) return;
      use.maker = node.mark;
      use.key = def.units;
      return;
    }
    if (node.inputs.empty()) return;
    const bool same_shape =
        graph.values[node.outputs[0]].type.shape == graph.values[node.inputs[0]].type.shape;
    const bool moves = def.moves >= Moves::kAnywhere;
    if (!moves && (!same_shape || node.inputs.size() != 1)) return;
    logits = node.inputs[0];
  }
}

// The value of the attribute `ignore_label`; nothing where the operator has none.
std::optional<IntList> IgnoredBy(const Node& node) {
  const AttributeField* field = node.attributes.schema().Find("ignore_label");
  if (field == nullptr) return std::nullopt;
  return std::get<IntList>(node.attributes.Get(*field));
}

std::optional<LabelUse> IdsOf(const Graph& graph, const Node& node) {
  const OpDef& def = GetOpDef(node.op);
  const Value& ids = graph.values[node.inputs[0]];
  if (ids.role != Role::kPlaceholder) return std::nullopt;
  const auto kind = def.skips_labels ? LabelUse::Kind::kRows : LabelUse::Kind::kEntries;
  LabelUse use = {ids.name, CountIn(node, def.id_count), def.name, kind};
  use.maker = node.mark;
  use.key = def.id_count;
  return use;
}

std::optional<LabelUse> BinaryLabelsOf(const Graph& graph, const Node& node) {
  const Value& label = LabelSource(graph, node.inputs[kLabel]);
  const bool is_bool = graph.values[node.inputs[kLabel]].type.dtype == DType::kBool;
  if (is_bool || label.role != Role::kPlaceholder) return std::nullopt;
  const bool is_float = IsFloat(label.type.dtype);
  LabelUse use = {label.name, 2, GetOpDef(node.op).name,
                  is_float ? LabelUse::Kind::kProbabilities : LabelUse::Kind::kBinary};
  use.maker = node.mark;
  return use;
}

// Returns nothing where each sample has a score, not a score a class.
std::optional<LabelUse> ClassesOf(const Graph& graph, const Node& node) {
  const Shape& logits = graph.values[node.inputs[kLogits]].type.shape;
  const TensorType& type = graph.values[node.inputs[kLabel]].type;
  const bool has_classes = !IsFloat(type.dtype) && logits.rank() == type.shape.rank() + 1;
  const Value& label = LabelSource(graph, node.inputs[kLabel]);
  if (!has_classes || label.role != Role::kPlaceholder || logits[1].batch) return std::nullopt;
  const OpDef& def = GetOpDef(node.op);
  const std::optional<IntList> ignored = IgnoredBy(node);
  LabelUse use = {label.name,
                  logits[1].size,
                  def.name,
                  LabelUse::Kind::kClasses,
                  ignored.value_or(IntList()),
                  ignored.has_value(),
                  def.skips_labels};
  FindMaker(graph, node.inputs[kLogits], use);
  return use;
}

std::optional<LabelUse> UseOf(const Graph& graph, const Node& node) {
  switch (GetOpDef(node.op).labels) {
    case Labels::kNone:
      return std::nullopt;
    case Labels::kClasses:
      return ClassesOf(graph, node);
    case Labels::kBinary:
      return BinaryLabelsOf(graph, node);
    case Labels::kIds:
      return IdsOf(graph, node);
  }
  return std::nullopt;
}

// If another use of the input ignores a label on purpose, it is no mistake where it does not count
// anyway.
void LeaveOutWhatOthersIgnore(std::vector<LabelUse>& uses) {
  for (LabelUse& use : uses) {
    if (!use.leaves_out) continue;
    for (const LabelUse& other : uses) {
      if (!other.can_ignore || other.input != use.input) continue;
      use.ignored.insert(use.ignored.end(), other.ignored.begin(), other.ignored.end());
    }
  }
}

}  // namespace

const Value& LabelSource(const Graph& graph, ValueId id) {
  while (graph.values[id].producer.valid()) {
    const Node& node = graph.nodes[graph.values[id].producer];
    if (GetOpDef(node.op).moves < Moves::kAnywhere) break;
    const DType from = graph.values[node.inputs[0]].type.dtype, to = graph.values[id].type.dtype;
    const bool widens = from == DType::kF32 && to == DType::kF64;  // as a run of f64 does
    if (from != to && !widens) break;
    id = node.inputs[0];
  }
  return graph.values[id];
}

std::vector<LabelUse> FindLabelUses(const Graph& forward) {
  std::vector<LabelUse> uses;
  for (const Node& node : forward.nodes) {
    const auto use = UseOf(forward, node);
    if (use) uses.push_back(*use);
  }
  LeaveOutWhatOthersIgnore(uses);
  return uses;
}

}  // namespace cgrun
