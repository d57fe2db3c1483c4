// Numbers as kernels of the reference device and of CUDA compute with them, and the choice of a
// kernel's instance by number type, once, before it runs. bf16 is computed in f32 and rounded on
// store. `constexpr` functions run on the GPU, too (nvcc's --expt-relaxed-constexpr).
//
// The functions that take a kernel are static: g++ 12 gives an instance of a template external
// linkage even if its argument is a template of an unnamed namespace. The kernels `Grad` of two
// files would become one.
#ifndef CGRUN_KERNELS_NUMBER_H_
#define CGRUN_KERNELS_NUMBER_H_

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "src/base/check.h"
#include "src/base/dtype.h"
#include "src/base/for_type.h"
#include "src/kernels/kernel.h"

namespace cgrun::kernels {

// Each device has a type of its own for bf16, and says so here.
template <class T>
inline constexpr bool kIsBF16 = std::is_same_v<T, BFloat16>;

template <class T>
inline constexpr bool kIsFloat = std::is_floating_point_v<T> || kIsBF16<T>;

// The type in which T is computed.
template <class T>
using Compute = std::conditional_t<kIsBF16<T>, float, T>;

template <class T>
constexpr Compute<T> Load(T value) {
  return static_cast<Compute<T>>(value);
}
template <class T>
constexpr T Store(Compute<T> value) {
  return static_cast<T>(value);
}

// Goes by way of f64, for kernels that compute in it whatever the type.
template <class T>
constexpr double LoadF64(T value) {
  return static_cast<double>(Load(value));
}
template <class T>
constexpr T StoreF64(double value) {
  return Store<T>(static_cast<Compute<T>>(value));
}

// Cuts `value` off to an integer: the nearest bound if it is beyond one, 0 for NaN.
template <class To, class From>
constexpr To ToInteger(From value) {
  constexpr To kLowest = std::numeric_limits<To>::min(), kLargest = std::numeric_limits<To>::max();
  if (std::isnan(value)) return 0;
  if (value <= static_cast<From>(kLowest)) return kLowest;
  if (value >= static_cast<From>(kLargest)) return kLargest;
  return static_cast<To>(value);
}

// Converts a number as the operator `cast` does.
template <class To, class From>
constexpr To Convert(From stored) {
  const Compute<From> value = Load(stored);
  if constexpr (std::is_same_v<To, From>) {
    return stored;
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != 0;
  } else if constexpr (std::is_integral_v<To> && kIsFloat<From>) {
    return ToInteger<To>(value);
  } else {
    return Store<To>(static_cast<Compute<To>>(value));
  }
}

// A loss is kept in no less than f32.
template <class T>
using LossOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

inline bool IsComputed(DType dtype) {
  return dtype == DType::kF64 || dtype == DType::kF32 || dtype == DType::kBF16;
}

// `supports` of kernels that run in the type of their first input, or of their first output.
inline bool FirstInputIsFloat(const NodeSignature& node) {
  return IsComputed(node.inputs[0].dtype);
}
inline bool FirstOutputIsFloat(const NodeSignature& node) {
  return IsComputed(node.outputs[0].dtype);
}

// `supports` of kernels whose operands are all of one floating-point type.
inline bool AllFloat(const NodeSignature& node) {
  for (const TensorType& type : node.inputs) {
    if (!IsComputed(type.dtype) || type.dtype != node.inputs[0].dtype) return false;
  }
  for (const TensorType& type : node.outputs) {
    if (type.dtype != node.inputs[0].dtype) return false;
  }
  return true;
}

// `supports` of kernels whose operands are all of one type, a floating-point or an integer one.
inline bool AllNumbers(const NodeSignature& node) {
  const DType dtype = node.inputs[0].dtype;
  const bool is_integer = dtype == DType::kI64 || dtype == DType::kI32 || dtype == DType::kU8;
  if (!is_integer && !IsComputed(dtype)) return false;
  for (const TensorType& type : node.inputs) {
    if (type.dtype != dtype) return false;
  }
  for (const TensorType& type : node.outputs) {
    if (type.dtype != dtype) return false;
  }
  return true;
}

// Kernel<T>::Run for the floating-point type `dtype`.
template <template <class> class Kernel, class BF16>
static KernelFunction ForFloatType(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return &Kernel<double>::Run;
    case DType::kF32:
      return &Kernel<float>::Run;
    case DType::kBF16:
      return &Kernel<BF16>::Run;
    default:
      CGRUN_CHECK(false) << "no kernel for " << Name(dtype);
      return nullptr;
  }
}

// Kernel<T>::Run for the floating-point or integer type `dtype`.
template <template <class> class Kernel, class BF16>
static KernelFunction ForNumberType(DType dtype) {
  switch (dtype) {
    case DType::kI64:
      return &Kernel<int64_t>::Run;
    case DType::kI32:
      return &Kernel<int32_t>::Run;
    case DType::kU8:
      return &Kernel<uint8_t>::Run;
    default:
      return ForFloatType<Kernel, BF16>(dtype);
  }
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
template <template <class, class> class Kernel, class BF16>
static KernelFunction ForPredictionAndTargetTypes(const NodeSignature& node) {
  return ForType<BF16>(node.inputs[0].dtype, [&]<class T>(T*) {
    return ForType<BF16>(node.inputs[1].dtype, []<class Target>(Target*) -> KernelFunction {
      constexpr bool kTarget = std::is_same_v<Target, T> || !kIsFloat<Target>;
      if constexpr (kIsFloat<T> && kTarget) return &Kernel<T, Target>::Run;
      CGRUN_CHECK(false) << "no prediction or no target";
      return nullptr;
    });
  });
}

// Kernel<T, Label>::Run; input 0 has the floating-point type T, input 1 the integer type Label.
template <template <class, class> class Kernel, class BF16>
static KernelFunction ForLogitsAndLabelTypes(const NodeSignature& node) {
  return ForType<BF16>(node.inputs[0].dtype, [&]<class T>(T*) {
    return ForType<BF16>(node.inputs[1].dtype, []<class Label>(Label*) -> KernelFunction {
      constexpr bool kIndex = std::is_integral_v<Label> && !std::is_same_v<Label, bool>;
      if constexpr (kIsFloat<T> && kIndex) return &Kernel<T, Label>::Run;
      CGRUN_CHECK(false) << "no logits or no labels";
      return nullptr;
    });
  });
}

}  // namespace cgrun::kernels

#endif  // CGRUN_KERNELS_NUMBER_H_
