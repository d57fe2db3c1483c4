// Differentiate: backward and update nodes of every backprop path, path by path.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "src/autodiff/autodiff.h"
#include "src/base/check.h"
#include "src/base/word_list.h"
#include "src/ir/op_def.h"
#include "src/ops/cast.h"
#include "src/ops/clip.h"
#include "src/ops/norm_scale.h"

namespace cgrun {
namespace {

class Differentiator {
 public:
  Differentiator(Graph graph, const AutodiffOptions& options, Diagnostics* diagnostics)
      : graph_(std::move(graph)), builder_(graph_), options_(options), diagnostics_(diagnostics) {}

  Graph Run() {
    for (size_t i = 0; i < graph_.updates.size(); ++i) {
      update_of_.emplace(graph_.updates[i].state, i);
    }
    for (PathId path : graph_.paths.ids()) {
      if (graph_.paths[path].backprop && graph_.paths[path].loss.valid()) AddPath(path);
    }
    for (size_t i = 0; i < givers_.size(); ++i) CheckKept(options_.keep[i], givers_[i]);
    return std::move(graph_);
  }

 private:
  void AddPath(PathId id) {
    const Path path = graph_.paths[id];
    std::vector<ValueId> wanted;
    for (ValueId parameter : path.trains) {
      const std::vector<ValueId> versions = Versions(parameter);
      wanted.insert(wanted.end(), versions.begin(), versions.end());
    }
    for (const KeptGradient& kept : options_.keep) {
      for (ValueId version : Versions(kept.value)) {
        if (std::ranges::find(wanted, version) == wanted.end()) wanted.push_back(version);
      }
    }
    const ValueId one = Ones(path.loss);
    const auto gradients = AddGradients(builder_, {{path.loss, one}}, wanted, id);
    std::vector<Learned> learned;
    std::vector<ValueId> untrained;
    for (ValueId parameter : path.trains) {
      const ValueId gradient = SumOverVersions(id, parameter, gradients);
      if (gradient.valid()) {
        learned.push_back({parameter, gradient});
      } else {
        untrained.push_back(parameter);
      }
    }
    WarnUntrained(path, untrained);
    Keep(id, gradients);
    if (options_.accumulates) Accumulate(id, learned);
    if (!options_.updates) return;
    for (Learned& item : learned) item.gradient = Reduce(id, item.gradient);
    Clip(id, learned);
    std::unordered_map<ValueId, ValueId> updated;
    for (const Learned& item : learned) {
      const ValueId before = Current(item.parameter);
      Update(id, item.parameter, before, item.gradient);
      updated.emplace(before, Current(item.parameter));
    }
    ReadUpdated(id, updated);
  }

  bool IsKept(const std::string& name) const {
    return std::ranges::any_of(graph_.outputs, [&](const Output& output) {
      return output.kind == OutputKind::kKept && output.name == name;
    });
  }

  void Keep(PathId id, const std::map<ValueId, ValueId>& gradients) {
    const Path path = graph_.paths[id];
    if (path.repetition + 1 < path.repetitions) return;
    for (size_t i = 0; i < options_.keep.size(); ++i) {
      const KeptGradient& kept = options_.keep[i];
      if (kept.path.empty() ? IsForAnother(id, kept.value) : kept.path != path.name) continue;
      const bool depends = std::ranges::any_of(
          Versions(kept.value), [&](ValueId version) { return gradients.contains(version); });
      if (!depends) continue;
      givers_[i].push_back(path.name);
      if (IsKept(kept.name)) continue;
      const ValueId gradient = SumOverVersions(id, kept.value, gradients);
      graph_.outputs.push_back({InF32(id, gradient), OutputKind::kKept, kept.name, id});
    }
  }

  // Casts a gradient of bf16 to f32, since outputs for the user are f32.
  ValueId InF32(PathId id, ValueId gradient) {
    if (graph_.values[gradient].type.dtype != DType::kBF16) return gradient;
    return builder_.AddNode(OpId::cast, Attributes::Of(CastAttributes{DType::kF32}), {gradient},
                            graph_.values[gradient].name + ".f32",
                            GradientNode(id, Phase::kBackward))[0];
  }

  bool IsForAnother(PathId id, ValueId parameter) const {
    const auto trains = [&](const Path& path) {
      return path.backprop && std::ranges::find(path.trains, parameter) != path.trains.end();
    };
    return !trains(graph_.paths[id]) && std::ranges::any_of(graph_.paths, trains);
  }

