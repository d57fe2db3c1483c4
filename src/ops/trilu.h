// Declares the attributes of trilu.
#ifndef CGRUN_OPS_TRILU_H_
#define CGRUN_OPS_TRILU_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct TriluAttributes {
  bool upper = false;
  int64_t diagonal = 0;  // the last one that is kept; above the main diagonal if positive

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_TRILU_H_
