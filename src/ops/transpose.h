// Declares the attributes of transpose.
#ifndef CGRUN_OPS_TRANSPOSE_H_
#define CGRUN_OPS_TRANSPOSE_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct TransposeAttributes {
  IntList perm;  // axis i of y is axis perm[i] of x; empty: the axes reversed

  static const AttributeSchema& Schema();
};

// `perm` with every axis in [0, rank), or the reversing one where it is empty; empty if it is no
// permutation of the axes.
std::vector<int> NormalizePermutation(const IntList& perm, int rank);

}  // namespace cgrun

#endif  // CGRUN_OPS_TRANSPOSE_H_
