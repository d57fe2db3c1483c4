// Declares the attributes of random_mix.
#ifndef CGRUN_OPS_RANDOM_MIX_H_
#define CGRUN_OPS_RANDOM_MIX_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct RandomMixAttributes {
  int64_t key = 0;  // of the random numbers: RandomKey(seed, name of the node)

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_RANDOM_MIX_H_
