// Choosing an instance for f32 or f64, the types that OpenBLAS and our own loops work in.
#ifndef CGRUN_KERNELS_CPU_NUMBER_H_
#define CGRUN_KERNELS_CPU_NUMBER_H_

#include <algorithm>

#include "src/base/check.h"
#include "src/kernels/kernel.h"

namespace cgrun::cpu {

// Returns whether all operands are of the type of the first input.
inline bool AllOfOneType(const NodeSignature& node) {
  const DType dtype = node.inputs[0].dtype;
  const auto same = [dtype](const TensorType& type) { return type.dtype == dtype; };
  return std::all_of(node.inputs.begin(), node.inputs.end(), same) &&
         std::all_of(node.outputs.begin(), node.outputs.end(), same);
}

// `supports`: all operands are of one type, f32 or f64.
inline bool AllF32OrF64(const NodeSignature& node) {
  const DType dtype = node.inputs[0].dtype;
  return (dtype == DType::kF32 || dtype == DType::kF64) && AllOfOneType(node);
}

// Kernel<T>::Run. Static: see kernels/reference/number.h.
template <template <class> class Kernel>
static KernelFunction ForF32OrF64(DType dtype) {
  CGRUN_CHECK(dtype == DType::kF32 || dtype == DType::kF64) << "no kernel for " << Name(dtype);
  return dtype == DType::kF32 ? Kernel<float>::Run : Kernel<double>::Run;
}

// `supports`: all operands are of one floating-point type that our own kernels compute in.
inline bool AllFloat(const NodeSignature& node) {
  const DType dtype = node.inputs[0].dtype;
  return (dtype == DType::kF32 || dtype == DType::kF64 || dtype == DType::kBF16) &&
         AllOfOneType(node);
}

// `supports`: all operands are f32, or all bf16.
inline bool AllF32OrBF16(const NodeSignature& node) {
  return AllFloat(node) && node.inputs[0].dtype != DType::kF64;
}

// `supports`: all operands are f32.
inline bool AllF32(const NodeSignature& node) {
  return node.inputs[0].dtype == DType::kF32 && AllOfOneType(node);
}

// `supports`: no operand is empty.
inline bool NoneIsEmpty(const NodeSignature& node) {
  const auto holds = [](const TensorType& type) { return type.shape.Elements() > 0; };
  return std::all_of(node.inputs.begin(), node.inputs.end(), holds) &&
         std::all_of(node.outputs.begin(), node.outputs.end(), holds);
}

// choose(T*) for the floating-point type `dtype`.
template <class Choose>
static KernelFunction ForFloat(DType dtype, const Choose& choose) {
  switch (dtype) {
    case DType::kF64:
      return choose(static_cast<double*>(nullptr));
    case DType::kF32:
      return choose(static_cast<float*>(nullptr));
    case DType::kBF16:
      return choose(static_cast<BFloat16*>(nullptr));
    default:
      CGRUN_CHECK(false) << "no kernel for " << Name(dtype);
      return nullptr;
  }
}

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_NUMBER_H_