  // `givers`: the paths whose losses give the value a gradient.
  void CheckKept(const KeptGradient& kept, const std::vector<std::string>& givers) {
    if (diagnostics_ == nullptr || givers.size() == 1) return;
    const std::string& value = graph_.values[kept.value].name;
    if (givers.empty()) {
      diagnostics_->Error(
          kept.mark,
          "there is no " + kept.name + ": " +
              (kept.path.empty() ? "no loss depends on "
                                 : "the loss of path '" + kept.path + "' does not depend on ") +
              value,
          "values have gradients on the way from parameters to a loss");
      return;
    }
    std::vector<std::string> paths, names;
    for (const std::string& giver : givers) {
      paths.push_back("'" + giver + "'");
      names.push_back("'" + giver + "." + kept.name + "'");
    }
    diagnostics_->Error(kept.mark,
                        fmt::format("the losses of the paths {} give {} a gradient each",
                                    ListWords(paths, "and"), value),
                        fmt::format("write {}", fmt::join(names, " or ")));
  }

  // A parameter that the path changes, and its gradient so far.
  struct Learned {
    ValueId parameter;
    ValueId gradient;
  };

  Builder::NodeOptions GradientNode(PathId path, Phase phase) const {
    Builder::NodeOptions node;
    node.phase = phase;
    node.path = path;
    node.output_role = Role::kGradient;
    node.output_zone = Zone::kGradient;
    return node;
  }

  void Accumulate(PathId id, std::vector<Learned>& learned) {
    ValueId factors = builder_.FindValue(kAccumulateFactors);
    if (!factors.valid()) {
      factors = builder_.AddSource(Role::kPlaceholder, Zone::kGradient, {DType::kF64, Shape{2}},
                                   kAccumulateFactors);
    }
    Builder::NodeOptions node = GradientNode(id, Phase::kBackward);
    node.output_zone = Zone::kOptimizer;
    for (Learned& item : learned) {
      const OwnedTensor owned{"gradient", graph_.values[item.parameter].type,
                              Role::kOptimizerState};
      const ValueId sum = AddState(owned, graph_.paths[id], item.parameter);
      item.gradient =
          builder_.AddNode(OpId::accumulate, Attributes(), {sum, item.gradient, factors},
                           graph_.values[sum].name + ".sum", node)[0];
      SetNext(sum, item.gradient);
    }
  }

  void Clip(PathId id, std::vector<Learned>& learned) {
    if (options_.clip_value > 0) ClipValues(id, learned);
    if (options_.clip_norm > 0) ClipNorm(id, learned);
  }

  void ClipValues(PathId id, std::vector<Learned>& learned) {
    const Attributes bounds =
        Attributes::Of(ClipAttributes{-options_.clip_value, options_.clip_value});
    for (Learned& item : learned) {
      item.gradient = builder_.AddNode(OpId::clip, bounds, {item.gradient},
                                       graph_.values[item.gradient].name + ".clipped",
                                       GradientNode(id, Phase::kBackward))[0];
    }
  }

  // One norm for each number type: a path has one.
  void ClipNorm(PathId id, std::vector<Learned>& learned) {
    std::vector<ValueId> gradients;
    for (const Learned& item : learned) gradients.push_back(item.gradient);
    if (gradients.empty()) return;
    const Builder::NodeOptions node = GradientNode(id, Phase::kBackward);
    const ValueId scale =
        builder_.AddNode(OpId::norm_scale, Attributes::Of(NormScaleAttributes{options_.clip_norm}),
                         gradients, graph_.paths[id].name + ".gradient_scale", node)[0];
    for (Learned& item : learned) {
      item.gradient = builder_.AddNode(OpId::mul, Attributes(), {item.gradient, scale},
                                       graph_.values[item.gradient].name + ".clipped", node)[0];
    }
  }

  // The parameter as the step begins, then as each path so far has left it.
  std::vector<ValueId> Versions(ValueId parameter) const {
    std::vector<ValueId> versions = {parameter};
    const auto later = later_versions_.find(parameter);
    if (later != later_versions_.end()) {
      versions.insert(versions.end(), later->second.begin(), later->second.end());
    }
    return versions;
  }

