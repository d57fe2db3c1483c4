// Drawing values, adding nodes and states.
#include "tests/support/random_pool.h"

#include <algorithm>
#include <string>

#include "src/ir/op_def.h"
#include "src/ops/infer.h"

namespace cgrun {

RandomPool::RandomPool(uint64_t seed) : dice_(RandomKey(seed, "graph")), builder_(graph_) {
  graph_.name = "random" + std::to_string(seed);
  graph_.seed = seed;
  dtype_ = dice_.Of<DType>({DType::kF32, DType::kF32, DType::kF64, DType::kBF16});
}

bool RandomPool::Fits(const Shape& shape) const {
  const auto count = CountElements(shape);
  return count && count->size <= kMostElements;
}

std::vector<ValueId> RandomPool::Unread() const {
  const auto readers = Readers(graph_);
  std::vector<ValueId> unread;
  for (ValueId id : pool_) {
    if (readers[id].empty() && graph_.values[id].producer.valid()) unread.push_back(id);
  }
  return unread;
}

ValueId RandomPool::AnyValue() {
  const int64_t size = static_cast<int64_t>(pool_.size());
  const std::vector<ValueId> unread = Unread();
  if (!unread.empty() && dice_.OneIn(2)) return dice_.Of(unread);
  const int64_t first = dice_.OneIn(2) ? std::max<int64_t>(0, size - 6) : 0;
  return pool_[static_cast<size_t>(dice_.Between(first, size - 1))];
}

ValueId RandomPool::AnyValueWhere(const std::function<bool(ValueId)>& accepts) {
  std::vector<ValueId> fitting;
  std::copy_if(pool_.begin(), pool_.end(), std::back_inserter(fitting), accepts);
  return fitting.empty() ? ValueId() : dice_.Of(fitting);
}

ValueId RandomPool::AnyValueOfShape(const Shape& shape) {
  return AnyValueWhere([&](ValueId id) { return ShapeOf(id) == shape; });
}

Builder::NodeOptions RandomPool::AnyOptions() {
  Builder::NodeOptions options;
  options.output_zone = dice_.Of<Zone>({Zone::kForward, Zone::kForward, Zone::kGradient});
  if (graph_.paths.empty() && options.output_zone == Zone::kGradient) {
    options.phase = Phase::kBackward;
  }
  options.path = path_;
  return options;
}

bool RandomPool::TryEmit(OpId op, Attributes attributes, std::vector<ValueId> inputs) {
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

bool RandomPool::TryEmit(OpId op, std::vector<ValueId> inputs) {
  return TryEmit(op, Attributes::Defaults(*GetOpDef(op).schema), std::move(inputs));
}

ValueId RandomPool::AddState(const Shape& shape) {
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

}  // namespace cgrun
