// Writes elements into a copy of a tensor. Operators with indices share it.
#ifndef CGRUN_KERNELS_REFERENCE_SCATTER_H_
#define CGRUN_KERNELS_REFERENCE_SCATTER_H_

#include <cstring>

#include "src/kernels/formulas.h"
#include "src/kernels/reference/indices.h"
#include "src/kernels/reference/integers.h"
#include "src/kernels/reference/number.h"

namespace cgrun::reference {

// Joins an element and what is written to it.
template <class T>
T Written(WriteMode mode, T element, T update) {
  const Compute<T> a = Load(element), b = Load(update);
  switch (mode) {
    case WriteMode::kAdd:
      return Store<T>(Numeric<formulas::Add, integers::Add>()(a, b));
    case WriteMode::kMultiply:
      return Store<T>(Numeric<formulas::Mul, integers::Mul>()(a, b));
    case WriteMode::kMin:
      return Store<T>(Numeric<formulas::Min, integers::Min>()(a, b));
    case WriteMode::kMax:
      return Store<T>(Numeric<formulas::Max, integers::Max>()(a, b));
    case WriteMode::kReplace:
      break;
  }
  return update;
}

// Makes operand 3 of operand 0. `bytes` are those of each.
inline void CopyInput(const RunContext& context, const Instruction& i, int64_t bytes) {
  const auto* x = Data<const std::byte>(context, i, 0);
  auto* y = Data<std::byte>(context, i, 3);
  if (x != y) std::memcpy(y, x, static_cast<size_t>(bytes));
}

// `supports` of kernels that write: with a reduction, numbers alone.
inline bool CanWrite(const NodeSignature& node, const std::string& reduction) {
  const DType dtype = node.inputs[0].dtype;
  return reduction == "none" || (!IsStorageType(dtype) && dtype != DType::kBool);
}

// Returns Moved<Bits>::Run, or Joined<T>::Run with a reduction.
template <template <class> class Moved, template <class> class Joined>
static KernelFunction ForWriting(DType dtype, const std::string& reduction) {
  return reduction == "none" ? ForBytes<Moved>(SizeOf(dtype)) : ForNumber<Joined>(dtype);
}

}  // namespace cgrun::reference

#endif  // CGRUN_KERNELS_REFERENCE_SCATTER_H_
