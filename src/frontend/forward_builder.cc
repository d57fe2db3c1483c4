// BuildForward: walks the paths of a model in the file's order and adds their nodes.
#include <algorithm>
#include <map>
#include <set>

#include "src/base/random.h"
#include "src/frontend/attribute_parser.h"
#include "src/frontend/frontend.h"
#include "src/frontend/parameter_options.h"
#include "src/ir/builder.h"
#include "src/ir/op_def.h"

namespace cgrun {
namespace {

// Names that operators can read; inner scopes hide outer ones.
struct Scope {
  const Scope* outer = nullptr;
  std::map<std::string, ValueId> values;

  std::optional<ValueId> Find(const std::string& name) const {
    const auto it = values.find(name);
    if (it != values.end()) return it->second;
    return outer == nullptr ? std::nullopt : outer->Find(name);
  }
  void CollectNames(std::vector<std::string>& names) const {
    for (const auto& [name, value] : values) names.push_back(name);
    if (outer != nullptr) outer->CollectNames(names);
  }
};

// Where operators are being added: a path, or inside it a network or block.
struct Place {
  PathId path;
  bool learns = false;  // parameters are trained: a backprop path
  std::string prefix;   // of node names: "classify."
  std::string owner;    // of parameter names: the prefix, or the network's
  std::string network;  // the network that owns them, or ""
};

class ForwardBuilder {
 public:
  ForwardBuilder(const ModelSpec& model, const FrontendOptions& options, Diagnostics& diagnostics)
      : model_(model), options_(options), diagnostics_(diagnostics), builder_(graph_) {}

  std::optional<Graph> Run() {
    graph_.name = model_.name.value;
    graph_.seed = model_.train ? static_cast<uint64_t>(model_.train->seed.value) : 0;
    AddInputs();
    for (const PathSpec& path : model_.paths) AddPath(path);
    ResolveTrains();
    if (options_.kind == EntryKind::kPredict) AddPredictions();
    if (diagnostics_.has_errors()) return std::nullopt;
    return std::move(graph_);
  }

 private:
  using Values = std::vector<ValueId>;
  using MaybeValues = std::optional<Values>;

  void AddInputs() {
    for (const InputSpec& input : model_.inputs) {
      std::vector<Dim> dims = {kBatchDim};
      for (const Dim& dim : input.shape.value) dims.push_back(dim);
      const TensorType type{input.type.value, Shape(std::move(dims))};
      if (IsFloat(type.dtype) && type.dtype != options_.precision) {
        const std::string wanted(Name(options_.precision));
        diagnostics_.Error(input.mark,
                           "input '" + input.name.value + "' is " + std::string(Name(type.dtype)) +
                               ", but the precision of this run is " + wanted,
                           "write `type: " + wanted + "`, or set `precision`");
      }
      global_.values[input.name.value] = builder_.AddSource(
          Role::kPlaceholder, Zone::kForward, type, input.name.value, input.name.mark);
    }
  }

  void AddPath(const PathSpec& spec) {
    Path path;
    path.name = spec.name.value;
    path.backprop = spec.backprop.value;
    const PathId id = graph_.paths.push_back(std::move(path));
    const Place place{id, spec.backprop.value, spec.name.value + ".", spec.name.value + ".", ""};
    Scope scope{&global_, {}};
    const MaybeValues last = AddOps(spec.ops, place, scope, {});
    Publish(scope, spec.name.value);
    last_of_path_.push_back(last && !last->empty() ? last->back() : ValueId());
    if (options_.kind == EntryKind::kPredict) return;
    if (spec.loss) AddLoss(spec, place);
    for (const MetricSpec& metric : spec.metrics) AddMetric(metric, place);
    if (spec.backprop.value && spec.loss && options_.kind == EntryKind::kTrain) {
      AddOptimizer(spec, id);
    }
  }

