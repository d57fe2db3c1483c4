// Says which instruction set our own kernels run with on this CPU.
#ifndef CGRUN_KERNELS_CPU_VECTOR_TARGET_H_
#define CGRUN_KERNELS_CPU_VECTOR_TARGET_H_

#include <string>

namespace cgrun::cpu {

// Returns whether this CPU has the least instruction set that they are compiled for.
bool HasVectorTarget();

// Returns "Highway 1.0.3 AVX2", or "no vectors" if the CPU has none of our targets.
std::string VectorTarget();

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_VECTOR_TARGET_H_
