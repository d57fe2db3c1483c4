// The generator: a pool of values grows by one random operator at a time; state, gradients, updates
// and outputs follow.
#include "tests/support/random_graph.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "src/autodiff/autodiff.h"
#include "src/ir/builder.h"
#include "src/ops/infer.h"
#include "src/ops/reduce.h"
#include "src/ops/reshape.h"
#include "tests/support/dice.h"

namespace cgrun {
namespace {

constexpr int64_t kMostElements = 128;  // of a value, for N = 1

class Generator {
 public:
  Generator(uint64_t seed, const RandomGraphOptions& options)
      : dice_(RandomKey(seed, "graph")), options_(options), builder_(graph_) {
    graph_.name = "random" + std::to_string(seed);
    graph_.seed = seed;
    dtype_ = dice_.Of<DType>({DType::kF32, DType::kF32, DType::kF64, DType::kBF16});
  }

  Graph Run() {
    AddSources();
    const int64_t nodes = dice_.Between(options_.operators / 2, options_.operators * 3 / 2);
    for (int64_t i = 0; i < nodes; ++i) EmitAny();
    if (options_.learning && dice_.OneIn(2)) Learn();
    AddUpdates();
    AddOutputs();
    return std::move(graph_);
  }

 private:
  using Emitter = bool (Generator::*)();

  // --- What to draw from ---

  const TensorType& TypeOf(ValueId id) const { return graph_.values[id].type; }
  const Shape& ShapeOf(ValueId id) const { return TypeOf(id).shape; }
  bool Fits(const Shape& shape) const {
    const auto count = CountElements(shape);
    return count && count->size <= kMostElements;
  }

  // A value of the graph's number type; recent ones more often, so that chains grow long.
  ValueId AnyValue() {
    const int64_t size = static_cast<int64_t>(pool_.size());
    const int64_t first = dice_.OneIn(2) ? std::max<int64_t>(0, size - 6) : 0;
    return pool_[static_cast<size_t>(dice_.Between(first, size - 1))];
  }

  // A value that `accepts` takes, or an invalid id.
  ValueId AnyValueWhere(const std::function<bool(ValueId)>& accepts) {
    std::vector<ValueId> fitting;
    std::copy_if(pool_.begin(), pool_.end(), std::back_inserter(fitting), accepts);
    return fitting.empty() ? ValueId() : dice_.Of(fitting);
  }
  ValueId AnyValueOfShape(const Shape& shape) {
    return AnyValueWhere([&](ValueId id) { return ShapeOf(id) == shape; });
  }

  Builder::NodeOptions AnyOptions() {
    Builder::NodeOptions options;
    options.output_zone = dice_.Of<Zone>({Zone::kForward, Zone::kForward, Zone::kGradient});
    if (options.output_zone == Zone::kGradient) options.phase = Phase::kBackward;
    return options;
  }

  // Adds a node if its types are right and its results small.
  bool TryEmit(OpId op, Attributes attributes, std::vector<ValueId> inputs) {
    std::vector<TensorType> types;
    for (ValueId id : inputs) types.push_back(TypeOf(id));
    InferContext context(attributes, types);
    for (const TensorType& type : InferTypes(op, context)) {
      if (!Fits(type.shape)) return false;
    }
    if (context.failed()) return false;
    const auto outputs = builder_.AddNode(op, std::move(attributes), std::move(inputs),
                                          std::string(NameOf(op)), AnyOptions());
    for (ValueId output : outputs) {
      if (TypeOf(output).dtype == dtype_) pool_.push_back(output);
    }
    return true;
  }

  // --- Sources ---

  void AddSources() {
    const std::vector<Shape> fed = {{kBatchDim, 4}, {kBatchDim, 3, 2}, {kBatchDim, 1}, {kBatchDim}};
    for (int64_t i = 0, n = dice_.Between(1, 3); i < n; ++i) {
      pool_.push_back(
          builder_.AddSource(Role::kPlaceholder, Zone::kForward, {dtype_, dice_.Of(fed)}, "feed"));
    }
    const std::vector<Shape> held = {{4}, {4, 4}, {3, 2}, {2}, {1, 4}, {}, {1}};
    for (int64_t i = 0, n = dice_.Between(2, 6); i < n; ++i) AddState(dice_.Of(held));
    for (int64_t i = 0, n = dice_.Between(0, 3); i < n; ++i) AddConstant(dice_.Of(held));
  }

