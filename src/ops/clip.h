// Declares the attributes of clip and of its gradient.
#ifndef CGRUN_OPS_CLIP_H_
#define CGRUN_OPS_CLIP_H_

#include <limits>

#include "src/ir/attributes.h"

namespace cgrun {

struct ClipAttributes {
  double min = -std::numeric_limits<double>::infinity();  // infinite: no bound
  double max = std::numeric_limits<double>::infinity();

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_CLIP_H_
