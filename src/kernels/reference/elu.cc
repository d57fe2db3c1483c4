// Computes elu and its gradient.
#include "src/ops/elu.h"

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"

namespace cgrun::reference {
namespace {

struct EluParameters {
  int64_t elements;
  double alpha;
};

template <class T>
struct Elu {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const EluParameters*>(i.parameters);
    const T* x = Data<const T>(context, i, 0);
    T* y = Data<T>(context, i, 1);
    const auto alpha = static_cast<Compute<T>>(p.alpha);
    for (int64_t e = 0; e < p.elements; ++e) {
      const Compute<T> at = Load(x[e]);
      y[e] = Store<T>(at < 0 ? alpha * std::expm1(at) : at);
    }
  }
};

template <class T>
struct EluGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const EluParameters*>(i.parameters);
    const T* x = Data<const T>(context, i, 0);
    const T* dy = Data<const T>(context, i, 1);
    T* dx = Data<T>(context, i, 2);
    const auto alpha = static_cast<Compute<T>>(p.alpha);
    for (int64_t e = 0; e < p.elements; ++e) {
      const Compute<T> at = Load(x[e]), gradient = Load(dy[e]);
      dx[e] = Store<T>(at > 0 ? gradient : gradient * (alpha * std::exp(at)));
    }
  }
};

template <template <class> class Kernel>
static PreparedKernel PrepareElu(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  return PreparedKernel::Of(
      ForFloat<Kernel>(node.inputs[0].dtype),
      EluParameters{node.outputs[0].shape.Elements(), node.attributes.As<EluAttributes>().alpha});
}

template <template <class> class Kernel>
static KernelDef DefineElu(std::string_view name) {
  return {.name = name, .supports = AllFloat, .prepare = PrepareElu<Kernel>, .elementwise = true};
}

}  // namespace

KernelDef elu() { return DefineElu<Elu>("reference.elu"); }
KernelDef elu_grad() { return DefineElu<EluGrad>("reference.elu_grad"); }

}  // namespace cgrun::reference
