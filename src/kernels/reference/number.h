// Choosing a kernel's instance by number type, once, before it runs. Numbers of less than 32 bits
// are computed in f32 and rounded on store.
//
// The functions that take a kernel are static: g++ 12 gives an instance of a template external
// linkage even if its argument is a template of an unnamed namespace, so that the kernels of two
// files that have one name, `Grad` say, would become one.
#ifndef CGRUN_KERNELS_REFERENCE_NUMBER_H_
#define CGRUN_KERNELS_REFERENCE_NUMBER_H_

#include <type_traits>

#include "src/base/check.h"
#include "src/base/dtype.h"
#include "src/kernels/kernel.h"

namespace cgrun::reference {

// The type in which T is computed.
template <class T>
using Compute = std::conditional_t<std::is_same_v<T, BFloat16>, float, T>;

template <class T>
Compute<T> Load(T value) {
  return static_cast<Compute<T>>(value);
}
template <class T>
T Store(Compute<T> value) {
  return static_cast<T>(value);
}

// By way of f64, for kernels that compute in it whatever the type.
template <class T>
double LoadF64(T value) {
  return static_cast<double>(Load(value));
}
template <class T>
T StoreF64(double value) {
  return Store<T>(static_cast<Compute<T>>(value));
}

template <class T>
inline constexpr bool kIsFloat = std::is_floating_point_v<T> || std::is_same_v<T, BFloat16>;

inline bool IsReferenceFloat(DType dtype) {
  return dtype == DType::kF64 || dtype == DType::kF32 || dtype == DType::kBF16;
}

// `supports` of kernels that run in the type of their first input.
inline bool FirstInputIsFloat(const NodeSignature& node) {
  return IsReferenceFloat(node.inputs[0].dtype);
}

// `supports` of kernels whose operands are all of one floating-point type.
inline bool AllFloat(const NodeSignature& node) {
  for (const TensorType& type : node.inputs) {
    if (!IsReferenceFloat(type.dtype) || type.dtype != node.inputs[0].dtype) return false;
  }
  for (const TensorType& type : node.outputs) {
    if (type.dtype != node.inputs[0].dtype) return false;
  }
  return true;
}

// Kernel<T>::Run for the floating-point type `dtype`. Static, like every function whose parameter
// is a class template: g++ 12 makes one function of all those for templates of one name, though
// they are from unnamed namespaces of different files.
template <template <class> class Kernel>
static KernelFunction ForFloat(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return &Kernel<double>::Run;
    case DType::kF32:
      return &Kernel<float>::Run;
    case DType::kBF16:
      return &Kernel<BFloat16>::Run;
    default:
      CGRUN_CHECK(false) << "no reference kernel for " << Name(dtype);
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
      return f(static_cast<BFloat16*>(nullptr));
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
  CGRUN_CHECK(false) << "no reference kernel for " << Name(dtype);
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

}  // namespace cgrun::reference

#endif  // CGRUN_KERNELS_REFERENCE_NUMBER_H_