  // Later paths see the names of this one. A name that two paths have must be qualified.
  void Publish(const Scope& scope, const std::string& path) {
    for (const auto& [name, value] : scope.values) {
      const auto [first, is_new] = owner_of_name_.emplace(name, path);
      if (is_new) {
        global_.values[name] = value;
      } else {
        global_.values[name] = ValueId();
        ambiguous_[name] = first->second + "." + name + "' or '" + path + "." + name;
      }
    }
  }

  // Adds a list of operators. `inputs` are what the first one reads without `in:`. Returns the last
  // one's outputs, or nothing after an error. Operators after one that failed are still checked as
  // far as that can be done without its outputs.
  MaybeValues AddOps(const std::vector<OpSpec>& ops, const Place& place, Scope& scope,
                     Values inputs) {
    MaybeValues previous = std::move(inputs);
    for (const OpSpec& op : ops) {
      previous = AddItem(op, place, scope, previous);
      if (!op.name) continue;
      // Where the operator failed, its name stands for an invalid value, which nobody reports
      // again.
      const ValueId value = previous && !previous->empty() ? previous->front() : ValueId();
      scope.values[op.name->value] = value;
      global_.values[place.prefix + op.name->value] = value;
    }
    return previous;
  }

  MaybeValues AddItem(const OpSpec& op, const Place& place, Scope& scope,
                      const MaybeValues& previous) {
    const MaybeValues inputs = Inputs(op, scope, previous);
    if (!inputs) {
      if (op.kind == OpSpec::Kind::kOperator) CheckAlone(op);
      return std::nullopt;
    }
    switch (op.kind) {
      case OpSpec::Kind::kBlock:
        return AddBlock(op, place, scope, *inputs);
      case OpSpec::Kind::kNetwork:
        return AddNetwork(op, place, *inputs);
      case OpSpec::Kind::kOperator:
        return AddOperator(op, place, op.labels.empty() ? op.target.value : op.labels[0], *inputs);
    }
    return std::nullopt;
  }

  // What can be said of an operator whose inputs are not known.
  void CheckAlone(const OpSpec& op) {
    const OpDef* def = FindDef(op, Usage::kOperator);
    if (def == nullptr) return;
    ParseAttributes(*def, op, CommonKeys(), diagnostics_);
    FindActivation(op);
  }

  // `previous` is nothing where the operator before failed; then this one says nothing of it.
  MaybeValues Inputs(const OpSpec& op, const Scope& scope, const MaybeValues& previous) {
    if (op.in.empty()) {
      if (!previous || !previous->empty()) return previous;
      diagnostics_.Error(op.target.mark, "'" + op.target.value + "' has nothing to read",
                         "the first operator of a path needs `in:`");
      return std::nullopt;
    }
    Values values;
    for (const MarkedText& name : op.in) {
      const ValueId value = Lookup(name, scope);
      if (value.valid()) values.push_back(value);
    }
    if (values.size() != op.in.size()) return std::nullopt;
    return values;
  }

  // Invalid after an error, here or where the value is made.
  ValueId Lookup(const MarkedText& name, const Scope& scope) {
    const std::optional<ValueId> value = scope.Find(name.value);
    const auto ambiguous = ambiguous_.find(name.value);
    if (value && !value->valid() && ambiguous != ambiguous_.end()) {
      diagnostics_.Error(name.mark, "two paths have a value '" + name.value + "'",
                         "write '" + ambiguous->second + "'");
    }
    if (value) return *value;
    std::vector<std::string> names;
    scope.CollectNames(names);
    diagnostics_.Error(name.mark, "there is no value '" + name.value + "' before this place",
                       SuggestName(name.value, names));
    return ValueId();
  }

  // Every repetition reads the first output of the one before; further inputs stay as they are.
  MaybeValues AddBlock(const OpSpec& op, const Place& place, Scope& scope, Values inputs) {
    MaybeValues outputs;
    for (const std::string& label : op.labels) {
      Place inner = place;
      inner.prefix += label + ".";
      inner.owner += label + ".";
      outputs = AddBody(op.body, op.body_in, op.body_out, inner, scope, inputs);
      if (!outputs || outputs->empty()) return std::nullopt;
      inputs[0] = outputs->front();
    }
    return outputs;
  }

