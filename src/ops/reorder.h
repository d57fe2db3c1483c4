// Declares the attributes of reorder.
#ifndef CGRUN_OPS_REORDER_H_
#define CGRUN_OPS_REORDER_H_

#include <string>

#include "src/ir/attributes.h"

namespace cgrun {

struct ReorderAttributes {
  std::string from = "plain";  // Layout::Parse notation
  std::string to = "plain";

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_REORDER_H_
