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

// By way of f64, for kernels that compute in it whatever the type.
template <class T>
__device__ double LoadF64(T value) {
  return static_cast<double>(Load(value));
}
template <class T>
__device__ T StoreF64(double value) {
  return Store<T>(static_cast<Compute<T>>(value));
}

template <class T>
inline constexpr bool kIsFloat = std::is_floating_point_v<T> || std::is_same_v<T, __nv_bfloat16>;

// A loss is kept in no less than f32.
template <class T>
using LossOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

inline bool IsCudaFloat(DType dtype) {
  return dtype == DType::kF64 || dtype == DType::kF32 || dtype == DType::kBF16;
}

// `supports` of kernels that run in the type of their first input, or of their first output.
inline bool FirstInputIsFloat(const NodeSignature& node) {
  return IsCudaFloat(node.inputs[0].dtype);
}
inline bool FirstOutputIsFloat(const NodeSignature& node) {
  return IsCudaFloat(node.outputs[0].dtype);
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
// src/kernels/reference/number.h gives.
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

// f(T*) for the element type `dtype`, whichever it is but f16.
template <class F>
static auto ForEach(DType dtype, F f) {
  switch (dtype) {
    case DType::kF64:
      return f(static_cast<double*>(nullptr));
    case DType::kF32:
      return f(static_cast<float*>(nullptr));
    case DType::kBF16:
      return f(static_cast<__nv_bfloat16*>(nullptr));
    case DType::kI64:
      return f(static_cast<int64_t*>(nullptr));
    case DType::kI32:
      return f(static_cast<int32_t*>(nullptr));
    case DType::kU8:
      return f(static_cast<uint8_t*>(nullptr));
    case DType::kBool:
      return f(static_cast<bool*>(nullptr));
    case DType::kF16:
      break;
  }
  CGRUN_CHECK(false) << "no CUDA kernel for " << Name(dtype);
  return f(static_cast<double*>(nullptr));
}

// Kernel<T>::Run for an unsigned type of `bytes` bytes: kernels that move elements as they are.
template <template <class> class Kernel>
static KernelFunction ForBytes(int64_t bytes) {
  switch (bytes) {
    case 1:
      return &Kernel<uint8_t>::Run;
    case 2:
      return &Kernel<uint16_t>::Run;
    case 4:
      return &Kernel<uint32_t>::Run;
    case 8:
      return &Kernel<uint64_t>::Run;
    default:
      CGRUN_CHECK(false) << "elements of " << bytes << " bytes";
      return nullptr;
  }
}

// Kernel<T, Target>::Run; input 0 has the floating-point type T, input 1 the type Target, which is
// T, bool or an integer type.
template <template <class, class> class Kernel>
static KernelFunction ForPredictionAndTarget(const NodeSignature& node) {
  return ForEach(node.inputs[0].dtype, [&]<class T>(T*) {
    return ForEach(node.inputs[1].dtype, []<class Target>(Target*) -> KernelFunction {
      constexpr bool kTarget = std::is_same_v<Target, T> || !kIsFloat<Target>;
      if constexpr (kIsFloat<T> && kTarget) return &Kernel<T, Target>::Run;
      CGRUN_CHECK(false) << "no prediction or no target";
      return nullptr;
    });
  });
}

// Kernel<T, Label>::Run; input 0 has the floating-point type T, input 1 the integer type Label.
template <template <class, class> class Kernel>
static KernelFunction ForLogitsAndLabels(const NodeSignature& node) {
  return ForEach(node.inputs[0].dtype, [&]<class T>(T*) {
    return ForEach(node.inputs[1].dtype, []<class Label>(Label*) -> KernelFunction {
      constexpr bool kIndex = std::is_integral_v<Label> && !std::is_same_v<Label, bool>;
      if constexpr (kIsFloat<T> && kIndex) return &Kernel<T, Label>::Run;
      CGRUN_CHECK(false) << "no logits or no labels";
      return nullptr;
    });
  });
}

}  // namespace cgrun::cuda

#endif  // CGRUN_KERNELS_CUDA_NUMBER_CUH_