  MaybeValues AddBody(const std::vector<OpSpec>& ops, const std::vector<MarkedText>& names,
                      const std::vector<MarkedText>& outputs, const Place& place,
                      const Scope& outer, const Values& inputs) {
    Scope scope{&outer, {}};
    for (size_t i = 0; i < names.size() && i < inputs.size(); ++i) {
      scope.values[names[i].value] = inputs[i];
    }
    const MaybeValues last = AddOps(ops, place, scope, inputs);
    if (!last || outputs.empty()) return last;
    Values named;
    for (const MarkedText& name : outputs) {
      const ValueId value = Lookup(name, scope);
      if (!value.valid()) return std::nullopt;
      named.push_back(value);
    }
    return named;
  }

  MaybeValues AddNetwork(const OpSpec& op, const Place& place, const Values& inputs) {
    for (const NetworkSpec& network : model_.networks) {
      if (network.name.value != op.target.value) continue;
      Place inner = place;
      inner.prefix += (op.labels.empty() ? network.name.value : op.labels[0]) + ".";
      inner.owner = network.name.value + ".";
      inner.network = network.name.value;
      return AddBody(network.ops, network.in, network.out, inner, global_, inputs);
    }
    std::vector<std::string> names;
    for (const NetworkSpec& network : model_.networks) names.push_back(network.name.value);
    diagnostics_.Error(op.target.mark, "there is no network '" + op.target.value + "'",
                       SuggestName(op.target.value, names));
    return std::nullopt;
  }

  MaybeValues AddOperator(const OpSpec& op, const Place& place, const std::string& label,
                          Values inputs) {
    const OpDef* def = FindDef(op, Usage::kOperator);
    if (def == nullptr) return std::nullopt;
    const int errors = diagnostics_.error_count();
    Attributes attributes = ParseAttributes(*def, op, CommonKeys(), diagnostics_);
    const ActivationOp activation = FindActivation(op);
    if (diagnostics_.error_count() > errors) return std::nullopt;
    attributes = SetInternal(*def, std::move(attributes), op, place, label);
    const std::vector<OwnedTensor> owned = Owned(*def, attributes, inputs);
    if (!AddOwned(owned, op, place, label, inputs)) return std::nullopt;
    if (def->needs_step) inputs.push_back(Step());
    const auto outputs = builder_.TryAddNode(IdOf(*def), attributes, inputs, place.prefix + label,
                                             NodeOptions(op, place), diagnostics_);
    if (!outputs) return std::nullopt;
    UpdateStatistics(*def, inputs, *outputs, place);
    if (!activation.op) return Values{outputs->front()};
    return builder_.TryAddNode(
        *activation.op, Attributes::Defaults(*GetOpDef(*activation.op).schema), {outputs->front()},
        place.prefix + label + "." + activation.name, NodeOptions(op, place), diagnostics_);
  }

  struct ActivationOp {
    std::optional<OpId> op;
    std::string name;
  };

  // `activation: relu`: an operator of one input that is applied to the output.
  ActivationOp FindActivation(const OpSpec& op) {
    for (const Attribute& attribute : op.attributes) {
      if (attribute.key != "activation") continue;
      std::vector<std::string> known;
      for (int i = 0; i < OpCount(); ++i) {
        const OpDef& def = GetOpDef(static_cast<OpId>(i));
        if (def.activation) known.push_back(def.name);
      }
      const std::string& name = attribute.value.scalar;
      if (std::find(known.begin(), known.end(), name) != known.end()) return {FindOp(name), name};
      diagnostics_.Error(attribute.value.mark,
                         "there is no activation " + Describe(attribute.value),
                         SuggestName(name, known));
    }
    return {};
  }

