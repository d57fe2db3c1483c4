// BuildForward: walks the paths of a model in the file's order and adds their nodes.
#include <algorithm>
#include <deque>

#include "src/autodiff/autodiff.h"
#include "src/base/random.h"
#include "src/frontend/attribute_parser.h"
#include "src/frontend/frontend.h"
#include "src/frontend/keep.h"
#include "src/frontend/losses.h"
#include "src/frontend/names.h"
#include "src/frontend/numbers.h"
#include "src/frontend/op_lookup.h"
#include "src/frontend/owned_tensors.h"
#include "src/frontend/parameter_options.h"
#include "src/frontend/path_training.h"
#include "src/frontend/path_uses.h"
#include "src/frontend/place.h"
#include "src/frontend/recurrent_state.h"
#include "src/frontend/shared_draw.h"
#include "src/frontend/unroll.h"
#include "src/frontend/unused_parts.h"
#include "src/ir/builder.h"
#include "src/ir/op_def.h"
#include "src/model/expand_blocks.h"
#include "src/ops/fill.h"

namespace cgrun {
namespace {

class ForwardBuilder {
 public:
  ForwardBuilder(const ModelSpec& model, const FrontendOptions& options, Diagnostics& diagnostics)
      : model_(model), options_(options), diagnostics_(diagnostics), builder_(graph_) {}

  std::optional<Graph> Run(Kept* kept) {
    graph_.name = model_.name.value;
    graph_.seed = model_.train ? static_cast<uint64_t>(model_.train->seed.value) : 0;
    AddInputs();
    DeclarePaths();
    for (const PathUse& use : uses_) AddPath(use);
    names_.Enter("");
    CollectTrained(model_, uses_, owned_, graph_, diagnostics_);
    AddStateUpdates(model_, options_.kind, names_, graph_, diagnostics_);
    if (options_.kind == EntryKind::kPredict) AddPredictions();
    if (kept != nullptr) KeepValues(model_.keep, names_, graph_, *kept, diagnostics_);
    Graph built = CheckLeftOut();
    if (diagnostics_.has_errors()) return std::nullopt;
    return built;
  }

 private:
  using Values = std::vector<ValueId>;
  using MaybeValues = std::optional<Values>;

  // Declares all paths, those that run first. If two paths have a name, that of a path that runs is
  // meant.
  void DeclarePaths() {
    for (const PathSpec& path : model_.paths) {
      if (std::ranges::find(uses_, &path, &PathUse::path) != uses_.end()) names_.Declare(path);
    }
    const bool maybe_meant = SequenceNamesNoPath(model_);
    for (const PathUse& use : left_out_) names_.DeclareLeftOut(*use.path, maybe_meant);
  }

  // Adds the paths that no step runs, for their errors alone. Returns the graph without them.
  Graph CheckLeftOut() {
    if (left_out_.empty()) return std::move(graph_);
    Graph built = graph_;
    operators_ = 0;
    for (const PathUse& use : left_out_) AddPath(use);
    return built;
  }

  void AddInputs() {
    for (const InputSpec& input : model_.inputs) {
      if (input.broken) {
        names_.global().values[input.name.value] = ValueId();
        continue;
      }
      std::vector<Dim> dims;
      if (input.batch.value) dims.push_back(kBatchDim);
      for (const Dim& dim : input.shape.value) dims.push_back(dim);
      const TensorType type{input.type.value, Shape(dims)};
      if (IsFloat(type.dtype) && type.dtype != options_.precision &&
          !IsWidened(type.dtype, options_) && !IsConverted(model_, input.name.value)) {
        const std::string wanted(Name(options_.precision));
        diagnostics_.Error(input.mark,
                           "input '" + input.name.value + "' is " + std::string(Name(type.dtype)) +
                               ", but the precision of this run is " + wanted,
                           "write `type: " + wanted + "`, or set `train.precision`");
      }
      names_.global().values[input.name.value] =
          AddInput(input, type, IsCarried(model_, input.name.value), options_, builder_);
    }
  }

