// Imports reductions, searches along an axis, and sums on the way along one.
#include <algorithm>
#include <string>
#include <vector>

#include "src/import/adapters.h"
#include "src/import/item_writer.h"

namespace cgrun {
namespace {

// Reads which axes a node reduces.
class ReducedAxes {
 public:
  // Axes stand in an attribute, and from some opset on in an input.
  explicit ReducedAxes(NodeContext& node) : node_(node), shape_(node.ShapeOf(0)) {
    const auto attribute = node.Ints("axes");
    if (attribute) axes_ = *attribute;
    if (node.Has(1)) axes_ = node.Integers(1);
    keeps_ = node.Int("keepdims", 1) != 0;
    const bool noop = node.Int("noop_with_empty_axes", 0) != 0;
    if (axes_.empty() && !noop) axes_ = AxesFrom(0, shape_.rank());
    for (int64_t& axis : axes_) axis = node.Axis(axis, shape_.rank());
    std::ranges::sort(axes_);
    if (std::ranges::adjacent_find(axes_) != axes_.end()) node.Fail("has an axis twice");
    for (const int64_t axis : axes_) {
      if (shape_[static_cast<int>(axis)].batch) node.Fail("reduces the batch axis");
    }
  }

  bool keeps() const { return keeps_; }
  bool none() const { return axes_.empty(); }

  ItemWriter::Keys Keys(bool keeps) const {
    ItemWriter::Keys keys = {KeyOfList("axes", axes_)};
    if (keeps) keys.push_back(KeyOf("keep_dims", true));
    return keys;
  }
  // The shape of the result without the axes.
  std::vector<Dim> Dropped() const {
    std::vector<Dim> dims;
    for (int axis = 0; axis < shape_.rank(); ++axis) {
      if (std::ranges::find(axes_, axis) == axes_.end()) dims.push_back(shape_[axis]);
    }
    return dims;
  }
  NetworkValue Part(ItemWriter& write, const std::string& op, const NetworkValue& x) const {
    return none() ? x : write.Part(op, {x}, Keys(keeps_));
  }
  void Finish(ItemWriter& write, const std::string& op, const NetworkValue& x) const {
    if (none()) return node_.Set(x);
    write.Finish(op, {x}, Keys(keeps_));
  }

