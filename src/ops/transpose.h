// Declares the attributes of transpose.
#ifndef CGRUN_OPS_TRANSPOSE_H_
#define CGRUN_OPS_TRANSPOSE_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct TransposeAttributes {
  IntList perm;  // axis i of y is axis perm[i] of x; empty: the axes reversed

  static const AttributeSchema& Schema();
};

// Returns `perm` with every axis in [0, rank). If `perm` is empty, returns the reversing
// permutation. If it is no permutation of the axes, returns an empty list.
std::vector<int> NormalizePermutation(const IntList& perm, int rank);

}  // namespace cgrun

#endif  // CGRUN_OPS_TRANSPOSE_H_