  void AddPath(const PathUse& use) {
    const PathSpec& spec = *use.path;
    Path path;
    path.name = use.Label();
    path.repetition = use.repetition;
    path.repetitions = use.repetitions;
    path.first = PathId(use.first);
    path.backprop = spec.backprop.value;
    path.clip_weights = spec.clip_weights ? spec.clip_weights->value : 0;
    const PathId id = graph_.paths.push_back(std::move(path));
    const std::string qualifier = spec.name.value + ".";
    const Place place{.path = id,
                      .learns = spec.backprop.value,
                      .prefix = use.Label() + ".",
                      .qualifier = qualifier,
                      .owner = qualifier,
                      .networks = {},
                      .path_name = spec.name.value};
    names_.Enter(spec.name.value);
    Scope& scope = scopes_.emplace_back(Scope{&names_.global(), {}});
    const MaybeValues last = AddOps(spec.ops, place, scope, {});
    names_.Publish(scope, spec.name.value);
    last_of_path_.push_back(last && !last->empty() ? last->back() : ValueId());
    if (options_.kind == EntryKind::kPredict) return;
    AddLosses(spec, use.is_last(), place, scope);
    for (const MetricSpec& metric : spec.metrics) {
      if (use.is_last()) AddMetric(metric, place, scope);
    }
    if (spec.backprop.value && options_.kind == EntryKind::kTrain) {
      AddOptimizer(model_, spec, id, builder_, graph_, diagnostics_);
    }
  }

  // Adds a list of operators. `inputs` are what the first one reads without `in:`. Returns the last
  // one's outputs, or nothing after an error. Operators after one that failed are still checked as
  // far as that can be done without its outputs.
  MaybeValues AddOps(const std::vector<OpSpec>& ops, const Place& place, Scope& scope,
                     Values inputs) {
    MaybeValues previous = std::move(inputs);
    for (const OpSpec& op : ops) {
      if (operators_ > kMaxExpandedOps) return std::nullopt;
      previous = AddItem(op, place, scope, previous);
      NameOutputs(op, place, scope, previous);
    }
    return previous;
  }

  // If an item failed, its names stand for an invalid value, which nobody reports again.
  void NameOutputs(const OpSpec& op, const Place& place, Scope& scope, const MaybeValues& outputs) {
    const std::vector<MarkedText> names = OutputNames(op);
    for (size_t i = 0; i < names.size(); ++i) {
      const ValueId value = outputs && i < outputs->size() ? (*outputs)[i] : ValueId();
      scope.values[names[i].value] = value;
      names_.global().values[place.qualifier + names[i].value] = value;
    }
    if (!outputs || names.size() <= outputs->size() || outputs->empty()) return;
    diagnostics_.Error(names[outputs->size()].mark,
                       "'" + op.target.value + "' has " +
                           CountText(static_cast<int64_t>(outputs->size()), "output") + ", and " +
                           std::to_string(names.size()) + " are named",
                       "its `out` says which outputs it has");
  }

  MaybeValues AddItem(const OpSpec& op, const Place& place, Scope& scope,
                      const MaybeValues& previous) {
    operators_ += op.kind == OpSpec::Kind::kOperator;
    if (operators_ > kMaxExpandedOps) return TooMany(op);
    const Diagnostics::Note note(diagnostics_, UseNote(op.use.get()));
    const MaybeValues inputs = op.broken ? std::nullopt : Inputs(op, scope, previous);
    if (!inputs) {
      if (op.kind == OpSpec::Kind::kOperator) CheckAlone(op);
      return std::nullopt;
    }
    switch (op.kind) {
      case OpSpec::Kind::kBlock:
        return AddBlock(op, place, *inputs);
      case OpSpec::Kind::kNetwork:
        return AddNetwork(op, place, *inputs);
      case OpSpec::Kind::kGradient:
        return AddGradient(op, place, scope, *inputs);
      case OpSpec::Kind::kOperator:
        return AddOperator(op, place, scope, *inputs);
    }
    return std::nullopt;
  }