 private:
  NodeContext& node_;
  Shape shape_;
  std::vector<int64_t> axes_;
  bool keeps_ = true;
};

// The extrema of bools are those of bytes.
void ReduceBools(NodeContext& node, const std::string& op) {
  ItemWriter write(node);
  const NetworkValue bytes =
      write.Part("cast", {node.Value(0)}, {KeyOf("to", std::string("uint8"))});
  const NetworkValue result = ReducedAxes(node).Part(write, op, bytes);
  write.Finish("cast", {result}, {KeyOf("to", std::string("bool"))});
}

void Reduce(NodeContext& node, const Adapter& row) {
  ItemWriter write(node);
  const bool is_extremum = row.op == "reduce_max" || row.op == "reduce_min";
  if (is_extremum && node.TypeOf(0).dtype == DType::kBool) {
    return ReduceBools(node, std::string(row.op));
  }
  ReducedAxes(node).Finish(write, std::string(row.op), node.Value(0));
}

void ReduceL1(NodeContext& node, const Adapter&) {
  ItemWriter write(node);
  const ReducedAxes axes(node);
  if (axes.none()) return write.Finish("abs", {node.Value(0)});
  axes.Finish(write, "reduce_sum", write.Part("abs", {node.Value(0)}));
}

void ReduceL2(NodeContext& node, const Adapter&) {
  ItemWriter write(node);
  const NetworkValue x = node.Value(0);
  write.Finish("sqrt", {ReducedAxes(node).Part(write, "reduce_sum", write.Part("mul", {x, x}))});
}

void ReduceSumSquare(NodeContext& node, const Adapter&) {
  ItemWriter write(node);
  const ReducedAxes axes(node);
  const NetworkValue x = node.Value(0);
  if (axes.none()) return write.Finish("mul", {x, x});
  axes.Finish(write, "reduce_sum", write.Part("mul", {x, x}));
}

void ReduceLogSum(NodeContext& node, const Adapter&) {
  ItemWriter write(node);
  write.Finish("log", {ReducedAxes(node).Part(write, "reduce_sum", node.Value(0))});
}

// The largest element is taken off first, so that nothing overflows.
void ReduceLogSumExp(NodeContext& node, const Adapter&) {
  ItemWriter write(node);
  const ReducedAxes axes(node);
  const NetworkValue x = node.Value(0);
  if (axes.none()) return node.Set(x);
  const NetworkValue largest = write.Part("reduce_max", {x}, axes.Keys(true));
  const NetworkValue powers = write.Part("exp", {write.Part("sub", {x, largest})});
  const NetworkValue sum = write.Part("log", {write.Part("reduce_sum", {powers}, axes.Keys(true))});
  if (axes.keeps()) return write.Finish("add", {sum, largest});
  node.Set(node.EmitReshape(write.Part("add", {sum, largest}), axes.Dropped()));
}

void ArgExtremum(NodeContext& node, const Adapter& row) {
  ItemWriter::Keys keys = {KeyOf("axis", AxisOf(node, 0))};
  if (node.Int("keepdims", 1) != 0) keys.push_back(KeyOf("keep_dims", true));
  if (node.Int("select_last_index", 0) != 0) keys.push_back(KeyOf("last", true));
  ItemWriter(node).Finish(std::string(row.op), {node.Value(0)}, std::move(keys));
}

void CumSum(NodeContext& node, const Adapter&) {
  ItemWriter::Keys keys = {KeyOf("axis", node.Axis(IntegerOf(node, 1), node.ShapeOf(0).rank()))};
  if (node.Int("exclusive", 0) != 0) keys.push_back(KeyOf("exclusive", true));
  if (node.Int("reverse", 0) != 0) keys.push_back(KeyOf("reverse", true));
  ItemWriter(node).Finish("cumsum", {node.Value(0)}, std::move(keys));
}

// k stood in an attribute before opset 10. The results are always sorted.
void TopK(NodeContext& node, const Adapter& row) {
  ItemWriter write(node);
  const NetworkValue x = node.Value(0);
  const int64_t axis = AxisOf(node, -1);
  const int64_t k = row.since < 10 ? node.Int("k", 0) : IntegerOf(node, 1);
  node.Ignore("sorted");
  ItemWriter::Keys keys = {KeyOf("k", k), KeyOf("axis", axis)};
  if (node.Int("largest", 1) == 0) keys.push_back(KeyOf("smallest", true));
  const NetworkValue places = write.Part("top_k", {x}, std::move(keys));
  write.Finish("gather_elements", {x, places}, {KeyOf("axis", axis)});
  if (node.node().outputs.size() > 1) node.Set(1, {{}, places});
}

// Gives 1 at the first of the largest elements of an axis, and 0 elsewhere.
void Hardmax(NodeContext& node, const Adapter& row) {
  ItemWriter write(node);
  const NetworkValue x = node.Value(0);
  const Shape shape = write.ShapeOf(x);
  const int64_t axis = AxisOf(node, row.since < 13 ? 1 : -1);
  if (row.since < 13 && axis != shape.rank() - 1) {
    node.FailAttribute("axis", "is supported as the last axis only");
  }
  const NetworkValue place = write.Part("arg_max", {x}, {KeyOf("axis", axis)});
  ItemWriter::Keys keys = {KeyOf("classes", shape[static_cast<int>(axis)].size),
                           KeyOf("dtype", std::string(Name(node.TypeOf(x).dtype)))};
  if (axis == shape.rank() - 1) return write.Finish("one_hot", {place}, std::move(keys));
  const NetworkValue rows = write.Part("one_hot", {place}, std::move(keys));
  std::vector<int64_t> perm = AxesFrom(0, shape.rank() - 1);
  perm.insert(perm.begin() + axis, shape.rank() - 1);
  write.Finish("transpose", {rows}, {KeyOfList("perm", perm)});
}

constexpr Adapter kReductions[] = {
    {"ArgMax", ArgExtremum, "arg_max"},
    {"ArgMin", ArgExtremum, "arg_min"},
    {"CumSum", CumSum, "", 2},
    {"Hardmax", Hardmax},
    {"Hardmax", Hardmax, "", 1, 13},
    {"ReduceL1", ReduceL1, "", 2},
    {"ReduceL2", ReduceL2, "", 2},
    {"ReduceLogSum", ReduceLogSum, "", 2},
    {"ReduceLogSumExp", ReduceLogSumExp, "", 2},
    {"ReduceMax", Reduce, "reduce_max", 2},
    {"ReduceMean", Reduce, "reduce_mean", 2},
    {"ReduceMin", Reduce, "reduce_min", 2},
    {"ReduceProd", Reduce, "reduce_prod", 2},
    {"ReduceSum", Reduce, "reduce_sum", 2},
    {"ReduceSumSquare", ReduceSumSquare, "", 2},
    {"TopK", TopK},
    {"TopK", TopK, "", 2, 10},
};

}  // namespace

std::span<const Adapter> ReduceAdapters() { return kReductions; }

}  // namespace cgrun
