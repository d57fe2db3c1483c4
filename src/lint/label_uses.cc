// From losses, metrics and embeddings back to the inputs that they read.
#include "src/lint/label_uses.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "src/ir/op_def.h"
#include "src/ops/embedding.h"
#include "src/ops/one_hot.h"

namespace cgrun {
namespace {

// Operands of a loss or metric with classes along axis 1 of the first.
constexpr size_t kLogits = 0, kLabel = 1;

// Whether input kLabel of an operator holds classes of input kLogits: so it is of a loss or metric
// of classifiers, if the logits have one number a class.
bool TakesLabels(const Graph& graph, const Node& node) {
  const Usage usage = GetOpDef(node.op).usage;
  if (usage != Usage::kLoss && usage != Usage::kMetric) return false;
  if (node.inputs.size() != 2) return false;
  const TensorType &logits = graph.values[node.inputs[kLogits]].type,
                   &label = graph.values[node.inputs[kLabel]].type;
  return IsFloat(logits.dtype) && !IsFloat(label.dtype) && label.dtype != DType::kBool &&
         logits.shape.rank() == label.shape.rank() + 1;
}

// Whether it does of binary_cross_entropy, whose integers are 0 and 1, and whose floats lie between
// them.
bool TakesBinaryLabels(const Graph& graph, const Node& node) {
  const DType label = graph.values[node.inputs.back()].type.dtype;
  return node.op == OpId::binary_cross_entropy && label != DType::kBool;
}

// What reads ids, and how many of them it knows.
struct IdReader {
  LabelUse::Kind kind;
  int64_t ids = 0;
  const char* key = "";
};

std::optional<IdReader> IdReaderOf(const Node& node) {
  if (node.op == OpId::embedding) {
    return IdReader{LabelUse::Kind::kEntries, node.attributes.As<EmbeddingAttributes>().entries,
                    "entries"};
  }
  if (node.op == OpId::one_hot) {
    return IdReader{LabelUse::Kind::kRows, node.attributes.As<OneHotAttributes>().classes,
                    "classes"};
  }
  return std::nullopt;
}

// What says how many classes logits have: the operator with as many units or filters that makes
// them, or what other operators move.
void FindMaker(const Graph& graph, ValueId logits, LabelUse& use) {
  constexpr OpId kMoves[] = {OpId::identity, OpId::reshape, OpId::flatten, OpId::transpose};
  while (graph.values[logits].producer.valid()) {
    const Node& node = graph.nodes[graph.values[logits].producer];
    for (const char* key : {"units", "filters"}) {
      const AttributeField* field = node.attributes.schema().Find(key);
      if (field == nullptr) continue;
      if (std::get<int64_t>(node.attributes.Get(*field)) != use.classes) return;
      use.maker = node.mark;
      use.key = key;
      return;
    }
    if (node.inputs.empty()) return;
    const bool same_shape =
        graph.values[node.outputs[0]].type.shape == graph.values[node.inputs[0]].type.shape;
    const bool moves = std::ranges::find(kMoves, node.op) != std::end(kMoves);
    if (!moves && (!same_shape || node.inputs.size() != 1)) return;
    logits = node.inputs[0];
  }
}

// Whether an operator counts no label that is outside of the classes.
bool LeavesOut(OpId op) {
  constexpr OpId kMetrics[] = {OpId::per_class_accuracy, OpId::confusion_matrix, OpId::precision,
                               OpId::recall, OpId::f1};
  return std::ranges::find(kMetrics, op) != std::end(kMetrics);
}

// The value of the attribute `ignore_label`; nothing where the operator has none.
std::optional<IntList> IgnoredBy(const Node& node) {
  const AttributeField* field = node.attributes.schema().Find("ignore_label");
  if (field == nullptr) return std::nullopt;
  return std::get<IntList>(node.attributes.Get(*field));
}

// What another use of the input ignores on purpose is no mistake where it does not count anyway.
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
  constexpr OpId kMoves[] = {OpId::identity, OpId::reshape,     OpId::flatten,    OpId::transpose,
                             OpId::flip,     OpId::random_flip, OpId::random_crop};
  while (graph.values[id].producer.valid()) {
    const Node& node = graph.nodes[graph.values[id].producer];
    const auto is = [&](ValueId value, DType type) {
      return graph.values[value].type.dtype == type;
    };
    // As a run of f64 does to its inputs.
    const bool widens = node.op == OpId::cast && is(node.inputs[0], DType::kF32) &&
                        is(node.outputs[0], DType::kF64);
    if (!widens && std::ranges::find(kMoves, node.op) == std::end(kMoves)) break;
    id = node.inputs[0];
  }
  return graph.values[id];
}

std::vector<LabelUse> FindLabelUses(const Graph& forward) {
  std::vector<LabelUse> uses;
  for (const Node& node : forward.nodes) {
    if (const auto reader = IdReaderOf(node)) {
      const Value& ids = forward.values[node.inputs[0]];
      if (ids.role != Role::kPlaceholder) continue;
      LabelUse use = {ids.name, reader->ids, std::string(NameOf(node.op)), reader->kind};
      use.maker = node.mark;
      use.key = reader->key;
      uses.push_back(std::move(use));
    }
    if (TakesBinaryLabels(forward, node)) {
      const Value& label = LabelSource(forward, node.inputs[kLabel]);
      if (label.role != Role::kPlaceholder) continue;
      uses.push_back(
          {label.name, 2, "binary_cross_entropy",
           IsFloat(label.type.dtype) ? LabelUse::Kind::kProbabilities : LabelUse::Kind::kBinary});
      uses.back().maker = node.mark;
    }
    if (!TakesLabels(forward, node)) continue;
    const Value& label = LabelSource(forward, node.inputs[kLabel]);
    const Dim& classes = forward.values[node.inputs[kLogits]].type.shape[1];
    if (label.role != Role::kPlaceholder || classes.batch) continue;
    const std::optional<IntList> ignored = IgnoredBy(node);
    uses.push_back({label.name, classes.size, std::string(NameOf(node.op)),
                    LabelUse::Kind::kClasses, ignored.value_or(IntList()), ignored.has_value(),
                    LeavesOut(node.op)});
    FindMaker(forward, node.inputs[kLogits], uses.back());
  }
  LeaveOutWhatOthersIgnore(uses);
  return uses;
}

}  // namespace cgrun
