// Declares the attributes of pad.
#ifndef CGRUN_OPS_PAD_H_
#define CGRUN_OPS_PAD_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct PadAttributes {
  IntList axes;  // empty: 0, 1, … as many as before
  IntList before;
  IntList after;  // empty: as before
  double value = 0;

  static const AttributeSchema& Schema();
};

// Elements added before and after, for every axis.
struct PadWidths {
  std::vector<int64_t> before;
  std::vector<int64_t> after;
};

// Returns the widths for a tensor of `rank`. The attributes must have passed type inference.
PadWidths WidthsOf(const PadAttributes& attributes, int rank);

}  // namespace cgrun

#endif  // CGRUN_OPS_PAD_H_
