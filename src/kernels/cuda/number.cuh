// Choosing a kernel's instance by number type, once, before it runs. bf16 is computed in f32 and
// rounded on store.
#ifndef CGRUN_KERNELS_CUDA_NUMBER_CUH_
#define CGRUN_KERNELS_CUDA_NUMBER_CUH_

#include <cuda_bf16.h>

#include <type_traits>

#include "src/base/check.h"
#include "src/base/dtype.h"
#include "src/kernels/kernel.h"

namespace cgrun::cuda {

// The type in which T is computed.
template <class T>
using Compute = std::conditional_t<std::is_same_v<T, __nv_bfloat16>, float, T>;

template <class T>
__device__ Compute<T> Load(T value) {
  return static_cast<Compute<T>>(value);
}
template <class T>
__device__ T Store(Compute<T> value) {
  return static_cast<T>(value);
}

inline bool IsCudaFloat(DType dtype) {
  return dtype == DType::kF64 || dtype == DType::kF32 || dtype == DType::kBF16;
}

// `supports` of kernels whose operands are all of one floating-point type.
inline bool AllFloat(const NodeSignature& node) {
  for (const TensorType& type : node.inputs) {
    if (!IsCudaFloat(type.dtype) || type.dtype != node.inputs[0].dtype) return false;
  }
  for (const TensorType& type : node.outputs) {
    if (type.dtype != node.inputs[0].dtype) return false;
  }
  return true;
}

// Kernel<T>::Run for the floating-point type `dtype`. Static for the reason that
// reference/number.h gives.
template <template <class> class Kernel>
static KernelFunction ForFloat(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return &Kernel<double>::Run;
    case DType::kF32:
      return &Kernel<float>::Run;
    case DType::kBF16:
      return &Kernel<__nv_bfloat16>::Run;
    default:
      CGRUN_CHECK(false) << "no CUDA kernel for " << Name(dtype);
      return nullptr;
  }
}

}  // namespace cgrun::cuda

#endif  // CGRUN_KERNELS_CUDA_NUMBER_CUH_
