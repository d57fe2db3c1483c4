// Declares the attributes of random_flip.
#ifndef CGRUN_OPS_RANDOM_FLIP_H_
#define CGRUN_OPS_RANDOM_FLIP_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct RandomFlipAttributes {
  IntList axes = {-1};
  double probability = 0.5;
  int64_t key = 0;     // of the random numbers: RandomKey(seed, name of the node)
  bool varied = true;  // false: no sample is flipped

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_RANDOM_FLIP_H_
