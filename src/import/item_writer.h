// Writes the items of operators that are made of several.
#ifndef CGRUN_IMPORT_ITEM_WRITER_H_
#define CGRUN_IMPORT_ITEM_WRITER_H_

#include <string>
#include <utility>
#include <vector>

#include "src/import/node_context.h"

namespace cgrun {

class ItemWriter {
 public:
  // An input of an item is a value or a number.
  struct Argument : Network::Input {
    Argument(const NetworkValue& value) : Input{value, ""} {}   // NOLINT: as Network::Input
    Argument(float number) : Input{{}, NumberText(number)} {}   // NOLINT
    Argument(double number) : Input{{}, NumberText(number)} {}  // NOLINT
  };
  using Keys = std::vector<TreeEntry>;

  explicit ItemWriter(NodeContext& node) : node_(node) {}

  // Adds an item that gives a part of what the node computes.
  NetworkValue Part(const std::string& op, const std::vector<Argument>& inputs, Keys keys = {}) {
    return node_.Emit(op, {inputs.begin(), inputs.end()}, std::move(keys), {}, op);
  }
  // Adds the item that gives the node's result.
  void Finish(const std::string& op, const std::vector<Argument>& inputs, Keys keys = {}) {
    node_.Set(node_.Emit(op, {inputs.begin(), inputs.end()}, std::move(keys)));
  }
  const Shape& ShapeOf(const NetworkValue& value) const { return node_.TypeOf(value).shape; }
  // Gives a value the shape `dims`, if it has not that shape.
  NetworkValue Reshaped(const NetworkValue& value, const std::vector<Dim>& dims) {
    if (Shape(dims) == ShapeOf(value)) return value;
    return node_.EmitReshape(value, dims, "reshape");
  }
  // Exchanges axes, if any changes its place.
  NetworkValue Transposed(const NetworkValue& value, const std::vector<int64_t>& perm) {
    bool changes = false;
    for (size_t i = 0; i < perm.size(); ++i) changes |= perm[i] != static_cast<int64_t>(i);
    return changes ? Part("transpose", {value}, {KeyOfList("perm", perm)}) : value;
  }

 private:
  NodeContext& node_;
};

// The elements of a constant, as numbers. Fail() for other types than floats, integers and bools,
// and for more than 64 KiB.
std::vector<double> NumbersOf(NodeContext& node, int i);

// The axis of an attribute, counted from 0.
inline int64_t AxisOf(NodeContext& node, int64_t fallback) {
  return node.Axis(node.Int("axis", fallback), node.ShapeOf(0).rank());
}

// Returns every axis from `first` on.
std::vector<int64_t> AxesFrom(int64_t first, int rank);

}  // namespace cgrun

#endif  // CGRUN_IMPORT_ITEM_WRITER_H_
