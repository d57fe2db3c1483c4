// Declares the initialiser `orthogonal`.
#ifndef CGRUN_OPS_ORTHOGONAL_H_
#define CGRUN_OPS_ORTHOGONAL_H_

#include "src/ir/graph.h"

namespace cgrun {

// Returns a tensor whose rows are orthogonal vectors of length `gain`. The first axis counts the
// rows, and all others together are the columns. If there are fewer columns than rows, the columns
// are orthogonal instead.
//
// The result is uniform over such matrices. It is the Q of the QR decomposition of normal numbers,
// those of RandomNormal(key, 0, element), with a positive diagonal of R (Saxe, McClelland and
// Ganguli, ICLR 2014; PyTorch orthogonal_). A tensor of one axis is one row.
HostTensor OrthogonalValue(const TensorType& type, double gain, uint64_t key);

}  // namespace cgrun

#endif  // CGRUN_OPS_ORTHOGONAL_H_