  void AddState(const Shape& shape) {
    const Role role = dice_.Of<Role>({Role::kParameter, Role::kParameter, Role::kOptimizerState,
                                      Role::kRunningStatistic, Role::kMasterWeight});
    const Zone zone = role == Role::kOptimizerState ? Zone::kOptimizer : Zone::kForward;
    const ValueId state = builder_.AddSource(role, zone, {dtype_, shape}, "state");
    graph_.parameters[state].init = "normal";
    graph_.parameters[state].init_args = {0, 1};
    states_.push_back(state);
    pool_.push_back(state);
  }

  void AddConstant(const Shape& shape) {
    HostTensor tensor(dtype_, shape);
    const int64_t kind = dice_.Between(0, 4);
    for (int64_t e = 0; e < tensor.elements(); ++e) {
      const double any = static_cast<double>(dice_.Between(-8, 8)) / 4;
      tensor.Set(e, kind == 0 ? 1.0 : kind == 1 ? 0.0 : kind == 2 ? -0.0 : any);
    }
    pool_.push_back(builder_.AddConstant(std::move(tensor), "constant"));
  }

  // --- Operators ---

  void EmitAny() {
    static const std::vector<Emitter> emitters = {
        &Generator::EmitUnary,     &Generator::EmitUnary,     &Generator::EmitBinary,
        &Generator::EmitBinary,    &Generator::EmitNeutral,   &Generator::EmitReduction,
        &Generator::EmitReshape,   &Generator::EmitBroadcast, &Generator::EmitDuplicate,
        &Generator::EmitAllReduce, &Generator::EmitGradient,  &Generator::EmitFused,
    };
    for (int attempt = 0; attempt < 20; ++attempt) {
      if ((this->*dice_.Of(emitters))()) return;
    }
  }

  // The operators of that list which this build has.
  static std::vector<OpId> Known(const std::vector<std::string>& names) {
    std::vector<OpId> known;
    for (const std::string& name : names) {
      if (const auto op = FindOp(name)) known.push_back(*op);
    }
    return known;
  }

  bool EmitUnary() {
    static const std::vector<OpId> ops =
        Known({"identity", "relu", "neg", "leaky_relu", "sigmoid", "tanh", "exp", "log", "sqrt"});
    const OpId op = dice_.Of(ops);
    return TryEmit(op, Attributes::Defaults(*GetOpDef(op).schema), {AnyValue()});
  }

  bool EmitBinary() {
    static const std::vector<OpId> ops = Known({"add", "sub", "mul", "div"});
    const ValueId a = AnyValue();
    const ValueId b = dice_.OneIn(8) ? a : AnyValueWhere([&](ValueId id) {
      return BroadcastShapes(ShapeOf(a), ShapeOf(id)).has_value();
    });
    return TryEmit(dice_.Of(ops), Attributes(),
                   dice_.OneIn(2) ? std::vector{a, b} : std::vector{b, a});
  }

  // x + 0, 0·x, x / 1, … and with −0.
  bool EmitNeutral() {
    static const std::vector<OpId> ops = Known({"add", "sub", "mul", "div"});
    const ValueId x = AnyValue();
    const Shape ones(std::vector<Dim>(static_cast<size_t>(ShapeOf(x).rank()), Dim(1)));
    HostTensor tensor(dtype_, ShapeOf(x).IsBound() && dice_.OneIn(2) ? ShapeOf(x) : ones);
    const double number = dice_.Of<double>({1.0, 1.0, 0.0, -0.0});
    for (int64_t e = 0; e < tensor.elements(); ++e) tensor.Set(e, number);
    const ValueId constant = builder_.AddConstant(std::move(tensor), "neutral");
    return TryEmit(dice_.Of(ops), Attributes(),
                   dice_.OneIn(3) ? std::vector{constant, x} : std::vector{x, constant});
  }

