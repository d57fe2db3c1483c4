// The generator: a pool of values grows by one random operator at a time; state, gradients, updates
// and outputs follow.
#include "tests/support/random_graph.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "src/autodiff/autodiff.h"
#include "src/ops/optimizer.h"
#include "src/ops/reduce.h"
#include "tests/support/random_operators.h"

namespace cgrun {
namespace {

class Generator : public RandomOperators {
 public:
  Generator(uint64_t seed, const RandomGraphOptions& options)
      : RandomOperators(seed), options_(options) {}

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

  void AddConstant(const Shape& shape) {
    HostTensor tensor(dtype_, shape);
    const int64_t kind = dice_.Between(0, 4);
    for (int64_t e = 0; e < tensor.elements(); ++e) {
      const double any = static_cast<double>(dice_.Between(-8, 8)) / 4;
      tensor.Set(e, kind == 0 ? 1.0 : kind == 1 ? 0.0 : kind == 2 ? -0.0 : any);
    }
    pool_.push_back(builder_.AddConstant(std::move(tensor), "constant"));
  }

  // --- Learning ---

  void SetOptimizer(Path& path) {
    const double momentum = dice_.OneIn(2) ? 0.5 : 0;
    const bool flag = dice_.OneIn(2);
    switch (dice_.Between(0, 5)) {
      case 0:
        return SetOptimizer(path, OpId::adam, AdamAttributes());
      case 1:
        return SetOptimizer(path, OpId::adamw, AdamwAttributes());
      case 2:
        return SetOptimizer(path, OpId::rmsprop,
                            RmspropAttributes{0.01, 0.9, 1e-8, momentum, flag});
      case 3:
        return SetOptimizer(path, OpId::adagrad, AdagradAttributes{0.01, 0.1, flag ? 0.5 : 0});
      default:
        return SetOptimizer(path, OpId::sgd,
                            SgdAttributes{0.1, momentum, momentum != 0 && flag, 0.01});
    }
  }

  template <class T>
  static void SetOptimizer(Path& path, OpId op, T attributes) {
    path.optimizer = op;
    path.optimizer_attributes = Attributes::Of(std::move(attributes));
  }

  // The nodes that follow belong to a path of its own.
  void AddPath() {
    Path path;
    path.name = "path" + std::to_string(graph_.paths.size());
    path.backprop = true;
    SetOptimizer(path);
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
    AutodiffOptions options;
    if (dice_.OneIn(4)) options.clip_norm = 0.5;
    if (dice_.OneIn(6)) options.clip_value = 0.1;
    options.accumulates = dice_.OneIn(4);
    options.updates = !options.accumulates || !dice_.OneIn(3);
    graph_ = Differentiate(graph_, options);
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

  RandomGraphOptions options_;
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
