// Looks up an optimizer, and parameters by the names of paths and networks.
#include "src/frontend/path_training.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "src/frontend/attribute_parser.h"
#include "src/frontend/op_lookup.h"
#include "src/ir/op_def.h"
#include "src/model/check_model.h"

namespace cgrun {
namespace {

const std::vector<std::string> kScheduled = {"schedule"};  // beside an optimizer's attributes

// The operator of a name; null after an error, which looks at the keys of the one that is probably
// meant.
const OpDef* FindOptimizer(const OpSpec& op, Diagnostics& diagnostics) {
  if (const OpDef* def = FindDef(op, Usage::kOptimizer, diagnostics)) return def;
  if (const OpDef* guess = GuessDef(op, Usage::kOptimizer)) {
    CheckGivenAttributes(*guess, op, kScheduled, diagnostics);
  }
  return nullptr;
}

// An error where the attributes do not go together, or a warning of them, by the operator's own
// inference for some parameter.
void CheckTogether(const OpDef& def, const Attributes& attributes, const OpSpec& op,
                   Diagnostics& diagnostics) {
  const TensorType parameter{DType::kF32, Shape{1}};
  std::vector<TensorType> inputs = {parameter, parameter, {DType::kF64, Shape()}};
  if (def.owned != nullptr) {
    InferContext context(attributes, inputs);
    for (const OwnedTensor& owned : def.owned(context)) inputs.push_back(owned.type);
  }
  if (def.needs_step) inputs.push_back({DType::kI64, Shape()});
  InferContext context(attributes, inputs);
  InferTypes(IdOf(def), context);
  const std::string name = "'" + op.target.value + "': ";
  if (context.failed()) {
    diagnostics.Error(op.target.mark, name + context.message(), context.help());
  } else if (!context.warning().empty()) {
    diagnostics.Warning(op.target.mark, name + context.warning(), context.warning_help());
  }
}

const OpSpec* OptimizerOf(const ModelSpec& model, const PathSpec& spec, Diagnostics& diagnostics) {
  if (spec.optimizer) return &*spec.optimizer;
  if (model.train && model.train->optimizer) return &*model.train->optimizer;
  if (model.incomplete || model.train) return nullptr;  // `train` may be hidden; or it was reported
  diagnostics.Error(spec.name.mark, "path '" + spec.name.value + "' has no optimizer",
                    "give `train: {optimizer: {op: sgd, lr: 0.1}}`, or `mode: forward`");
  return nullptr;
}

// Returns the names of all paths and networks.
std::vector<std::string> OwnersOf(const ModelSpec& model) {
  std::vector<std::string> names;
  for (const PathSpec& path : model.paths) names.push_back(path.name.value);
  for (const NetworkSpec& network : model.networks) names.push_back(network.name.value);
  return names;
}

void CollectFrom(const std::vector<ValueId>& parameters, Graph& graph,
                 std::vector<ValueId>& trains) {
  std::unordered_set<ValueId> known(trains.begin(), trains.end());
  for (const ValueId parameter : parameters) {
    if (!graph.parameters.at(parameter).trainable) continue;
    if (known.insert(parameter).second) trains.push_back(parameter);
  }
}

// Returns whether a value is computed from any of these.
bool DependsOn(ValueId value, const std::vector<ValueId>& sources, const Graph& graph) {
  IdVector<ValueId, bool> reached(graph.values.size(), false);
  for (const ValueId source : sources) reached[source] = true;
  for (const NodeId id : TopologicalOrder(graph)) {
    const Node& node = graph.nodes[id];
    const bool reads = std::ranges::any_of(node.inputs, [&](ValueId in) { return reached[in]; });
    for (const ValueId output : node.outputs) reached[output] = reached[output] || reads;
  }
  return reached[value];
}

// Returns whether the loss of a path that learns has a use for what its `trains` names, whose
// tensors `owned` are. Warns where it has none, as of a network that the path does not run.
bool CheckUsed(const PathSpec& spec, const MarkedText& name, const std::vector<ValueId>& owned,
               const Path& path, const Graph& graph, Diagnostics& diagnostics) {
  const bool learns = path.optimizer && path.loss.valid();
  if (!learns || DependsOn(path.loss, owned, graph)) return true;
  diagnostics.Warning(name.mark,
                      "path '" + spec.name.value + "' trains '" + name.value +
                          "', but its loss does not depend on it",
                      "take it out of `trains`, or use '" + name.value + "' in the path");
  return false;
}

}  // namespace

void AddOptimizer(const ModelSpec& model, const PathSpec& spec, PathId id, Builder& builder,
                  Graph& graph, Diagnostics& diagnostics) {
  const OpSpec* optimizer = OptimizerOf(model, spec, diagnostics);
  if (optimizer == nullptr || optimizer->target.value.empty()) return;  // reported
  const OpDef* def = FindOptimizer(*optimizer, diagnostics);
  if (def == nullptr) return;
  Path& path = graph.paths[id];
  if (path.first != id) {
    const Path& first = graph.paths[path.first];
    path.optimizer = first.optimizer;
    path.optimizer_attributes = first.optimizer_attributes;
    path.learning_rate = first.learning_rate;
    return;
  }
  const int errors = diagnostics.error_count();
  path.optimizer = IdOf(*def);
  path.optimizer_attributes = ParseAttributes(*def, *optimizer, kScheduled, diagnostics);
  if (diagnostics.error_count() == errors) {
    CheckTogether(*def, path.optimizer_attributes, *optimizer, diagnostics);
  }
  path.learning_rate =
      builder.AddSource(Role::kPlaceholder, Zone::kOptimizer, {DType::kF64, Shape()},
                        spec.name.value + ".learning_rate", optimizer->mark);
}

void CollectTrained(const ModelSpec& model, const std::vector<PathUse>& uses, OwnedTensors& owned,
                    Graph& graph, Diagnostics& diagnostics) {
  const std::vector<std::string> owners = OwnersOf(model);
  for (const PathId id : graph.paths.ids()) {
    Path& path = graph.paths[id];
    if (!path.backprop) continue;
    const PathSpec& spec = *uses[static_cast<size_t>(id.index)].path;
    if (spec.trains.empty()) CollectFrom(owned.UsedBy(spec.name.value), graph, path.trains);
    for (const MarkedText& name : spec.trains) {
      if (std::ranges::find(owners, name.value) == owners.end()) {
        if (IsWordOfNetwork(spec, name)) continue;
        diagnostics.Error(name.mark, "there is no network or path '" + name.value + "'",
                          SuggestName(name.value, owners));
      } else if (CheckUsed(spec, name, owned.UsedBy(name.value), path, graph, diagnostics)) {
        CollectFrom(owned.UsedBy(name.value), graph, path.trains);
      }
    }
  }
}

}  // namespace cgrun