  const OpDef* FindDef(const OpSpec& op, Usage usage) {
    const std::optional<OpId> id = FindOp(op.target.value);
    if (id && GetOpDef(*id).usage == usage) return &GetOpDef(*id);
    static const std::map<Usage, std::string> kinds = {{Usage::kOperator, "operator"},
                                                       {Usage::kLoss, "loss"},
                                                       {Usage::kMetric, "metric"},
                                                       {Usage::kOptimizer, "optimizer"}};
    std::vector<std::string> names;
    for (int i = 0; i < OpCount(); ++i) {
      const OpDef& def = GetOpDef(static_cast<OpId>(i));
      if (def.usage == usage) names.push_back(def.name);
    }
    diagnostics_.Error(op.target.mark,
                       "there is no " + kinds.at(usage) + " '" + op.target.value + "'",
                       SuggestName(op.target.value, names));
    return nullptr;
  }

  static OpId IdOf(const OpDef& def) { return *FindOp(def.name); }

  // Fields that no model file gives: the random key, and whether the operator trains.
  Attributes SetInternal(const OpDef& def, Attributes attributes, const OpSpec& op,
                         const Place& place, const std::string& label) {
    const auto set = [&](std::string_view name, const AttributeValue& value) {
      const AttributeField* field = def.schema->Find(name);
      if (field != nullptr && field->internal) attributes = attributes.With(*field, value);
    };
    set("training", options_.kind == EntryKind::kTrain && place.learns);
    set("key", static_cast<int64_t>(RandomKey(graph_.seed, place.prefix + label)));
    const bool given = std::any_of(op.attributes.begin(), op.attributes.end(),
                                   [](const Attribute& a) { return a.key == "dtype"; });
    const AttributeField* dtype = def.schema->Find("dtype");
    if (dtype != nullptr && dtype->kind == AttributeKind::kDType && !given && !dtype->required) {
      attributes = attributes.With(*dtype, options_.precision);
    }
    return attributes;
  }

  std::vector<OwnedTensor> Owned(const OpDef& def, const Attributes& attributes,
                                 const Values& inputs) {
    if (def.owned == nullptr) return {};
    std::vector<TensorType> types;
    for (ValueId input : inputs) types.push_back(graph_.values[input].type);
    InferContext context(attributes, std::move(types));
    return def.owned(context);  // empty where the inputs are wrong: inference says how
  }

  // Adds the tensors that an operator owns, or finds those of its network; they become inputs.
  bool AddOwned(const std::vector<OwnedTensor>& owned, const OpSpec& op, const Place& place,
                const std::string& label, Values& inputs) {
    std::vector<std::string> tensors;
    for (const OwnedTensor& tensor : owned) tensors.push_back(tensor.name);
    const int errors = diagnostics_.error_count();
    const ParameterOptions options = ReadParameterOptions(op, tensors, diagnostics_);
    if (diagnostics_.error_count() > errors) return false;
    for (size_t i = 0; i < owned.size(); ++i) {
      const std::string name = place.owner + label + "." + owned[i].name;
      const auto shared = owned_.find(name);
      ValueId id = shared == owned_.end() ? ValueId() : shared->second;
      if (!id.valid()) {
        id = builder_.AddSource(owned[i].role, Zone::kForward, owned[i].type, name, op.target.mark);
        graph_.parameters[id] = InfoOf(owned[i], options, i == 0);
        owned_[name] = id;
      } else if (graph_.values[id].type != owned[i].type) {
        diagnostics_.Error(op.target.mark,
                           name + " is " + graph_.values[id].type.ToString() + " in one use of '" +
                               place.network + "' and " + owned[i].type.ToString() + " in this one",
                           "all uses of a network share its parameters");
        return false;
      }
      Note(id, place);
      inputs.push_back(Current(id));
    }
    return true;
  }

  static ParameterInfo InfoOf(const OwnedTensor& tensor, const ParameterOptions& options,
                              bool first) {
    ParameterInfo info;
    info.init = tensor.init;
    const auto named = options.init.find(tensor.name);
    const auto general = options.init.find("");
    if (named != options.init.end()) {
      info = named->second;
    } else if (first && general != options.init.end()) {
      info = general->second;
    }
    info.fan_in = tensor.fan_in;
    info.fan_out = tensor.fan_out;
    info.trainable = tensor.role == Role::kParameter && !options.frozen;
    info.learning_rate_scale = options.learning_rate_scale;
    if (first) {
      info.l1 = options.l1;
      info.l2 = options.l2;
    }
    return info;
  }