  // Networks that use networks can stand for more operators than any machine holds.
  MaybeValues TooMany(const OpSpec& op) {
    diagnostics_.Error(op.target.mark,
                       "more than " + std::to_string(kMaxExpandedOps) + " operators come out",
                       "uses multiply in networks that use networks");
    return std::nullopt;
  }

  // The definition of an operator; null where there is none of its name. Then its keys are checked
  // as those of the operator that is probably meant.
  const OpDef* FindOrCheckGuess(const OpSpec& op, Usage usage) {
    if (const OpDef* def = FindDef(op, usage, diagnostics_)) return def;
    const OpDef* guess = GuessDef(op, usage);
    if (guess == nullptr) return nullptr;
    std::vector<std::string> beside;
    if (usage == Usage::kOperator) beside = KeysBeside(*guess);
    CheckGivenAttributes(*guess, op, beside, diagnostics_);
    if (usage == Usage::kOperator) FindActivation(op, diagnostics_);
    return nullptr;
  }

  // Checks an operator whose inputs are not known, as far as that goes.
  void CheckAlone(const OpSpec& op) {
    if (op.target.value.empty()) return;  // reported
    const OpDef* def = FindOrCheckGuess(op, Usage::kOperator);
    if (def == nullptr) return;
    ParseAttributes(*def, op, KeysBeside(*def), diagnostics_);
    FindActivation(op, diagnostics_);
    CheckParameterOptions(op, def->owned != nullptr, diagnostics_);
  }

  // `previous` is nothing where the operator before failed; then this one says nothing of it.
  MaybeValues Inputs(const OpSpec& op, const Scope& scope, const MaybeValues& previous) {
    if (ReadsNothing(op)) {
      if (op.in.empty()) return Values();
      diagnostics_.Error(op.in[0].mark, "'" + op.target.value + "' reads nothing",
                         "take out `in:`");
      return std::nullopt;
    }
    if (op.in.empty()) {
      if (!previous || !previous->empty()) return previous;
      diagnostics_.Error(op.target.mark, "'" + op.target.value + "' has nothing to read",
                         "the first operator of a path needs `in:`");
      return std::nullopt;
    }
    return Named(op, scope);
  }

  // Looks up the values that `in:` names. A number among them has the type of the first value that
  // is not bool.
  MaybeValues Named(const OpSpec& op, const Scope& scope) {
    Values values;
    std::optional<DType> dtype;
    bool found = true;
    for (const MarkedText& name : op.in) {
      if (IsNumber(name)) continue;
      values.push_back(names_.Lookup(name, scope, diagnostics_));
      found = found && values.back().valid();
      const DType of_value = found ? graph_.values[values.back()].type.dtype : DType::kBool;
      if (!dtype && of_value != DType::kBool) dtype = of_value;
    }
    if (!found) return std::nullopt;
    for (size_t i = 0; i < op.in.size(); ++i) {
      if (!IsNumber(op.in[i])) continue;
      const auto constant = numbers_.Constant(op.in[i], dtype.value_or(options_.precision));
      if (!constant) return std::nullopt;
      values.insert(values.begin() + static_cast<std::ptrdiff_t>(i), *constant);
    }
    return values;
  }

  // Every repetition reads the first output of the one before; further inputs stay as they are.
  MaybeValues AddBlock(const OpSpec& op, const Place& place, Values inputs) {
    MaybeValues outputs;
    for (const std::string& label : op.labels) {
      Place inner = place;
      inner.prefix += label + ".";
      inner.qualifier += label + ".";
      inner.owner += label + ".";
      outputs = AddBody(op.body, op.body_in, op.body_out, inner, inputs);
      if (!outputs || outputs->empty()) return std::nullopt;
      inputs[0] = outputs->front();
    }
    return outputs;
  }

