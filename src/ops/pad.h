// Declares the attributes of pad.
#ifndef CGRUN_OPS_PAD_H_
#define CGRUN_OPS_PAD_H_

#include <string>
#include <vector>

#include "src/ir/attributes.h"

namespace cgrun {

struct PadAttributes {
  IntList axes;  // empty: 0, 1, … as many as before
  IntList before;
  IntList after;  // empty: as before
  double value = 0;
  std::string mode = "constant";  // or reflect, edge, wrap

  static const AttributeSchema& Schema();
};

// The gradient of pad has these in other modes than constant.
struct PadGradAttributes {
  IntList axes;
  IntList before;
  IntList after;
  std::string mode = "reflect";
  Shape shape;  // of the input of pad

  static const AttributeSchema& Schema();
};

// Elements added before and after, for every axis.
struct PadWidths {
  std::vector<int64_t> before;
  std::vector<int64_t> after;
};

// Returns the widths for a tensor of `rank`. The attributes must have passed type inference.
PadWidths WidthsOf(const PadAttributes& attributes, int rank);

// The element of an axis of `size` that pad puts at `place`, which counts from the first element of
// x: negative in front of it. `mode` is reflect, edge or wrap.
int64_t PaddedFrom(const std::string& mode, int64_t place, int64_t size);

}  // namespace cgrun

#endif  // CGRUN_OPS_PAD_H_