  // Remembers which parameters a path or network uses, in the order of their first use.
  void Note(ValueId id, const Place& place) {
    const auto add = [&](const std::string& user) {
      Values& used = used_by_[user];
      if (std::find(used.begin(), used.end(), id) == used.end()) used.push_back(id);
    };
    add(graph_.paths[place.path].name);
    if (!place.network.empty()) add(place.network);
  }

  // A state's value after the updates so far.
  ValueId Current(ValueId state) const {
    for (const UpdateEdge& edge : graph_.updates) {
      if (edge.state == state) return edge.next;
    }
    return state;
  }

  // Running statistics change in the forward pass of training.
  void UpdateStatistics(const OpDef& def, const Values& inputs, const Values& outputs,
                        const Place& place) {
    if (options_.kind != EntryKind::kTrain || !place.learns) return;
    for (const InPlacePair& update : def.updates) {
      if (static_cast<size_t>(update.output) >= outputs.size()) continue;
      const ValueId read = inputs[static_cast<size_t>(update.input)];
      const ValueId next = outputs[static_cast<size_t>(update.output)];
      auto edge = std::find_if(graph_.updates.begin(), graph_.updates.end(),
                               [&](const UpdateEdge& e) { return e.next == read; });
      if (edge != graph_.updates.end()) {
        edge->next = next;
      } else {
        graph_.updates.push_back({read, next});
      }
    }
  }

  ValueId Step() {
    const ValueId step = graph_.FindValue(kStepCounter);
    if (step.valid()) return step;
    return builder_.AddSource(Role::kPlaceholder, Zone::kForward, {DType::kI64, Shape()},
                              kStepCounter);
  }

  static Builder::NodeOptions NodeOptions(const OpSpec& op, const Place& place) {
    Builder::NodeOptions options;
    options.path = place.path;
    options.mark = op.target.mark;
    return options;
  }

  std::optional<ValueId> AddTail(const OpSpec& op, Usage usage, const Place& place,
                                 const std::string& label) {
    const OpDef* def = FindDef(op, usage);
    if (def == nullptr) return std::nullopt;
    const int errors = diagnostics_.error_count();
    const Attributes attributes = ParseAttributes(*def, op, {}, diagnostics_);
    const ValueId last = last_of_path_.back();
    const MaybeValues inputs =
        Inputs(op, global_, last.valid() ? MaybeValues(Values{last}) : std::nullopt);
    if (!inputs || diagnostics_.error_count() > errors) return std::nullopt;
    const auto outputs = builder_.TryAddNode(IdOf(*def), attributes, *inputs, place.prefix + label,
                                             NodeOptions(op, place), diagnostics_);
    if (!outputs) return std::nullopt;
    return outputs->front();
  }

  void AddLoss(const PathSpec& spec, const Place& place) {
    const auto loss = AddTail(*spec.loss, Usage::kLoss, place, "loss");
    if (!loss) return;
    graph_.paths[place.path].loss = *loss;
    graph_.outputs.push_back({*loss, OutputKind::kLoss, "loss", place.path});
  }

  void AddMetric(const MetricSpec& metric, const Place& place) {
    const auto value = AddTail(metric.op, Usage::kMetric, place, metric.name.value);
    if (!value) return;
    graph_.outputs.push_back({*value, OutputKind::kMetric, metric.name.value, place.path});
  }

