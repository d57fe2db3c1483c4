// Declares the attributes of slice and of its gradient.
#ifndef CGRUN_OPS_SLICE_H_
#define CGRUN_OPS_SLICE_H_

#include <optional>
#include <vector>

#include "src/ir/attributes.h"

namespace cgrun {

struct SliceAttributes {
  IntList axes;  // empty: 0, 1, … as many as starts
  IntList starts;
  IntList ends;
  IntList steps;  // empty: 1 everywhere

  static const AttributeSchema& Schema();
};

struct SliceGradAttributes {
  IntList axes;
  IntList starts;
  IntList ends;
  IntList steps;
  Shape shape;  // of the input of slice

  static const AttributeSchema& Schema();
};

// Describes the elements that are taken from one axis: `count` elements, `step` apart, from `start`
// on.
struct SliceRange {
  int64_t start = 0;
  int64_t step = 1;
  Dim count;
};

// Returns a range for every axis of `shape`, by ONNX's rules: negative positions count from the
// end, and what is beyond is cut off. If the attributes are wrong or a range is empty, returns
// nothing and sets a message.
std::optional<std::vector<SliceRange>> SliceRanges(const SliceAttributes& attributes,
                                                   const Shape& shape, std::string* message);

}  // namespace cgrun

#endif  // CGRUN_OPS_SLICE_H_
