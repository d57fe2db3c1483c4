// Declares the attributes of compare.
#ifndef CGRUN_OPS_COMPARE_H_
#define CGRUN_OPS_COMPARE_H_

#include <string>

#include "src/ir/attributes.h"

namespace cgrun {

struct CompareAttributes {
  std::string is = "less";  // or less_or_equal, equal, not_equal, greater, greater_or_equal

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_COMPARE_H_
