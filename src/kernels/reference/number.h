// src/kernels/number.h with the host's bf16.
#ifndef CGRUN_KERNELS_REFERENCE_NUMBER_H_
#define CGRUN_KERNELS_REFERENCE_NUMBER_H_

#include "src/kernels/number.h"

namespace cgrun::reference {

using kernels::AllFloat;
using kernels::AllNumbers;
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
  return kernels::ForFloatType<Kernel, BFloat16>(dtype);
}
template <template <class> class Kernel>
static KernelFunction ForNumber(DType dtype) {
  return kernels::ForNumberType<Kernel, BFloat16>(dtype);
}
template <class F>
static auto ForEach(DType dtype, F f) {
  return ForType<BFloat16>(dtype, f);
}
template <template <class, class> class Kernel>
static KernelFunction ForPredictionAndTarget(const NodeSignature& node) {
  return kernels::ForPredictionAndTargetTypes<Kernel, BFloat16>(node);
}
template <template <class, class> class Kernel>
static KernelFunction ForLogitsAndLabels(const NodeSignature& node) {
  return kernels::ForLogitsAndLabelTypes<Kernel, BFloat16>(node);
}

}  // namespace cgrun::reference

#endif  // CGRUN_KERNELS_REFERENCE_NUMBER_H_