  // The body of a block or network reads its inputs and nothing from outside.
  MaybeValues AddBody(const std::vector<OpSpec>& ops, const std::vector<MarkedText>& names,
                      const std::vector<MarkedText>& outputs, const Place& place,
                      const Values& inputs) {
    Scope scope;
    for (size_t i = 0; i < names.size() && i < inputs.size(); ++i) {
      scope.values[names[i].value] = inputs[i];
    }
    const MaybeValues last = AddOps(ops, place, scope, inputs);
    if (!last || outputs.empty()) return last;
    Values named;
    for (const MarkedText& name : outputs) {
      const ValueId value = names_.Lookup(name, scope, diagnostics_);
      if (!value.valid()) return std::nullopt;
      named.push_back(value);
    }
    return named;
  }

  MaybeValues AddNetwork(const OpSpec& op, const Place& place, const Values& inputs) {
    for (const NetworkSpec& network : model_.networks) {
      if (network.name.value != op.target.value) continue;
      if (network.onnx && network.ops.empty()) return std::nullopt;  // reported
      const auto use = [&](const std::string& label, const Values& given) {
        return UseNetwork(network, label, place, given);
      };
      if (op.unroll) return Unroller(builder_, diagnostics_, op, place).Run(inputs, use);
      return use(op.labels.empty() ? network.name.value : op.labels[0], inputs);
    }
    std::vector<std::string> names;
    for (const NetworkSpec& network : model_.networks) names.push_back(network.name.value);
    diagnostics_.Error(op.target.mark, "there is no network '" + op.target.value + "'",
                       SuggestName(op.target.value, names));
    return std::nullopt;
  }

  MaybeValues UseNetwork(const NetworkSpec& network, const std::string& label, const Place& place,
                         const Values& inputs) {
    Place inner = place;
    inner.prefix += label + ".";
    inner.qualifier += label + ".";
    inner.owner = network.name.value + ".";
    inner.networks.push_back(network.name.value);
    return AddBody(network.ops, network.in, network.out, inner, inputs);
  }

  // The derivative of the sum of a value's elements by the one input.
  MaybeValues AddGradient(const OpSpec& op, const Place& place, const Scope& scope,
                          const Values& inputs) {
    const ValueId value = names_.Lookup(op.target, scope, diagnostics_);
    if (!value.valid()) return std::nullopt;
    if (inputs.size() != 1 || !IsFloat(graph_.values[value].type.dtype)) {
      diagnostics_.Error(op.target.mark,
                         "'gradient' differentiates one floating-point value by one",
                         "`{gradient: score, in: image}`");
      return std::nullopt;
    }
    const std::string label = op.labels.empty() ? "gradient" : op.labels[0];
    const ValueId ones =
        builder_.AddNode(OpId::fill, Attributes::Of(FillAttributes{1}), {value},
                         place.prefix + label + ".seed", NodeOptionsAt(op, place))[0];
    const auto gradients =
        AddGradients(builder_, {{value, ones}}, inputs, place.path, Phase::kForward);
    if (!gradients.empty()) return Values{gradients.begin()->second};
    diagnostics_.Error(
        op.target.mark,
        "'" + op.target.value + "' has no gradient by '" + graph_.values[inputs[0]].name + "'",
        "it does not depend on it, or through operators without a gradient alone");
    return std::nullopt;
  }

