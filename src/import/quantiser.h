// Emits the items that quantised operators have in common.
#ifndef CGRUN_IMPORT_QUANTISER_H_
#define CGRUN_IMPORT_QUANTISER_H_

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/import/item_writer.h"
#include "src/import/widen.h"

namespace cgrun {

// A scale or a factor: a number, or a value that is broadcast.
struct Factor {
  std::optional<float> number;
  NetworkValue value;

  ItemWriter::Argument argument() const {
    return number ? ItemWriter::Argument(*number) : ItemWriter::Argument(value);
  }
};

// The axis along which scales and zero points lie, and how many elements of it share one; 0: as
// many as there are axes alike.
struct Grid {
  int64_t axis = 0;
  int64_t block = 0;
};

class Quantiser {
 public:
  explicit Quantiser(NodeContext& node) : node_(node), write_(node) {}

  ItemWriter& write() { return write_; }
  NodeContext& node() { return node_; }

  NetworkValue Cast(const NetworkValue& x, DType dtype) {
    return CastValue(node_.state(), x, dtype);
  }
  // Does the same for the result of the node.
  void Finish(const NetworkValue& x, DType dtype) {
    if (node_.TypeOf(x).dtype == dtype) return node_.Set(x);
    write_.Finish("cast", {x}, {KeyOf("to", std::string(Name(dtype)))});
  }

  // Shapes are copied: those of values move when an item is added.

  // Input `i` as f32, spread over `x` along the grid.
  Factor Scale(int i, Shape x, const Grid& grid) {
    if (node_.IsConstant(i)) {
      const std::optional<double> number = node_.Number(i);
      if (number && std::isfinite(*number)) return {static_cast<float>(*number), {}};
    }
    return {std::nullopt, Spread(Cast(node_.Value(i), DType::kF32), x, grid)};
  }

  // The zero point, input `i`, in `dtype`; nothing where it is 0.
  std::optional<Factor> ZeroPoint(int i, DType dtype, Shape x, const Grid& grid) {
    if (!node_.Has(i)) return std::nullopt;
    if (node_.IsConstant(i)) {
      const std::optional<double> number = node_.Number(i);
      if (number == 0.0) return std::nullopt;
      if (number) return Factor{static_cast<float>(*number), {}};
    }
    return Factor{std::nullopt, Spread(Cast(node_.Value(i), dtype), x, grid)};
  }

  // Gives a list along an axis, or blocks along one, the shape of `x`, with ones.
  NetworkValue Spread(NetworkValue value, Shape x, const Grid& grid) {
    const Shape shape = write_.ShapeOf(value);
    if (shape.rank() == 0 || (shape.IsBound() && shape.Elements() == 1)) {
      return shape.rank() == 0 ? value : write_.Reshaped(value, {});
    }
    if (grid.block == 0) {
      if (shape.rank() != 1) {
        if (shape.rank() == x.rank()) return value;  // it is broadcast
        node_.Fail("has scales of shape " + shape.ToString() + ", which do not fit " +
                   x.ToString());
      }
      std::vector<Dim> dims(static_cast<size_t>(x.rank()), Dim(1));
      dims[static_cast<size_t>(grid.axis)] = shape[0];
      return write_.Reshaped(value, dims);
    }
    return SpreadBlocks(value, x, grid);
  }

  // Takes the zero point off, in int32 where the numbers are, and multiplies by the scale, in f32.
  NetworkValue Dequantised(NetworkValue x, const Factor& scale,
                           const std::optional<Factor>& zero_point) {
    const DType computed = node_.TypeOf(x).dtype == DType::kI32 ? DType::kI32 : DType::kF32;
    x = Cast(x, computed);
    if (zero_point) x = write_.Part("sub", {x, zero_point->argument()});
    x = Cast(x, DType::kF32);
    if (scale.number == 1.0f) return x;
    return write_.Part("mul", {x, scale.argument()});
  }

  // Rounds to the nearest integer, ties to even, adds the zero point, and cuts off what is beyond
  // the type. `x` is divided by its scale already.
  void FinishQuantised(NetworkValue x, const std::optional<Factor>& zero_point, DType dtype) {
    Finish(Rounded(std::move(x), zero_point, dtype), dtype);
  }
  NetworkValue Rounded(NetworkValue x, const std::optional<Factor>& zero_point, DType dtype) {
    x = write_.Part("round", {x});
    if (zero_point) x = write_.Part("add", {x, zero_point->argument()});
    const auto [low, high] = RangeOf(dtype);
    return write_.Part("clip", {x},
                       {KeyOf("min", NumberText(low)), KeyOf("max", NumberText(high))});
  }

  // The product of scales, or what one divides by. Numbers are multiplied here, in f32.
  Factor Combined(const std::string& op, const Factor& a, const Factor& b) {
    if (a.number && b.number)
      return {op == "mul" ? *a.number * *b.number : *a.number / *b.number, {}};
    return {std::nullopt, write_.Part(op, {a.argument(), b.argument()})};
  }

  // A zero point of bytes as the products of integers take it: one, or a list.
  NetworkValue ByteZeroPoint(int i, DType dtype) {
    if (!node_.Has(i)) {
      return node_.EmitParameter(ConstantOf(HostTensor(dtype, Shape{1})), "zero");
    }
    const NetworkValue value = node_.Value(i);
    const Shape shape = write_.ShapeOf(value);
    if (shape.rank() <= 1) return value;
    return write_.Reshaped(value, {shape.ElementsDim()});
  }

  static std::pair<float, float> RangeOf(DType dtype) {
    switch (dtype) {
      case DType::kI8:
        return {-128.0f, 127.0f};
      case DType::kI16:
        return {-32768.0f, 32767.0f};
      case DType::kU16:
        return {0.0f, 65535.0f};
      default:
        return {0.0f, 255.0f};
    }
  }

 private:
  // […, blocks, …] becomes […, blocks·block, …], cut off at the size of `x`.
  NetworkValue SpreadBlocks(NetworkValue value, const Shape& x, const Grid& grid) {
    const Shape shape = write_.ShapeOf(value);
    const auto axis = static_cast<size_t>(grid.axis);
    std::vector<Dim> apart(shape.begin(), shape.end()), together = apart;
    apart.insert(apart.begin() + grid.axis + 1, Dim(1));
    std::vector<int64_t> repeats(apart.size(), 1);
    repeats[axis + 1] = grid.block;
    together[axis] = Dim(together[axis].size * grid.block);
    value = write_.Part("tile", {write_.Reshaped(value, apart)}, {KeyOfList("repeats", repeats)});
    value = write_.Reshaped(value, together);
    const int64_t size = x[static_cast<int>(axis)].size;
    if (together[axis].size == size) return value;
    return write_.Part(
        "slice", {value},
        {KeyOfList("axes", {grid.axis}), KeyOfList("starts", {0}), KeyOfList("ends", {size})});
  }

  NodeContext& node_;
  ItemWriter write_;
};

}  // namespace cgrun

#endif  // CGRUN_IMPORT_QUANTISER_H_
