// All reads of a model's graphs, and what is not among them.
#include "src/lint/unread.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "src/frontend/recurrent_state.h"

namespace cgrun {
namespace {

using Place = std::tuple<const SourceFile*, int, int>;

Place PlaceOf(const SourceMark& mark) { return {mark.file.get(), mark.line, mark.column}; }

// Returns whether a node is part of what the file calls `use`: "p.stage[0].conv" of "p.stage".
bool IsPartOf(std::string_view node, std::string_view use) {
  if (!node.starts_with(use)) return false;
  return node.size() == use.size() || node[use.size()] == '.' || node[use.size()] == '[';
}

// Returns whether it makes f64 of an input, whose readers read the result.
bool IsWidening(const Graph& graph, const Node& node) {
  return node.op == OpId::cast && node.name == WidenedName(graph.values[node.inputs[0]].name);
}

class Reads {
 public:
  void Add(const Graph& graph) {
    for (const Node& node : graph.nodes) {
      if (IsWidening(graph, node)) continue;
      for (ValueId input : node.inputs) Add(graph, input, &node);
    }
    for (const Output& output : graph.outputs) Add(graph, output.value, nullptr);
    for (const UpdateEdge& edge : graph.updates) Add(graph, edge.next, nullptr);
  }

  // `reader` is null where it is none of the graph's.
  void Add(const Graph& graph, ValueId value, const Node* reader) {
    values_.insert(graph.values[value].name);
    const NodeId producer = graph.values[value].producer;
    if (!producer.valid()) return;
    const Node& node = graph.nodes[producer];
    const Place place = PlaceOf(node.mark);
    if (reader == nullptr || PlaceOf(reader->mark) != place) places_.insert(place);
    reads_.insert({node.name, reader == nullptr ? "" : reader->name});
  }

  bool OfValue(const std::string& name) const { return values_.contains(name); }
  // Returns whether a node at `mark` is read from another place.
  bool OfPlace(const SourceMark& mark) const { return places_.contains(PlaceOf(mark)); }
  // Returns whether the use is read from outside of it.
  bool OfUse(const std::string& use) const {
    return std::ranges::any_of(reads_, [&](const auto& read) {
      return IsPartOf(read.first, use) && !IsPartOf(read.second, use);
    });
  }

 private:
  std::set<std::string> values_;
  std::set<Place> places_;
  std::set<std::pair<std::string, std::string>> reads_;  // of what a node computes, by a node
};

void WarnOfInputs(const ModelSpec& model, const Reads& reads, Diagnostics& diagnostics) {
  for (const InputSpec& input : model.inputs) {
    if (reads.OfValue(input.name.value) || reads.OfValue(WidenedName(input.name.value))) continue;
    if (reads.OfValue(StateName(input.name.value, EntryKind::kEval))) continue;
    diagnostics.Warning(input.mark, "nothing reads input '" + input.name.value + "'",
                        "take it out, or name it in the `in:` of an operator");
  }
}

void Warn(const SourceMark& mark, const std::string& name, Diagnostics& diagnostics) {
  diagnostics.Warning(mark, "nothing reads what " + name + " computes",
                      "a loss, a metric, `out:` or `keep:` may name it; else it can go");
}

// Warns of uses in the paths of `forward`. Returns those that it warned of.
std::vector<std::string> WarnOfUses(const ModelSpec& model, const Graph& forward,
                                    const Reads& reads, Diagnostics& diagnostics) {
  std::vector<std::string> unread;
  for (const PathSpec& path : model.paths) {
    for (const OpSpec& op : path.ops) {
      if (op.kind != OpSpec::Kind::kNetwork && op.kind != OpSpec::Kind::kBlock) continue;
      if (op.labels.empty()) continue;
      const std::string use = path.name.value + "." + op.labels.back();
      const bool runs = std::ranges::any_of(
          forward.nodes, [&](const Node& node) { return IsPartOf(node.name, use); });
      if (!runs || reads.OfUse(use)) continue;
      Warn(op.target.mark, use, diagnostics);
      unread.push_back(use);
    }
  }
  return unread;
}

void WarnOfOperators(const Graph& forward, const Reads& reads,
                     const std::vector<std::string>& unread_uses, Diagnostics& diagnostics) {
  std::set<Place> told;
  for (const Node& node : forward.nodes) {
    const Path& path = forward.paths[node.path];
    if (path.repetition + 1 < path.repetitions) continue;  // the last one's loss is what is told
    const bool used = std::ranges::any_of(
        node.outputs, [&](ValueId output) { return reads.OfValue(forward.values[output].name); });
    if (used || !node.mark.file || reads.OfPlace(node.mark) || IsWidening(forward, node)) continue;
    const bool in_use = std::ranges::any_of(
        unread_uses, [&](const std::string& use) { return IsPartOf(node.name, use); });
    if (!in_use && told.insert(PlaceOf(node.mark)).second) Warn(node.mark, node.name, diagnostics);
  }
}

// Returns the reads of `graph` and of predictions.
Reads ReadsOf(const ModelSpec& model, const Graph& graph, DType precision) {
  Reads reads;
  reads.Add(graph);
  Diagnostics reported;  // of the same operators
  const auto predict = BuildForward(model, {EntryKind::kPredict, precision}, reported);
  if (predict) reads.Add(*predict);
  return reads;
}

}  // namespace

void WarnOfUnreadInputs(const ModelSpec& model, const Graph& training, DType precision,
                        Diagnostics& diagnostics) {
  WarnOfInputs(model, ReadsOf(model, training, precision), diagnostics);
}

void WarnOfUnread(const ModelSpec& model, const Graph& forward, const Kept& kept, DType precision,
                  Diagnostics& diagnostics) {
  Reads reads = ReadsOf(model, forward, precision);
  for (const Kept::Item& item : kept.gradients) reads.Add(forward, item.value, nullptr);
  WarnOfInputs(model, reads, diagnostics);
  const std::vector<std::string> uses = WarnOfUses(model, forward, reads, diagnostics);
  WarnOfOperators(forward, reads, uses, diagnostics);
}

}  // namespace cgrun
