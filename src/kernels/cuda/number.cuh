// src/kernels/number.h with CUDA's bf16.
#ifndef CGRUN_KERNELS_CUDA_NUMBER_CUH_
#define CGRUN_KERNELS_CUDA_NUMBER_CUH_

#include <cuda_bf16.h>

#include "src/kernels/number.h"

namespace cgrun::kernels {

template <>
inline constexpr bool kIsBF16<__nv_bfloat16> = true;

}  // namespace cgrun::kernels

namespace cgrun::cuda {

using kernels::AllFloat;
using kernels::Compute;
using kernels::Convert;
using kernels::FirstInputIsFloat;
using kernels::FirstOutputIsFloat;
using kernels::ForBytes;
using kernels::IsComputed;
using kernels::kIsFloat;
using kernels::Load;
using kernels::LoadF64;
using kernels::LossOf;
using kernels::Store;
using kernels::StoreF64;

template <template <class> class Kernel>
static KernelFunction ForFloat(DType dtype) {
  return kernels::ForFloatType<Kernel, __nv_bfloat16>(dtype);
}
template <class F>
static auto ForEach(DType dtype, F f) {
  return ForType<__nv_bfloat16>(dtype, f);
}
template <template <class, class> class Kernel>
static KernelFunction ForPredictionAndTarget(const NodeSignature& node) {
  return kernels::ForPredictionAndTargetTypes<Kernel, __nv_bfloat16>(node);
}
template <template <class, class> class Kernel>
static KernelFunction ForLogitsAndLabels(const NodeSignature& node) {
  return kernels::ForLogitsAndLabelTypes<Kernel, __nv_bfloat16>(node);
}

}  // namespace cgrun::cuda

#endif  // CGRUN_KERNELS_CUDA_NUMBER_CUH_