  bool EmitReduction() {
    static const std::vector<OpId> ops = Known({"reduce_sum", "reduce_mean", "reduce_max"});
    const ValueId x = AnyValue();
    ReduceAttributes reduce;
    for (int axis = 0; axis < ShapeOf(x).rank(); ++axis) {
      if (dice_.OneIn(2)) reduce.axes.push_back(dice_.OneIn(2) ? axis : axis - ShapeOf(x).rank());
    }
    reduce.keep_dims = dice_.OneIn(2);
    return TryEmit(dice_.Of(ops), Attributes::Of(reduce), {x});
  }

  // Splits the number of elements into up to three factors, in any order, with a −1 now and then.
  bool EmitReshape() {
    const ValueId x = AnyValue();
    const auto count = CountElements(ShapeOf(x));
    std::vector<Dim> dims;
    int64_t rest = count->size;
    for (int64_t factor : {2, 3, 4}) {
      if (rest % factor != 0 || !dice_.OneIn(2)) continue;
      dims.push_back(Dim(factor));
      rest /= factor;
    }
    const auto any_place = [&] { return dims.begin() + dice_.Between(0, std::ssize(dims)); };
    if (dice_.OneIn(4)) dims.insert(any_place(), Dim(1));
    if (rest > 1 || count->batch) dims.insert(any_place(), Dim(rest, count->batch));
    if (!dims.empty() && dice_.OneIn(4)) {
      dims[static_cast<size_t>(dice_.Between(0, std::ssize(dims) - 1))] = Dim(-1);
    }
    return TryEmit(OpId::reshape, Attributes::Of(ReshapeAttributes{Shape(dims)}), {x});
  }

  bool EmitBroadcast() {
    const ValueId x = AnyValue();
    BroadcastAttributes repeat{ShapeOf(x), dice_.OneIn(4)};
    for (Dim& dim : repeat.shape.dims()) {
      if (dim == Dim(1)) dim = dice_.Of<Dim>({Dim(1), Dim(2), Dim(4), kBatchDim});
    }
    return TryEmit(OpId::broadcast, Attributes::Of(repeat), {x});
  }

  // A node that is there already, its operands exchanged where that is allowed.
  bool EmitDuplicate() {
    if (graph_.nodes.empty()) return false;
    const Node node =
        graph_.nodes[NodeId(dice_.Between(0, static_cast<int64_t>(graph_.nodes.size()) - 1))];
    if (node.op == OpId::fused) return false;
    std::vector<ValueId> inputs = node.inputs;
    if (GetOpDef(node.op).commutative && dice_.OneIn(2)) std::swap(inputs[0], inputs[1]);
    return TryEmit(node.op, node.attributes, inputs);
  }

  bool EmitAllReduce() { return TryEmit(OpId::all_reduce, Attributes(), {AnyValue()}); }

  bool EmitGradient() {
    const ValueId y = AnyValue();
    return TryEmit(OpId::relu_grad, Attributes(), {y, AnyValueOfShape(ShapeOf(y))});
  }

  // Two to five elementwise operators of one shape as one node, as a fusing pass would make it.
  bool EmitFused() {
    const ValueId x = AnyValue();
    Node node;
    node.op = OpId::fused;
    node.name = builder_.UniqueName("fused");
    node.inputs = {x};
    for (int64_t i = 0, n = dice_.Between(0, 2); i < n; ++i) {
      node.inputs.push_back(AnyValueOfShape(ShapeOf(x)));
    }
    for (int64_t i = 0, n = dice_.Between(2, 5); i < n; ++i) {
      const auto operand = [&] {
        return static_cast<int>(dice_.Between(-i, std::ssize(node.inputs) - 1));
      };
      const bool binary = dice_.OneIn(2);
      FusedOperator inner{
          dice_.Of(binary ? Known({"add", "mul"}) : Known({"relu", "neg"})), {}, {}};
      inner.operands = binary ? std::vector{operand(), operand()} : std::vector{operand()};
      node.body.push_back(inner);
    }
    Value value;
    value.type = TypeOf(x);
    value.name = node.name;
    value.producer = NodeId(static_cast<int64_t>(graph_.nodes.size()));
    node.outputs = {graph_.values.push_back(value)};
    pool_.push_back(node.outputs[0]);
    graph_.nodes.push_back(std::move(node));
    return true;
  }

