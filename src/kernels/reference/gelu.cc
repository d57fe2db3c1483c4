// Computes gelu and its gradient, exactly and by tanh.
#include "src/ops/gelu.h"

#include "src/kernels/formulas.h"
#include "src/kernels/reference/elementwise.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

bool IsExact(const KernelRequest& request) {
  return request.node.attributes.As<GeluAttributes>().approximate == "none";
}

PreparedKernel PrepareGelu(const KernelRequest& request) {
  return IsExact(request) ? Unary<formulas::Gelu<formulas::ExactGelu>>::Prepare(request)
                          : Unary<formulas::Gelu<formulas::GeluByTanh>>::Prepare(request);
}

PreparedKernel PrepareGeluGrad(const KernelRequest& request) {
  return IsExact(request) ? Binary<formulas::GeluGrad<formulas::ExactGelu>>::Prepare(request)
                          : Binary<formulas::GeluGrad<formulas::GeluByTanh>>::Prepare(request);
}

}  // namespace

KernelDef gelu() {
  return {.name = "reference.gelu", .supports = AllFloat, .prepare = PrepareGelu};
}
KernelDef gelu_grad() {
  return {.name = "reference.gelu_grad", .supports = AllFloat, .prepare = PrepareGeluGrad};
}

}  // namespace cgrun::reference
