// Declares the attributes of concat and of its gradient, and how parts of joined tensors lie.
#ifndef CGRUN_OPS_CONCAT_H_
#define CGRUN_OPS_CONCAT_H_

#include <cstdint>

#include "src/ir/attributes.h"
#include "src/ir/tensor_type.h"

namespace cgrun {

struct ConcatAttributes {
  int64_t axis = 1;

  static const AttributeSchema& Schema();
};

// Says which part of a concatenation is wanted. Begin and size are shapes of one axis, so that they
// can depend on the batch size.
struct ConcatGradAttributes {
  int64_t axis = 1;
  Shape begin{0};
  Shape size{1};

  static const AttributeSchema& Schema();
};

// Returns how many rows a bound tensor of this layout is, one after another, so that a part along
// `axis` is a span of bytes of each row. If the axis is blocked, that is true of parts of whole
// blocks alone.
int64_t RowsAround(const Shape& shape, const Layout& layout, int axis);
// Returns whether a part of so many elements of the axis, or one that begins behind so many, is one
// of whole blocks.
bool HasWholeBlocks(const Layout& layout, int axis, int64_t elements);

}  // namespace cgrun

#endif  // CGRUN_OPS_CONCAT_H_