  // The result is invalid where the loss depends on no version.
  ValueId SumOverVersions(PathId id, ValueId parameter,
                          const std::map<ValueId, ValueId>& gradients) {
    ValueId sum;
    for (ValueId version : Versions(parameter)) {
      const auto it = gradients.find(version);
      if (it == gradients.end()) continue;
      sum = sum.valid() ? AddTo(id, sum, it->second) : it->second;
    }
    return sum;
  }

  ValueId AddTo(PathId path, ValueId sum, ValueId gradient) {
    return builder_.AddNode(OpId::add, Attributes(), {sum, gradient},
                            graph_.values[sum].name + ".versions",
                            GradientNode(path, Phase::kBackward))[0];
  }

  // Parameters of one operator, which follow each other, in one warning.
  void WarnUntrained(const Path& path, const std::vector<ValueId>& parameters) {
    if (diagnostics_ == nullptr || parameters.empty()) return;
    const IdVector<ValueId, NodeId> stops = WhereGradientsStop(path.loss);
    for (size_t i = 0; i < parameters.size();) {
      const Value& value = graph_.values[parameters[i]];
      const NodeId stop = stops[parameters[i]];
      const std::string owner = value.name.substr(0, value.name.rfind('.'));
      std::string names = value.name;
      size_t end = i + 1;
      for (; end < parameters.size(); ++end) {
        const std::string& name = graph_.values[parameters[end]].name;
        const bool is_of_it = name.starts_with(owner + ".") && name.rfind('.') == owner.size();
        if (!is_of_it || stops[parameters[end]] != stop) break;
        names += " and " + name;
      }
      const bool several = end > i + 1;
      diagnostics_->Warning(
          value.mark, "the loss of path '" + path.name + "' gives " + names + " no gradient",
          (stop.valid() ? "none flows through " + Describe(graph_.nodes[stop])
                        : std::string("the loss does not depend on ") + (several ? "them" : "it")) +
              "; `frozen: true` says that " +
              (several ? "they are to stay as they are" : "it is to stay as it is"));
      i = end;
    }
  }

  static std::string Describe(const Node& node) {
    return "'" + GetOpDef(node.op).name + "' (" + node.name + ")";
  }

  // Returns whether no gradient flows through a node: its operator has none, or its outputs are
  // whole numbers.
  bool StopsGradients(const Node& node) const {
    return GetOpDef(node.op).gradient == nullptr ||
           std::ranges::none_of(node.outputs, [&](ValueId output) {
             return IsFloat(graph_.values[output].type.dtype);
           });
  }

  // For each value the last node on the ways from it to the loss that stops gradients; invalid
  // where no way has one. Ways through the updates of other paths are none: what these have made of
  // a parameter is given.
  IdVector<ValueId, NodeId> WhereGradientsStop(ValueId loss) const {
    std::vector<NodeId> order = TopologicalOrder(graph_);
    std::erase_if(order, [&](NodeId id) { return graph_.nodes[id].phase == Phase::kUpdate; });
    IdVector<ValueId, bool> needed(graph_.values.size(), false);
    IdVector<ValueId, int64_t> last(graph_.values.size(), -1);  // its place in the order
    needed[loss] = true;
    for (int64_t place = std::ssize(order); place-- > 0;) {
      const Node& node = graph_.nodes[order[static_cast<size_t>(place)]];
      const bool is_needed =
          std::ranges::any_of(node.outputs, [&](ValueId output) { return needed[output]; });
      int64_t last_here = is_needed && StopsGradients(node) ? place : -1;
      for (ValueId output : node.outputs) last_here = std::max(last_here, last[output]);
      for (ValueId input : node.inputs) {
        needed[input] = needed[input] || is_needed;
        last[input] = std::max(last[input], last_here);
      }
    }
    IdVector<ValueId, NodeId> stops(graph_.values.size());
    for (ValueId id : graph_.values.ids()) {
      if (last[id] >= 0) stops[id] = order[static_cast<size_t>(last[id])];
    }
    return stops;
  }

  // Returns the state's value after the paths so far.
  ValueId Current(ValueId state) const {
    const auto found = update_of_.find(state);
    return found == update_of_.end() ? state : graph_.updates[found->second].next;
  }

  // dloss/dloss.
  ValueId Ones(ValueId loss) {
    const TensorType type = graph_.values[loss].type;
    CGRUN_CHECK(type.shape.rank() == 0) << "the loss is no scalar";
    HostTensor one(type.dtype, type.shape);
    one.Set(0, 1);
    return builder_.AddConstant(std::move(one), graph_.values[loss].name + ".seed");
  }