  // --- Learning ---

  // A scalar that depends on what was drawn last.
  ValueId Loss() {
    const ValueId x = AnyValueWhere(
        [&](ValueId id) { return graph_.values[id].producer.valid() && ShapeOf(id).rank() > 0; });
    if (!x.valid()) return x;
    return builder_.AddNode(OpId::reduce_mean, ReduceAll(), {x}, "loss", {})[0];
  }
  static Attributes ReduceAll() { return Attributes::Of(ReduceAttributes()); }

  // Gradients of a loss for some states, and state ← state − gradient·rate for each.
  void Learn() {
    const ValueId loss = Loss();
    if (!loss.valid()) return;
    HostTensor one(dtype_, Shape());
    one.Set(0, 1);
    const ValueId seed = builder_.AddConstant(one, "loss.grad");
    const ValueId rate =
        builder_.AddSource(Role::kPlaceholder, Zone::kForward, {dtype_, Shape()}, "rate");
    const auto gradients = AddGradients(builder_, {{loss, seed}}, states_, PathId());
    for (const auto& [state, gradient] : gradients) {
      if (dice_.OneIn(4)) continue;
      const Builder::NodeOptions options{
          Phase::kUpdate, PathId(), {}, Role::kIntermediate, Zone::kOptimizer};
      const std::string& name = graph_.values[state].name;
      const ValueId step =
          builder_.AddNode(OpId::mul, Attributes(), {gradient, rate}, name + ".step", options)[0];
      const ValueId next =
          builder_.AddNode(OpId::sub, Attributes(), {state, step}, name + ".next", options)[0];
      graph_.updates.push_back({state, next});
      pool_.push_back(next);
    }
    for (const auto& [state, gradient] : gradients) pool_.push_back(gradient);
  }

  bool HasUpdate(ValueId state) const {
    return std::any_of(graph_.updates.begin(), graph_.updates.end(),
                       [&](const UpdateEdge& edge) { return edge.state == state; });
  }

  // States take any value of their type: results, views, other states, feeds, constants.
  void AddUpdates() {
    for (ValueId state : states_) {
      if (HasUpdate(state) || dice_.OneIn(3)) continue;
      const ValueId next = AnyValueWhere([&](ValueId id) { return TypeOf(id) == TypeOf(state); });
      graph_.updates.push_back({state, next});
    }
  }

  void AddOutputs() {
    for (int64_t i = 0, n = dice_.Between(1, 6); i < n; ++i) {
      graph_.outputs.push_back(
          {AnyValue(), OutputKind::kKept, "output" + std::to_string(i), PathId()});
    }
  }

  Dice dice_;
  RandomGraphOptions options_;
  Graph graph_;
  Builder builder_;
  DType dtype_ = DType::kF32;
  std::vector<ValueId> pool_;  // values of the graph's number type
  std::vector<ValueId> states_;
};

HostTensor RandomTensor(const TensorType& type, uint64_t key) {
  HostTensor tensor(type.dtype, type.shape);
  const bool wild = RandomBits(key, 1, 0) % 16 == 0;
  constexpr double kSpecial[] = {0.0, -0.0, std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN()};
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const uint32_t bits = RandomBits(key, 0, static_cast<uint64_t>(i));
    if (!IsFloat(type.dtype)) {
      tensor.Set(i, bits % 3);
    } else if (bits % 16 == 0) {
      tensor.Set(i, kSpecial[(bits >> 8) % (wild ? 4 : 2)]);
    } else {
      tensor.Set(i, 4 * static_cast<double>(UniformFloat(bits)) - 2);
    }
  }
  return tensor;
}

}  // namespace

Graph MakeRandomGraph(uint64_t seed, const RandomGraphOptions& options) {
  return Generator(seed, options).Run();
}

std::map<ValueId, HostTensor> RandomSources(const Graph& graph, uint64_t key) {
  std::map<ValueId, HostTensor> sources;
  for (ValueId id : graph.values.ids()) {
    const Value& value = graph.values[id];
    if (value.producer.valid() || value.role == Role::kConstant) continue;
    sources.emplace(id, RandomTensor(value.type, RandomKey(key, value.name)));
  }
  return sources;
}

}  // namespace cgrun
