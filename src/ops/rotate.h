// Declares the attributes of rotate, random_rotate and their gradients, and by how much a sample is
// turned.
#ifndef CGRUN_OPS_ROTATE_H_
#define CGRUN_OPS_ROTATE_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct RotateAttributes {
  double degrees = 0;  // counter-clockwise
  double fill = 0;     // of rotate_grad: 0

  static const AttributeSchema& Schema();
};

struct RandomRotateAttributes {
  RealList degrees;    // from, to; of one: from -degrees to degrees
  double fill = 0;     // of random_rotate_grad: 0
  int64_t key = 0;     // of the random numbers: RandomKey(seed, name of the node)
  bool varied = true;  // false: no sample is turned

  static const AttributeSchema& Schema();
};

// Says by how many degrees each sample is turned.
struct Turn {
  double from = 0;
  double to = 0;
  uint64_t key = 0;

  static Turn Of(const RotateAttributes& attributes);
  static Turn Of(const RandomRotateAttributes& attributes);
  // Draws the degrees of sample `n` at a step. All from `from` to `to` are equally likely.
  double DegreesOf(uint64_t step, int64_t n) const;
};

}  // namespace cgrun

#endif  // CGRUN_OPS_ROTATE_H_
