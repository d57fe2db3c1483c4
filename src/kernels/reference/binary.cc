// Computes add, sub, mul and div. If the shapes are equal, it is one loop. If one operand is
// broadcast, it is a strided walk.
#include "src/kernels/formulas.h"
#include "src/kernels/reference/broadcasting.h"
#include "src/kernels/reference/integers.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {

KernelDef add() {
  return Broadcasting<Numeric<formulas::Add, integers::Add>>::Define("reference.add");
}
KernelDef sub() {
  return Broadcasting<Numeric<formulas::Sub, integers::Sub>>::Define("reference.sub");
}
KernelDef mul() {
  return Broadcasting<Numeric<formulas::Mul, integers::Mul>>::Define("reference.mul");
}
KernelDef div() {
  return Broadcasting<Numeric<formulas::Div, integers::Div>>::Define("reference.div");
}

}  // namespace cgrun::reference
