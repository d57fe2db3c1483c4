// Random graphs are drawn from this pool. It holds the values so far, and adds nodes where their
// types are right.
#ifndef CGRUN_TESTS_SUPPORT_RANDOM_POOL_H_
#define CGRUN_TESTS_SUPPORT_RANDOM_POOL_H_

#include <functional>
#include <vector>

#include "src/ir/builder.h"
#include "tests/support/dice.h"

namespace cgrun {

inline constexpr int64_t kMostElements = 128;  // of a value, for N = 1

class RandomPool {
 public:
  explicit RandomPool(uint64_t seed);

 protected:
  const TensorType& TypeOf(ValueId id) const { return graph_.values[id].type; }
  const Shape& ShapeOf(ValueId id) const { return TypeOf(id).shape; }
  bool Fits(const Shape& shape) const;

  // The results that nothing reads yet.
  std::vector<ValueId> Unread() const;

  // A value of the graph's number type: recent ones and unread ones more often, so that chains grow
  // long and little is dead.
  ValueId AnyValue();

  // A value that `accepts` takes, or an invalid id.
  ValueId AnyValueWhere(const std::function<bool(ValueId)>& accepts);
  ValueId AnyValueOfShape(const Shape& shape);

  Builder::NodeOptions AnyOptions();

  // Adds a node if its types are right and its results small.
  bool TryEmit(OpId op, Attributes attributes, std::vector<ValueId> inputs);

  bool TryEmit(OpId op, std::vector<ValueId> inputs);

  ValueId AddState(const Shape& shape);

  Dice dice_;
  Graph graph_;
  Builder builder_;
  DType dtype_ = DType::kF32;  // the graph's number type
  PathId path_;                // of the nodes that follow
  std::vector<ValueId> pool_;  // values of the graph's number type
  std::vector<ValueId> states_;
};

}  // namespace cgrun

#endif  // CGRUN_TESTS_SUPPORT_RANDOM_POOL_H_