  MaybeValues AddOperator(const OpSpec& op, const Place& place, const Scope& scope, Values inputs) {
    const std::string label = op.labels.empty() ? op.target.value : op.labels[0];
    const OpDef* def = FindOrCheckGuess(op, Usage::kOperator);
    if (def == nullptr) return std::nullopt;
    const int errors = diagnostics_.error_count();
    Attributes attributes = ParseAttributes(*def, op, KeysBeside(*def), diagnostics_);
    const Activation activation = FindActivation(op, diagnostics_);
    if (diagnostics_.error_count() > errors || LacksNumber(*def, op)) {
      CheckParameterOptions(op, def->owned != nullptr, diagnostics_);
      return std::nullopt;
    }
    attributes = SetInternal(*def, std::move(attributes), op, place, label);
    attributes = ForInputs(*def, std::move(attributes), TypesOf(inputs));
    if (!ShareDraw(*def, op, scope, inputs, attributes)) return std::nullopt;
    if (!owned_.Add(*def, attributes, op, place, label, inputs)) return std::nullopt;
    if (def->needs_step) inputs.push_back(StepCounter(builder_));
    const auto outputs = builder_.TryAddNode(IdOf(*def), attributes, inputs, place.prefix + label,
                                             NodeOptionsAt(op, place), diagnostics_);
    if (!outputs) return std::nullopt;
    if (options_.kind == EntryKind::kTrain && place.learns) {
      owned_.UpdateStatistics(*def, inputs, *outputs);
    }
    if (!activation.op) return Values{outputs->front()};
    return builder_.TryAddNode(
        *activation.op, Attributes::Defaults(*GetOpDef(*activation.op).schema), {outputs->front()},
        place.prefix + label + "." + activation.name, NodeOptionsAt(op, place), diagnostics_);
  }

  // Fields that no model file gives: the random key, whether the operator trains, and whether what
  // it does to samples varies.
  Attributes SetInternal(const OpDef& def, Attributes attributes, const OpSpec& op,
                         const Place& place, const std::string& label) {
    const auto set = [&](std::string_view name, const AttributeValue& value) {
      const AttributeField* field = def.schema->Find(name);
      if (field != nullptr && field->internal) attributes = attributes.With(*field, value);
    };
    const bool learns = options_.kind == EntryKind::kTrain && place.learns;
    set("training", learns && !FreezesStatistics(op));
    set("varied", options_.kind == EntryKind::kTrain);
    set("key", static_cast<int64_t>(RandomKey(graph_.seed, place.prefix + label)));
    for (const char* name : {"dtype", "type"}) {
      const AttributeField* dtype = def.schema->Find(name);
      const bool given =
          std::ranges::find(op.attributes, name, &Attribute::key) != op.attributes.end();
      if (dtype != nullptr && dtype->kind == AttributeKind::kDType && !given && !dtype->required) {
        attributes = attributes.With(*dtype, options_.precision);
      }
    }
    return attributes;
  }

  std::vector<TensorType> TypesOf(const Values& values) const {
    std::vector<TensorType> types;
    for (const ValueId value : values) types.push_back(graph_.values[value].type);
    return types;
  }

  // Gives an operator with `draws_as` the random key of the one that it names. Returns false after
  // an error.
  bool ShareDraw(const OpDef& def, const OpSpec& op, const Scope& scope, const Values& inputs,
                 Attributes& attributes) {
    const int errors = diagnostics_.error_count();
    const std::optional<MarkedText> name = FindDrawsAs(op, diagnostics_);
    if (!name) return diagnostics_.error_count() == errors;
    const ValueId drawn = names_.Lookup(*name, scope, diagnostics_);
    if (!drawn.valid()) return false;
    const auto key = SharedKey(graph_, def, attributes, inputs[0], drawn, *name, diagnostics_);
    if (key) attributes = attributes.With(*def.schema->Find("key"), *key);
    return key.has_value();
  }

