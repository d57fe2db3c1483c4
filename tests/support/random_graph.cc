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
#include "src/ir/op_def.h"
#include "src/ops/cast.h"
#include "src/ops/concat.h"
#include "src/ops/dropout.h"
#include "src/ops/infer.h"
#include "src/ops/linear.h"
#include "src/ops/matmul.h"
#include "src/ops/normalize.h"
#include "src/ops/optimizer.h"
#include "src/ops/pad.h"
#include "src/ops/reduce.h"
#include "src/ops/reshape.h"
#include "src/ops/resize.h"
#include "src/ops/slice.h"
#include "src/ops/softmax.h"
#include "src/ops/transpose.h"
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
    const int64_t paths = options_.learning ? dice_.Between(0, 2) : 0;
    for (int64_t p = 0; p < std::max<int64_t>(1, paths); ++p) {
      if (paths > 0) AddPath();
      for (int64_t i = 0; i < nodes / std::max<int64_t>(1, paths); ++i) EmitAny();
      if (paths > 0 && dice_.OneIn(4)) LearnByHand();
      if (paths > 0) AddLoss();
    }
    if (paths > 0) Learn();
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

  // The results that nothing reads yet.
  std::vector<ValueId> Unread() const {
    const auto readers = Readers(graph_);
    std::vector<ValueId> unread;
    for (ValueId id : pool_) {
      if (readers[id].empty() && graph_.values[id].producer.valid()) unread.push_back(id);
    }
    return unread;
  }

  // A value of the graph's number type: recent ones and unread ones more often, so that chains grow
  // long and little is dead.
  ValueId AnyValue() {
    const int64_t size = static_cast<int64_t>(pool_.size());
    const std::vector<ValueId> unread = Unread();
    if (!unread.empty() && dice_.OneIn(2)) return dice_.Of(unread);
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
    if (graph_.paths.empty() && options.output_zone == Zone::kGradient) {
      options.phase = Phase::kBackward;
    }
    options.path = path_;
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

  bool TryEmit(OpId op, std::vector<ValueId> inputs) {
    return TryEmit(op, Attributes::Defaults(*GetOpDef(op).schema), std::move(inputs));
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

  ValueId AddState(const Shape& shape) {
    const Role role = dice_.Of<Role>({Role::kParameter, Role::kParameter, Role::kOptimizerState,
                                      Role::kRunningStatistic, Role::kMasterWeight});
    const Zone zone = role == Role::kOptimizerState ? Zone::kOptimizer : Zone::kForward;
    const ValueId state = builder_.AddSource(role, zone, {dtype_, shape}, "state");
    graph_.parameters[state].init = "normal";
    graph_.parameters[state].init_args = {0, 1};
    states_.push_back(state);
    pool_.push_back(state);
    return state;
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
        &Generator::EmitUnary,     &Generator::EmitUnary,       &Generator::EmitUnary,
        &Generator::EmitBinary,    &Generator::EmitBinary,      &Generator::EmitBinary,
        &Generator::EmitNeutral,   &Generator::EmitReduction,   &Generator::EmitReshape,
        &Generator::EmitReshape,   &Generator::EmitBroadcast,   &Generator::EmitDuplicate,
        &Generator::EmitAllReduce, &Generator::EmitGradient,    &Generator::EmitFused,
        &Generator::EmitMatmul,    &Generator::EmitLinear,      &Generator::EmitTranspose,
        &Generator::EmitConcat,    &Generator::EmitSlice,       &Generator::EmitPad,
        &Generator::EmitCast,      &Generator::EmitDropout,     &Generator::EmitNormalize,
        &Generator::EmitResize,    &Generator::EmitScalarOfTwo,
    };
    for (int attempt = 0; attempt < 20; ++attempt) {
      if ((this->*dice_.Of(emitters))()) return;
    }
  }

  bool EmitUnary() { return TryEmit(dice_.Of(UnaryOperators()), {AnyValue()}); }

  // Every activation of the operator table is among them.
  static const std::vector<OpId>& UnaryOperators() {
    static const std::vector<OpId> operators = [] {
      std::vector<OpId> ops = {OpId::identity, OpId::neg,  OpId::exp,
                               OpId::log,      OpId::sqrt, OpId::flatten};
      for (int i = 0; i < kBuiltinOpCount; ++i) {
        if (GetOpDef(OpId(i)).activation) ops.push_back(OpId(i));
      }
      return ops;
    }();
    return operators;
  }

  OpId AnyArithmetic() { return dice_.Of<OpId>({OpId::add, OpId::sub, OpId::mul, OpId::div}); }

  bool EmitBinary() {
    const ValueId a = AnyValue();
    const ValueId b = dice_.OneIn(8) ? a : AnyValueWhere([&](ValueId id) {
      return BroadcastShapes(ShapeOf(a), ShapeOf(id)).has_value();
    });
    return TryEmit(AnyArithmetic(), dice_.OneIn(2) ? std::vector{a, b} : std::vector{b, a});
  }

  // x + 0, 0·x, x / 1, … and with −0.
  bool EmitNeutral() {
    const ValueId x = AnyValue();
    const Shape ones(std::vector<Dim>(static_cast<size_t>(ShapeOf(x).rank()), Dim(1)));
    HostTensor tensor(dtype_, ShapeOf(x).IsBound() && dice_.OneIn(2) ? ShapeOf(x) : ones);
    const double number = dice_.Of<double>({1.0, 1.0, 0.0, -0.0});
    for (int64_t e = 0; e < tensor.elements(); ++e) tensor.Set(e, number);
    const ValueId constant = builder_.AddConstant(std::move(tensor), "neutral");
    return TryEmit(AnyArithmetic(),
                   dice_.OneIn(3) ? std::vector{constant, x} : std::vector{x, constant});
  }

  bool EmitReduction() {
    const ValueId x = AnyValue();
    ReduceAttributes reduce;
    for (int axis = 0; axis < ShapeOf(x).rank(); ++axis) {
      if (dice_.OneIn(2)) reduce.axes.push_back(dice_.OneIn(2) ? axis : axis - ShapeOf(x).rank());
    }
    reduce.keep_dims = dice_.OneIn(2);
    const OpId op = dice_.Of<OpId>({OpId::reduce_sum, OpId::reduce_mean, OpId::reduce_max});
    return TryEmit(op, Attributes::Of(reduce), {x});
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

  // A node that is there already, its operands exchanged now and then: it must be merged with the
  // first only where that is allowed.
  bool EmitDuplicate() {
    if (graph_.nodes.empty()) return false;
    const Node node =
        graph_.nodes[NodeId(dice_.Between(0, static_cast<int64_t>(graph_.nodes.size()) - 1))];
    if (node.op == OpId::fused) return false;
    std::vector<ValueId> inputs = node.inputs;
    if (inputs.size() == 2 && dice_.OneIn(2)) std::swap(inputs[0], inputs[1]);
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
          dice_.Of(binary ? std::vector{OpId::add, OpId::mul} : std::vector{OpId::relu, OpId::neg}),
          {},
          {}};
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

  ValueId AnyMatrix() {
    return AnyValueWhere([&](ValueId id) { return ShapeOf(id).rank() >= 2; });
  }

  bool EmitMatmul() {
    const ValueId a = AnyMatrix(), b = AnyMatrix();
    return a.valid() &&
           TryEmit(OpId::matmul, Attributes::Of(MatmulAttributes{dice_.OneIn(2), dice_.OneIn(2)}),
                   {a, b});
  }

  // With a weight and a bias of its own.
  bool EmitLinear() {
    const ValueId x = AnyMatrix();
    if (!x.valid() || ShapeOf(x).dims().back().batch) return false;
    const LinearAttributes linear{dice_.Between(1, 4), dice_.OneIn(2)};
    std::vector<ValueId> inputs = {x, AddState({linear.units, ShapeOf(x).dims().back()})};
    if (linear.bias) inputs.push_back(AddState({linear.units}));
    return TryEmit(OpId::linear, Attributes::Of(linear), inputs);
  }

  bool EmitTranspose() {
    const ValueId x = AnyValue();
    TransposeAttributes transpose;
    transpose.perm = RandomPermutation(dice_.Between(0, 1000), ShapeOf(x).rank());
    return TryEmit(OpId::transpose, Attributes::Of(transpose), {x});
  }

  bool EmitConcat() {
    const ValueId x = AnyValue();
    if (ShapeOf(x).rank() == 0) return false;
    const std::vector<ValueId> inputs = {x, AnyValueOfShape(ShapeOf(x)),
                                         AnyValueOfShape(ShapeOf(x))};
    return TryEmit(OpId::concat,
                   Attributes::Of(ConcatAttributes{dice_.Between(0, ShapeOf(x).rank() - 1)}),
                   inputs);
  }

  // An axis of x that is not the batch's, or −1.
  int AnyPlainAxis(ValueId x) {
    std::vector<int> axes;
    for (int axis = 0; axis < ShapeOf(x).rank(); ++axis) {
      if (!ShapeOf(x)[axis].batch) axes.push_back(axis);
    }
    return axes.empty() ? -1 : dice_.Of(axes);
  }

  bool EmitSlice() {
    const ValueId x = AnyValue();
    const int axis = AnyPlainAxis(x);
    if (axis < 0) return false;
    const int64_t size = ShapeOf(x)[axis].size, start = dice_.Between(0, size - 1);
    const bool backwards = dice_.OneIn(3);
    const SliceAttributes slice{{axis},
                                {start},
                                {backwards ? -size - 1 : dice_.Between(start + 1, size)},
                                {backwards ? -1 : dice_.Between(1, 2)}};
    return TryEmit(OpId::slice, Attributes::Of(slice), {x});
  }

  bool EmitPad() {
    const ValueId x = AnyValue();
    const int axis = AnyPlainAxis(x);
    if (axis < 0) return false;
    const PadAttributes pad{{axis}, {dice_.Between(0, 2)}, {dice_.Between(0, 2)}, 0.5};
    return TryEmit(OpId::pad, Attributes::Of(pad), {x});
  }

  // To another type and back, or to the same.
  bool EmitCast() {
    const ValueId x = AnyValue();
    const DType to = dice_.Of<DType>({dtype_, DType::kF32, DType::kF64, DType::kBF16, DType::kI32});
    if (!TryEmit(OpId::cast, Attributes::Of(CastAttributes{to}), {x})) return false;
    const ValueId there = graph_.nodes[graph_.nodes.last()].outputs[0];
    return to == dtype_ || TryEmit(OpId::cast, Attributes::Of(CastAttributes{dtype_}), {there});
  }

  bool EmitDropout() {
    const bool training = !dice_.OneIn(3);
    const DropoutAttributes dropout{0.25, dice_.Between(1, 3), training};
    const ValueId x = AnyValue();
    return TryEmit(OpId::dropout, Attributes::Of(dropout),
                   training ? std::vector{x, StepCounter(builder_)} : std::vector{x});
  }

  bool EmitNormalize() {
    return TryEmit(OpId::normalize, Attributes::Of(NormalizeAttributes{0.5, {0.25}, {2}, dtype_}),
                   {AnyValue()});
  }

  bool EmitResize() {
    const ValueId x = AnyValueWhere([&](ValueId id) { return ShapeOf(id).rank() == 4; });
    return x.valid() &&
           TryEmit(OpId::resize, Attributes::Of(ResizeAttributes{{2, 3}, "bilinear"}), {x});
  }

  // --- Losses ---

  ValueId LabelsFor(ValueId logits) {
    const Dim rows = ShapeOf(logits)[0];
    const ValueId known = graph_.FindValue(rows.batch ? "labels" : "fixed_labels");
    if (known.valid() && ShapeOf(known) == Shape{rows}) return known;
    return builder_.AddSource(Role::kPlaceholder, Zone::kForward, {DType::kI64, {rows}},
                              rows.batch ? "labels" : "fixed_labels");
  }

  // A loss or metric of two values.
  bool EmitScalarOfTwo() {
    const ValueId x = AnyMatrix();
    if (!x.valid()) return false;
    if (dice_.OneIn(2)) return TryEmit(OpId::squared_error, {x, AnyValueOfShape(ShapeOf(x))});
    if (ShapeOf(x).rank() != 2 || ShapeOf(x)[1].batch || ShapeOf(x)[1].size < 3) return false;
    return TryEmit(dice_.OneIn(2) ? OpId::softmax_cross_entropy : OpId::accuracy,
                   {x, LabelsFor(x)});
  }

  // --- Learning ---

  // The nodes that follow belong to a path of its own.
  void AddPath() {
    Path path;
    path.name = "path" + std::to_string(graph_.paths.size());
    path.backprop = true;
    if (dice_.OneIn(2)) {
      const bool momentum = dice_.OneIn(2);
      path.optimizer = OpId::sgd;
      path.optimizer_attributes =
          Attributes::Of(SgdAttributes{0.1, momentum ? 0.5 : 0, momentum && dice_.OneIn(2), 0.01});
    } else {
      path.optimizer = OpId::adam;
      path.optimizer_attributes = Attributes::Of(AdamAttributes());
    }
    path.learning_rate = builder_.AddSource(Role::kPlaceholder, Zone::kForward,
                                            {DType::kF64, Shape()}, path.name + ".rate");
    path_ = graph_.paths.push_back(std::move(path));
  }

  // The results that a parameter has a part in.
  IdVector<ValueId, bool> DependsOnParameters() const {
    IdVector<ValueId, bool> depends(graph_.values.size());
    for (const Node& node : graph_.nodes) {
      const bool learned = std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
        return depends[input] || graph_.values[input].role == Role::kParameter;
      });
      for (ValueId output : node.outputs) depends[output] = learned;
    }
    return depends;
  }

  // The path's loss: a mean, a squared error or a cross-entropy of what was drawn last.
  void AddLoss() {
    Path& path = graph_.paths[path_];
    const IdVector<ValueId, bool> depends = DependsOnParameters();
    const ValueId x = AnyValueWhere([&](ValueId id) { return depends[id]; });
    if (!x.valid()) return;
    Builder::NodeOptions options;
    options.path = path_;
    const bool squared = dice_.OneIn(2);
    path.loss = squared ? builder_.AddNode(OpId::squared_error, Attributes(),
                                           {x, AnyValueOfShape(ShapeOf(x))}, "loss", options)[0]
                        : builder_.AddNode(OpId::reduce_mean, Attributes::Of(ReduceAttributes()),
                                           {x}, "loss", options)[0];
    for (ValueId state : states_) {
      if (graph_.values[state].role == Role::kParameter && !dice_.OneIn(4)) {
        path.trains.push_back(state);
      }
    }
  }

  // Backward and update nodes of all paths; some of what they compute can be read further on.
  void Learn() {
    const int64_t before = static_cast<int64_t>(graph_.values.size());
    graph_ = Differentiate(graph_);
    for (int64_t i = before; i < static_cast<int64_t>(graph_.values.size()); ++i) {
      const Value& value = graph_.values[ValueId(i)];
      if (value.type.dtype == dtype_ && dice_.OneIn(4)) pool_.push_back(ValueId(i));
    }
  }

  // Gradients of a mean for some states, and state ← state − gradient·rate for each.
  void LearnByHand() {
    const ValueId x = AnyValue();
    Builder::NodeOptions options;
    options.path = path_;
    const ValueId loss = builder_.AddNode(OpId::reduce_sum, Attributes::Of(ReduceAttributes()), {x},
                                          "sum", options)[0];
    HostTensor one(dtype_, Shape());
    one.Set(0, 1);
    const ValueId seed = builder_.AddConstant(one, "sum.grad");
    for (const auto& [state, gradient] : AddGradients(builder_, {{loss, seed}}, states_, path_)) {
      if (graph_.values[state].role == Role::kParameter || HasUpdate(state)) continue;
      options.phase = Phase::kUpdate;
      options.output_zone = Zone::kOptimizer;
      const ValueId next = builder_.AddNode(OpId::sub, Attributes(), {state, gradient},
                                            graph_.values[state].name + ".next", options)[0];
      graph_.updates.push_back({state, next});
    }
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

  void AddOutput(ValueId value) {
    const std::string name = "output" + std::to_string(graph_.outputs.size());
    graph_.outputs.push_back({value, OutputKind::kKept, name, PathId()});
  }

  // Any values; in most graphs what nothing reads too, which leaves little dead code.
  void AddOutputs() {
    for (int64_t i = 0, n = dice_.Between(1, 4); i < n; ++i) AddOutput(AnyValue());
    if (dice_.OneIn(4)) return;
    for (ValueId value : Unread()) {
      if (!dice_.OneIn(4)) AddOutput(value);
    }
  }

  Dice dice_;
  RandomGraphOptions options_;
  Graph graph_;
  Builder builder_;
  DType dtype_ = DType::kF32;
  PathId path_;
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
