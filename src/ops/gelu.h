// Declares the attributes of gelu and of its gradient.
#ifndef CGRUN_OPS_GELU_H_
#define CGRUN_OPS_GELU_H_

#include <string>

#include "src/ir/attributes.h"

namespace cgrun {

struct GeluAttributes {
  std::string approximate = "none";  // or "tanh"

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_GELU_H_
