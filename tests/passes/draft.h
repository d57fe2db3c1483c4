// Draft draws a graph by chance, for tests of rules.
#ifndef CGRUN_TESTS_PASSES_DRAFT_H_
#define CGRUN_TESTS_PASSES_DRAFT_H_

#include <string>
#include <utility>
#include <vector>

#include "src/ops/fill.h"
#include "tests/passes/pass_test.h"
#include "tests/support/dice.h"

namespace cgrun {

// The inputs hold anything, ordinary numbers, or those but for 0.
enum class Numbers : uint8_t { kAny, kFinite, kNotZero };

// A graph that is drawn: its number type, its shapes, whose first axis may depend on the batch, and
// whether others read what stands between.
struct Draft {
  explicit Draft(uint64_t seed) : dice(seed) {
    dtype = dice.Of<DType>({DType::kF32, DType::kF64, DType::kBF16});
  }

  Shape AnyShape(int64_t least_rank, int64_t most_rank) {
    Shape shape;
    for (int64_t axes = dice.Between(least_rank, most_rank); axes > 0; --axes) {
      shape.dims().push_back(Dim(dice.Between(1, 4)));
    }
    if (shape.rank() > 0) shape[0].batch = dice.OneIn(3);
    return shape;
  }
  // Returns the shape without some of the axes in front, and with 1 in the place of others.
  Shape Repeatable(Shape shape) {
    const auto dropped = dice.Between(0, shape.rank());
    shape.dims().erase(shape.dims().begin(), shape.dims().begin() + dropped);
    for (Dim& dim : shape.dims()) {
      if (dim.batch || dice.OneIn(3)) dim = Dim(1);
    }
    return shape;
  }
  std::vector<int> AnyPermutation(int rank) {
    const auto key = static_cast<uint64_t>(dice.Between(0, 1 << 20));
    const std::vector<int64_t> order = RandomPermutation(key, rank);
    return {order.begin(), order.end()};
  }

  ValueId Input(Shape shape) {
    return builder.AddSource(Role::kPlaceholder, Zone::kForward, {dtype, std::move(shape)}, "x");
  }
  ValueId Filled(Shape shape, double number) {
    HostTensor tensor(dtype, std::move(shape));
    for (int64_t i = 0; i < tensor.elements(); ++i) tensor.Set(i, number);
    return builder.AddConstant(std::move(tensor), "constant");
  }
  template <class T = NoAttributes>
  ValueId Emit(OpId op, std::vector<ValueId> inputs, T attributes = {}) {
    return builder.AddNode(op, Attributes::Of(std::move(attributes)), std::move(inputs), "y",
                           {})[0];
  }
  // A value between others may be read elsewhere, too.
  ValueId Share(ValueId value) {
    if (!dice.OneIn(3)) return value;
    is_shared = true;
    Output(value);
    return value;
  }
  void Output(ValueId value) {
    const std::string name = "out" + std::to_string(graph.outputs.size());
    graph.outputs.push_back({value, OutputKind::kPrediction, name, PathId()});
  }
  // The value is an output, or a node reads it.
  void Finish(ValueId value) { Output(dice.OneIn(2) ? value : Emit(OpId::identity, {value})); }

  const Shape& ShapeOf(ValueId value) const { return graph.values[value].type.shape; }

  Dice dice;
  DType dtype;
  Graph graph;
  Builder builder{graph};
  bool is_shared = false;
};

}  // namespace cgrun

#endif  // CGRUN_TESTS_PASSES_DRAFT_H_
