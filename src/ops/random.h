// Declares the attributes of random_normal and random_uniform.
#ifndef CGRUN_OPS_RANDOM_H_
#define CGRUN_OPS_RANDOM_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct RandomNormalAttributes {
  Shape shape;  // of y, with the batch axis
  double mean = 0;
  double deviation = 1;
  DType dtype = DType::kF32;
  int64_t key = 0;  // of the random numbers: RandomKey(seed, name of the node)

  static const AttributeSchema& Schema();
};

struct RandomUniformAttributes {
  Shape shape;  // of y, with the batch axis
  double low = 0;
  double high = 1;
  DType dtype = DType::kF32;
  int64_t key = 0;  // as above

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_RANDOM_H_
