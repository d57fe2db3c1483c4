// Declares the attributes of random_erasing.
#ifndef CGRUN_OPS_RANDOM_ERASING_H_
#define CGRUN_OPS_RANDOM_ERASING_H_

#include "src/ops/random_box.h"

namespace cgrun {

struct RandomErasingAttributes {
  double probability = 0.5;
  RealList scale = {0.02, 0.33};
  RealList ratio = {0.3, 3.3};
  double value = 0;    // of the gradient: 0
  int64_t key = 0;     // of the random numbers: RandomKey(seed, name of the node)
  bool varied = true;  // false: nothing is erased

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_RANDOM_ERASING_H_