  // Returns the mean of a gradient over the processes.
  ValueId Reduce(PathId path, ValueId gradient) {
    if (options_.processes == 1) return gradient;
    const Builder::NodeOptions node = GradientNode(path, Phase::kCommunication);
    const std::string name = graph_.values[gradient].name;
    const ValueId sum =
        builder_.AddNode(OpId::all_reduce, Attributes(), {gradient}, name + ".all_reduce", node)[0];
    HostTensor count(graph_.values[gradient].type.dtype, Shape());
    count.Set(0, options_.processes);
    const ValueId divisor = builder_.AddConstant(std::move(count), "processes");
    return builder_.AddNode(OpId::div, Attributes(), {sum, divisor}, name + ".mean", node)[0];
  }

  void Update(PathId id, ValueId parameter, ValueId current, ValueId gradient) {
    const Path& path = graph_.paths[id];
    CGRUN_CHECK(path.optimizer.has_value()) << "path " << path.name << " has no optimizer";
    const OpDef& def = GetOpDef(*path.optimizer);
    const Attributes attributes = AttributesFor(path, graph_.parameters.at(parameter));
    std::vector<ValueId> inputs = {current, gradient, path.learning_rate};
    std::vector<ValueId> states = {parameter, ValueId(), ValueId()};
    for (ValueId state : OptimizerStates(id, parameter, def, attributes, inputs)) {
      inputs.push_back(Current(state));
      states.push_back(state);
    }
    if (def.needs_step) inputs.push_back(UpdatesSoFar(id));
    Builder::NodeOptions node;
    node.phase = Phase::kUpdate;
    node.path = id;
    node.mark = graph_.values[parameter].mark;
    node.output_zone = Zone::kOptimizer;
    const std::string name = graph_.values[parameter].name + "." + def.name;
    const std::vector<ValueId> outputs =
        builder_.AddNode(*path.optimizer, attributes, inputs, name, node);
    for (const InPlacePair& update : def.updates) {
      if (static_cast<size_t>(update.output) >= outputs.size()) continue;
      SetNext(states[static_cast<size_t>(update.input)],
              outputs[static_cast<size_t>(update.output)]);
    }
    if (path.clip_weights > 0) ClipWeights(id, parameter);
    later_versions_[parameter].push_back(Current(parameter));
  }

  void ClipWeights(PathId id, ValueId parameter) {
    const double bound = graph_.paths[id].clip_weights;
    Builder::NodeOptions node;
    node.phase = Phase::kUpdate;
    node.path = id;
    node.output_zone = Zone::kOptimizer;
    SetNext(parameter, builder_.AddNode(OpId::clip, Attributes::Of(ClipAttributes{-bound, bound}),
                                        {Current(parameter)},
                                        graph_.values[parameter].name + ".clip_weights", node)[0]);
  }

  // Returns the state that the path's optimizer keeps for a parameter. All repetitions of a path
  // share one set.
  const std::vector<ValueId>& OptimizerStates(PathId id, ValueId parameter, const OpDef& def,
                                              const Attributes& attributes,
                                              const std::vector<ValueId>& inputs) {
    const Path& path = graph_.paths[id];
    const PathId owner = path.repetition == 0 ? id : path.first;
    const auto [states, is_new] = optimizer_states_.try_emplace({owner, parameter});
    if (!is_new) return states->second;
    for (const OwnedTensor& owned : OwnedBy(def, attributes, inputs)) {
      states->second.push_back(AddState(owned, path, parameter));
    }
    return states->second;
  }

