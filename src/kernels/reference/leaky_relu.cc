// Computes leaky_relu and its gradient.
#include "src/ops/leaky_relu.h"

#include "src/kernels/formulas.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"

namespace cgrun::reference {
namespace {

struct LeakyReluParameters {
  int64_t elements;
  double slope;
};

template <class T>
struct LeakyRelu {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const LeakyReluParameters*>(i.parameters);
    const T* x = Data<const T>(context, i, 0);
    T* y = Data<T>(context, i, 1);
    const formulas::LeakyRelu<Compute<T>> formula{static_cast<Compute<T>>(p.slope)};
    for (int64_t e = 0; e < p.elements; ++e) y[e] = Store<T>(formula(Load(x[e])));
  }
};

template <class T>
struct LeakyReluGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const LeakyReluParameters*>(i.parameters);
    const T* t = Data<const T>(context, i, 0);
    const T* dy = Data<const T>(context, i, 1);
    T* dx = Data<T>(context, i, 2);
    const formulas::LeakyReluGrad<Compute<T>> formula{static_cast<Compute<T>>(p.slope)};
    for (int64_t e = 0; e < p.elements; ++e) dx[e] = Store<T>(formula(Load(t[e]), Load(dy[e])));
  }
};

template <template <class> class Kernel>
PreparedKernel PrepareLeakyRelu(const KernelRequest& request) {
  const TensorType& type = request.node.outputs[0];
  const double slope = request.node.attributes.As<LeakyReluAttributes>().slope;
  return PreparedKernel::Of(ForFloat<Kernel>(type.dtype),
                            LeakyReluParameters{type.shape.Elements(), slope});
}

}  // namespace

KernelDef leaky_relu() {
  return {
      .name = "reference.leaky_relu", .supports = AllFloat, .prepare = PrepareLeakyRelu<LeakyRelu>};
}

KernelDef leaky_relu_grad() {
  return {.name = "reference.leaky_relu_grad",
          .supports = AllFloat,
          .prepare = PrepareLeakyRelu<LeakyReluGrad>};
}

}  // namespace cgrun::reference