  std::optional<ValueId> AddTail(const OpSpec& op, Usage usage, const Place& place,
                                 const Scope& scope, const std::string& label) {
    if (op.target.value.empty()) return std::nullopt;  // reported
    const OpDef* def = FindOrCheckGuess(op, usage);
    if (def == nullptr) return std::nullopt;
    const int errors = diagnostics_.error_count();
    const Attributes attributes = ParseAttributes(*def, op, {}, diagnostics_);
    if (op.broken || LacksNumber(*def, op)) return std::nullopt;
    const ValueId last = last_of_path_.back();
    const MaybeValues inputs =
        Inputs(op, scope, last.valid() ? MaybeValues(Values{last}) : std::nullopt);
    if (!inputs || diagnostics_.error_count() > errors) return std::nullopt;
    Values filled = *inputs;
    if (usage == Usage::kLoss) losses_.FillNumbers(op, place, label, filled);
    const auto outputs = builder_.TryAddNode(IdOf(*def), attributes, filled, place.prefix + label,
                                             NodeOptionsAt(op, place), diagnostics_);
    if (!outputs) return std::nullopt;
    if (usage == Usage::kLoss && !losses_.IsLoss(op, outputs->front())) return std::nullopt;
    return outputs->front();
  }

  // The loss is reported of the last repetition alone.
  void AddLosses(const PathSpec& spec, bool reported, const Place& place, const Scope& scope) {
    const ValueId loss = losses_.Sum(spec, place, [&](const OpSpec& op, const std::string& label) {
      return AddTail(op, Usage::kLoss, place, scope, label);
    });
    if (!loss.valid()) return;
    graph_.paths[place.path].loss = loss;
    if (reported) graph_.outputs.push_back({loss, OutputKind::kLoss, "loss", place.path});
  }

  void AddMetric(const MetricSpec& metric, const Place& place, const Scope& scope) {
    const auto value = AddTail(metric.op, Usage::kMetric, place, scope, metric.name.value);
    if (!value) return;
    const Node& node = graph_.nodes[graph_.values[*value].producer];
    graph_.outputs.push_back({*value, OutputKind::kMetric, metric.name.value, place.path,
                              MetricUse{node.op, node.attributes}});
  }

  // Adds the values that `out:` names in each path, or else the last path's last output.
  void AddPredictions() {
    for (size_t i = 0; i < uses_.size(); ++i) {
      for (const MarkedText& name : uses_[i].path->out) {
        const ValueId value = names_.Lookup(name, scopes_[i], diagnostics_);
        if (!value.valid()) continue;
        graph_.outputs.push_back(
            {value, OutputKind::kPrediction, name.value, PathId(static_cast<int64_t>(i))});
      }
    }
    if (!graph_.outputs.empty() || last_of_path_.empty() || !last_of_path_.back().valid()) return;
    const ValueId last = last_of_path_.back();
    const PathId path(static_cast<int64_t>(uses_.size()) - 1);
    graph_.outputs.push_back({last, OutputKind::kPrediction, graph_.values[last].name, path});
  }

  const ModelSpec& model_;
  FrontendOptions options_;
  Diagnostics& diagnostics_;
  std::vector<PathUse> uses_ = PathUses(model_, options_.kind);  // parallel to graph_.paths
  std::vector<PathUse> left_out_ = LeftOutPaths(model_, uses_);
  Graph graph_;
  Builder builder_;
  Names names_{model_.incomplete};
  OwnedTensors owned_{builder_, model_.file_name, diagnostics_};
  Numbers numbers_{builder_, diagnostics_};
  Losses losses_{builder_, diagnostics_};
  std::deque<Scope> scopes_;  // of uses_, then of left_out_
  std::vector<ValueId> last_of_path_;
  int64_t operators_ = 0;  // so far
};

}  // namespace

const std::vector<std::string>& CommonKeys() {
  static const std::vector<std::string> keys = {"activation", "init", "regularize", "frozen", "lr"};
  return keys;
}

std::optional<Graph> BuildForward(const ModelSpec& model, const FrontendOptions& options,
                                  Diagnostics& diagnostics, Kept* kept) {
  CheckSupported(model, diagnostics);
  CheckUnusedParts(model, diagnostics);
  return ForwardBuilder(model, options, diagnostics).Run(kept);
}

}  // namespace cgrun