  // Returns how often the path's optimizer has run before. If a step repeats the path, this counts
  // the repetitions of all earlier steps and those of this step.
  ValueId UpdatesSoFar(PathId id) {
    const Path& path = graph_.paths[id];
    const ValueId steps =
        StepCounter(builder_, options_.accumulates ? kUpdateCounter : kStepCounter);
    if (path.repetitions == 1) return steps;
    const auto known = updates_so_far_.find(id);
    if (known != updates_so_far_.end()) return known->second;
    const std::string name = path.name + ".updates";
    Builder::NodeOptions node;
    node.phase = Phase::kUpdate;
    node.path = id;
    node.output_zone = Zone::kOptimizer;
    const auto add = [&](OpId op, Attributes attributes, std::vector<ValueId> inputs,
                         const std::string& to) {
      return builder_.AddNode(op, std::move(attributes), std::move(inputs), to, node)[0];
    };
    const auto constant = [&](int64_t number, const std::string& what) {
      HostTensor tensor(DType::kF64, Shape());
      tensor.Set(0, static_cast<double>(number));
      return builder_.AddConstant(std::move(tensor), name + "." + what);
    };
    ValueId count =
        add(OpId::cast, Attributes::Of(CastAttributes{DType::kF64}), {steps}, name + ".steps");
    count = add(OpId::mul, Attributes(), {count, constant(path.repetitions, "repetitions")},
                name + ".before");
    count = add(OpId::add, Attributes(), {count, constant(path.repetition, "repetition")},
                name + ".count");
    count = add(OpId::cast, Attributes::Of(CastAttributes{DType::kI64}), {count}, name);
    updates_so_far_[id] = count;
    return count;
  }

  // The optimizer's attributes with what the model file says of this parameter.
  Attributes AttributesFor(const Path& path, const ParameterInfo& info) const {
    Attributes attributes = path.optimizer_attributes;
    const auto set = [&](std::string_view field, double value) {
      const AttributeField* found = attributes.schema().Find(field);
      CGRUN_CHECK(found != nullptr) << "an optimizer without the field " << field;
      if (attributes.Get(*found) != AttributeValue(value)) {
        attributes = attributes.With(*found, value);
      }
    };
    set("learning_rate_scale", info.learning_rate_scale);
    set("l1", info.l1);
    set("l2", info.l2);
    return attributes;
  }

  std::vector<OwnedTensor> OwnedBy(const OpDef& def, const Attributes& attributes,
                                   const std::vector<ValueId>& inputs) const {
    if (def.owned == nullptr) return {};
    std::vector<TensorType> types;
    for (ValueId input : inputs) types.push_back(graph_.values[input].type);
    InferContext context(attributes, std::move(types));
    return def.owned(context);
  }

  ValueId AddState(const OwnedTensor& owned, const Path& path, ValueId parameter) {
    std::string name = graph_.values[parameter].name + "." + owned.name;
    if (builder_.FindValue(name).valid()) name += "." + path.name;  // a second path trains it too
    const ValueId state = builder_.AddSource(owned.role, Zone::kOptimizer, owned.type, name);
    ParameterInfo info;
    info.init = owned.init;
    info.init_args = owned.init_args;
    info.trainable = false;
    graph_.parameters[state] = info;
    return state;
  }

  void SetNext(ValueId state, ValueId next) {
    const auto [found, is_new] = update_of_.emplace(state, graph_.updates.size());
    if (is_new) {
      graph_.updates.push_back({state, next});
    } else {
      graph_.updates[found->second].next = next;
    }
  }

  // Forward nodes of later paths read the new values.
  void ReadUpdated(PathId path, const std::unordered_map<ValueId, ValueId>& updated) {
    for (Node& node : graph_.nodes) {
      if (node.phase != Phase::kForward || node.path <= path) continue;
      for (ValueId& input : node.inputs) {
        if (const auto now = updated.find(input); now != updated.end()) input = now->second;
      }
    }
  }

  Graph graph_;
  Builder builder_;
  AutodiffOptions options_;
  Diagnostics* diagnostics_;
  // For each item of options_.keep, this lists the paths whose losses give its value a gradient.
  std::vector<std::vector<std::string>> givers_{options_.keep.size()};
  std::map<ValueId, std::vector<ValueId>> later_versions_;  // of a parameter, after each update
  std::unordered_map<ValueId, size_t> update_of_;           // a state's place in graph_.updates
  // The key is the first repetition of a path, and a parameter.
  std::map<std::pair<PathId, ValueId>, std::vector<ValueId>> optimizer_states_;
  std::map<PathId, ValueId> updates_so_far_;  // of the paths that a step repeats
};

}  // namespace

Graph Differentiate(Graph forward, const AutodiffOptions& options, Diagnostics* diagnostics) {
  return Differentiator(std::move(forward), options, diagnostics).Run();
}

ValueId StepCounter(Builder& builder, std::string_view name) {
  const ValueId step = builder.FindValue(name);
  if (step.valid()) return step;
  return builder.AddSource(Role::kPlaceholder, Zone::kForward, {DType::kI64, Shape()}, name);
}

}  // namespace cgrun
