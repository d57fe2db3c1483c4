// The initialiser `orthogonal`.
#ifndef CGRUN_OPS_ORTHOGONAL_H_
#define CGRUN_OPS_ORTHOGONAL_H_

#include "src/ir/graph.h"

namespace cgrun {

// A tensor whose rows (the first axis; the others together are the columns) are orthogonal vectors
// of length `gain`; its columns, where there are fewer of them. Uniform over such matrices: the Q
// of the QR decomposition of normal numbers, those of RandomNormal(key, 0, element), with a
// positive diagonal of R (Saxe, McClelland and Ganguli, ICLR 2014; PyTorch orthogonal_). A vector
// is one row.
HostTensor OrthogonalValue(const TensorType& type, double gain, uint64_t key);

}  // namespace cgrun

#endif  // CGRUN_OPS_ORTHOGONAL_H_
