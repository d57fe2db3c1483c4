// Computes adagrad, element by element, in the parameter's type. Each element is read before it is
// written.
#include "src/kernels/optimizers.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"

namespace cgrun::reference {
namespace {

using kernels::AdagradParameters;

template <class T>
struct Adagrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const AdagradParameters*>(i.parameters);
    const T* parameter = Data<const T>(context, i, 0);
    const T* gradient = Data<const T>(context, i, 1);
    const T* sum = Data<const T>(context, i, 3);
    T* next = Data<T>(context, i, 5);
    T* next_sum = Data<T>(context, i, 6);
    const kernels::AdagradRule<Compute<T>> rule(p, *Data<const double>(context, i, 2),
                                                *Data<const int64_t>(context, i, 4));
    for (int64_t e = 0; e < p.elements; ++e) {
      Compute<T> s = Load(sum[e]);
      next[e] = Store<T>(rule.Next(Load(parameter[e]), Load(gradient[e]), s));
      next_sum[e] = Store<T>(s);
    }
  }
};

PreparedKernel PrepareAdagrad(const KernelRequest& request) {
  return PreparedKernel::Of(ForFloat<Adagrad>(request.node.inputs[0].dtype),
                            AdagradParameters(request));
}

}  // namespace

KernelDef adagrad() {
  return {.name = "reference.adagrad", .supports = FirstInputIsFloat, .prepare = PrepareAdagrad};
}

}  // namespace cgrun::reference
