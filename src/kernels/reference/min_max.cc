// Computes min, max and their gradient.
#include "src/kernels/formulas.h"
#include "src/kernels/reference/broadcasting.h"
#include "src/kernels/reference/integers.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {

KernelDef min() {
  return Broadcasting<Numeric<formulas::Min, integers::Min>>::Define("reference.min");
}
KernelDef max() {
  return Broadcasting<Numeric<formulas::Max, integers::Max>>::Define("reference.max");
}
KernelDef max_grad() { return Broadcasting<formulas::MaxGrad, 3>::Define("reference.max_grad"); }

}  // namespace cgrun::reference
