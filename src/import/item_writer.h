// Writes the items of operators that are made of several.
#ifndef CGRUN_IMPORT_ITEM_WRITER_H_
#define CGRUN_IMPORT_ITEM_WRITER_H_

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "src/import/node_context.h"

namespace cgrun {

class ItemWriter {
 public:
  // An input of an item is a value or a number.
  struct Argument : Network::Input {
    Argument(const NetworkValue& value) : Input{value, ""} {}  // NOLINT: as Network::Input
    Argument(float number)                                     // NOLINT
        : Input{{}, NumberText(number)}, is_finite(std::isfinite(number)) {}
    Argument(double number)  // NOLINT
        : Input{{}, NumberText(number)}, is_finite(std::isfinite(number)) {}

    bool is_finite = true;
  };
  using Keys = std::vector<TreeEntry>;

  explicit ItemWriter(NodeContext& node) : node_(node) {}

  // Adds an item that gives a part of what the node computes.
  NetworkValue Part(const std::string& op, const std::vector<Argument>& inputs, Keys keys = {}) {
    return node_.Emit(op, Checked(inputs), std::move(keys), {}, op);
  }
  // Adds the item that gives the node's result.
  void Finish(const std::string& op, const std::vector<Argument>& inputs, Keys keys = {}) {
    node_.Set(node_.Emit(op, Checked(inputs), std::move(keys)));
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
  // A number of a model file is finite.
  std::vector<Network::Input> Checked(const std::vector<Argument>& inputs) const {
    for (const Argument& input : inputs) {
      if (!input.is_finite) node_.Fail("has a number that is infinite or NaN");
    }
    return {inputs.begin(), inputs.end()};
  }

  NodeContext& node_;
};

// The elements of a constant, as numbers. Fail() for other types than floats, integers and bools,
// and for more than 64 KiB.
std::vector<double> NumbersOf(NodeContext& node, int i);

// The axis of an attribute, counted from 0.
inline int64_t AxisOf(NodeContext& node, int64_t fallback) {
  return node.Axis(node.Int("axis", fallback), node.ShapeOf(0).rank());
}

// The integer of a constant of one element; Fail() for others, and for one beyond ±2³¹.
int64_t IntegerOf(NodeContext& node, int i);

// Emits 0, 1, … count − 1 as int64 [count]. They are computed when the model runs, so that a long
// axis costs no memory here.
NetworkValue EmitPlaces(NodeContext& node, int64_t count);

// Returns every axis from `first` on.
std::vector<int64_t> AxesFrom(int64_t first, int rank);

}  // namespace cgrun

#endif  // CGRUN_IMPORT_ITEM_WRITER_H_
