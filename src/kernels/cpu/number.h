// Choosing an instance for f32 or f64, the types that OpenBLAS and our own loops work in.
#ifndef CGRUN_KERNELS_CPU_NUMBER_H_
#define CGRUN_KERNELS_CPU_NUMBER_H_

#include <algorithm>

#include "src/base/check.h"
#include "src/kernels/kernel.h"

namespace cgrun::cpu {

// `supports`: all operands are of one type, f32 or f64.
inline bool AllF32OrF64(const NodeSignature& node) {
  const DType dtype = node.inputs[0].dtype;
  const auto same = [dtype](const TensorType& type) { return type.dtype == dtype; };
  return (dtype == DType::kF32 || dtype == DType::kF64) &&
         std::all_of(node.inputs.begin(), node.inputs.end(), same) &&
         std::all_of(node.outputs.begin(), node.outputs.end(), same);
}

// Kernel<T>::Run. Static: see kernels/reference/number.h.
template <template <class> class Kernel>
static KernelFunction ForF32OrF64(DType dtype) {
  CGRUN_CHECK(dtype == DType::kF32 || dtype == DType::kF64) << "no kernel for " << Name(dtype);
  return dtype == DType::kF32 ? Kernel<float>::Run : Kernel<double>::Run;
}

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_NUMBER_H_
