// Defines the type of a value (number type and shape) and its layout (how its elements lie in
// memory).
#ifndef CGRUN_IR_TENSOR_TYPE_H_
#define CGRUN_IR_TENSOR_TYPE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/dtype.h"
#include "src/base/shape.h"

namespace cgrun {

struct TensorType {
  DType dtype = DType::kF32;
  Shape shape;

  friend bool operator==(const TensorType&, const TensorType&) = default;
  std::string ToString() const;  // "f32[N, 1, 28, 28]"
};

// An order of axes with inner blocks. Plain (row-major, no block) is the default.
// `order` lists the outer axes from slowest to fastest; `blocks` the inner blocks, slowest first.
// oneDNN's nChw16c is order {0, 1, 2, 3}, blocks {{1, 16}}.
struct Layout {
  struct Block {
    int axis = 0;
    int64_t size = 1;
    friend bool operator==(const Block&, const Block&) = default;
  };
  std::vector<int> order;  // empty: 0, 1, 2, …
  std::vector<Block> blocks;

  bool IsPlain() const { return order.empty() && blocks.empty(); }
  friend bool operator==(const Layout&, const Layout&) = default;

  // "plain", or oneDNN's notation: outer axes as letters (capital where blocked), then the blocks:
  // "aBcd16b".
  std::string ToString() const;
  // The layout of that notation; false if it is malformed.
  static bool Parse(const std::string& text, Layout* layout);
};

// Elements that a bound shape takes in a layout: blocked axes are padded to whole blocks.
int64_t PaddedElements(const Shape& shape, const Layout& layout);
// Bytes of a bound type in a layout.
int64_t ByteSize(const TensorType& type, const Layout& layout = {});
// The same for what comes from outside: nothing where the type is not bound, the layout is one of
// another rank, or the bytes do not fit.
std::optional<int64_t> CheckedByteSize(const TensorType& type, const Layout& layout);
// Returns the offset, in elements, of the element at `index`, which has one entry per axis.
int64_t ElementOffset(const Shape& shape, const Layout& layout, const std::vector<int64_t>& index);

}  // namespace cgrun

#endif  // CGRUN_IR_TENSOR_TYPE_H_