  void AddOptimizer(const PathSpec& spec, PathId id) {
    static const std::vector<std::string> kScheduled = {"schedule"};
    const OpSpec* optimizer = spec.optimizer ? &*spec.optimizer : nullptr;
    if (optimizer == nullptr && model_.train && model_.train->optimizer) {
      optimizer = &*model_.train->optimizer;
    }
    if (optimizer == nullptr) {
      diagnostics_.Error(spec.name.mark, "path '" + spec.name.value + "' has no optimizer",
                         "give `train: {optimizer: {op: sgd, lr: 0.1}}`, or `mode: forward`");
      return;
    }
    const OpDef* def = FindDef(*optimizer, Usage::kOptimizer);
    if (def == nullptr) return;
    Path& path = graph_.paths[id];
    path.optimizer = IdOf(*def);
    path.optimizer_attributes = ParseAttributes(*def, *optimizer, kScheduled, diagnostics_);
    path.learning_rate =
        builder_.AddSource(Role::kPlaceholder, Zone::kOptimizer, {DType::kF64, Shape()},
                           spec.name.value + ".learning_rate", optimizer->mark);
  }

  // What each path's loss changes: its own parameters, or those that `trains` names.
  void ResolveTrains() {
    for (PathId id : graph_.paths.ids()) {
      const PathSpec& spec = model_.paths[static_cast<size_t>(id.index)];
      std::vector<MarkedText> names = spec.trains;
      if (names.empty()) names.push_back(spec.name);
      for (const MarkedText& name : names) CollectTrained(id, name);
    }
  }

  void CollectTrained(PathId id, const MarkedText& name) {
    const bool known =
        std::any_of(model_.paths.begin(), model_.paths.end(),
                    [&](const PathSpec& p) { return p.name.value == name.value; }) ||
        std::any_of(model_.networks.begin(), model_.networks.end(),
                    [&](const NetworkSpec& n) { return n.name.value == name.value; });
    if (!known) {
      std::vector<std::string> names;
      for (const PathSpec& path : model_.paths) names.push_back(path.name.value);
      for (const NetworkSpec& network : model_.networks) names.push_back(network.name.value);
      diagnostics_.Error(name.mark, "there is no network or path '" + name.value + "'",
                         SuggestName(name.value, names));
      return;
    }
    for (ValueId parameter : used_by_[name.value]) {
      Values& trains = graph_.paths[id].trains;
      const bool known_already = std::find(trains.begin(), trains.end(), parameter) != trains.end();
      if (graph_.parameters.at(parameter).trainable && !known_already) trains.push_back(parameter);
    }
  }

  // What `out:` names in each path, or else the last path's last output.
  void AddPredictions() {
    for (size_t i = 0; i < model_.paths.size(); ++i) {
      const PathSpec& spec = model_.paths[i];
      for (const MarkedText& name : spec.out) {
        const ValueId value = Lookup(name, global_);
        if (!value.valid()) continue;
        graph_.outputs.push_back(
            {value, OutputKind::kPrediction, name.value, PathId(static_cast<int64_t>(i))});
      }
    }
    if (!graph_.outputs.empty() || last_of_path_.empty() || !last_of_path_.back().valid()) return;
    const ValueId last = last_of_path_.back();
    const PathId path(static_cast<int64_t>(model_.paths.size()) - 1);
    graph_.outputs.push_back({last, OutputKind::kPrediction, graph_.values[last].name, path});
  }

  const ModelSpec& model_;
  FrontendOptions options_;
  Diagnostics& diagnostics_;
  Graph graph_;
  Builder builder_;
  Scope global_;
  std::map<std::string, std::string> owner_of_name_;  // the first path that has it
  std::map<std::string, std::string> ambiguous_;      // the qualified names to choose from
  std::map<std::string, ValueId> owned_;              // by name
  std::map<std::string, Values> used_by_;             // path or network → parameters
  std::vector<ValueId> last_of_path_;
};

}  // namespace

const std::vector<std::string>& CommonKeys() {
  static const std::vector<std::string> keys = {"activation", "init", "regularize", "frozen", "lr"};
  return keys;
}

std::optional<Graph> BuildForward(const ModelSpec& model, const FrontendOptions& options,
                                  Diagnostics& diagnostics) {
  CheckSupported(model, diagnostics);
  return ForwardBuilder(model, options, diagnostics).Run();
}

}  // namespace cgrun
