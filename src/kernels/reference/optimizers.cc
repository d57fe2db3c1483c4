// Computes sgd, adam and adamw, element by element, in the parameter's type. Each element is read
// before it is written.
#include "src/kernels/optimizers.h"

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"

namespace cgrun::reference {
namespace {

using kernels::AdamParameters, kernels::SgdParameters;

template <class T>
struct Sgd {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const SgdParameters*>(i.parameters);
    const T* parameter = Data<const T>(context, i, 0);
    const T* gradient = Data<const T>(context, i, 1);
    const kernels::SgdRule<Compute<T>> rule(p, *Data<const double>(context, i, 2));
    T* next = Data<T>(context, i, 3);
    for (int64_t e = 0; e < p.elements; ++e) {
      next[e] = Store<T>(rule.Next(Load(parameter[e]), Load(gradient[e])));
    }
  }
};

template <class T>
struct SgdWithMomentum {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const SgdParameters*>(i.parameters);
    const T* parameter = Data<const T>(context, i, 0);
    const T* gradient = Data<const T>(context, i, 1);
    const kernels::SgdRule<Compute<T>> rule(p, *Data<const double>(context, i, 2));
    const T* velocity = Data<const T>(context, i, 3);
    T* next = Data<T>(context, i, 4);
    T* next_velocity = Data<T>(context, i, 5);
    for (int64_t e = 0; e < p.elements; ++e) {
      Compute<T> v = Load(velocity[e]);
      next[e] = Store<T>(rule.Next(Load(parameter[e]), Load(gradient[e]), v));
      next_velocity[e] = Store<T>(v);
    }
  }
};

PreparedKernel PrepareSgd(const KernelRequest& request) {
  const DType dtype = request.node.inputs[0].dtype;
  const SgdParameters p(request);
  return PreparedKernel::Of(
      p.momentum == 0 ? ForFloat<Sgd>(dtype) : ForFloat<SgdWithMomentum>(dtype), p);
}

template <class T>
struct Adam {
  using C = Compute<T>;

  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const AdamParameters*>(i.parameters);
    const T* parameter = Data<const T>(context, i, 0);
    const T* gradient = Data<const T>(context, i, 1);
    const T* first = Data<const T>(context, i, 3);
    const T* second = Data<const T>(context, i, 4);
    T* next = Data<T>(context, i, 6);
    T* next_first = Data<T>(context, i, 7);
    T* next_second = Data<T>(context, i, 8);
    const kernels::AdamFactors factors(p, *Data<const double>(context, i, 2),
                                       *Data<const int64_t>(context, i, 5));
    const auto rate = static_cast<C>(factors.rate), kept = static_cast<C>(factors.kept);
    const auto correction = static_cast<C>(1 / factors.correction);
    const kernels::AdamRule<C> rule(p);
    for (int64_t e = 0; e < p.elements; ++e) {
      const C w = Load(parameter[e]);
      C m = Load(first[e]), v = Load(second[e]);
      rule.ChangeMoments(w, Load(gradient[e]), m, v);
      next_first[e] = Store<T>(m);
      next_second[e] = Store<T>(v);
      next[e] = Store<T>(rule.Next(w, m, std::sqrt(v) * correction, rate, kept));
    }
  }
};

PreparedKernel PrepareAdam(const KernelRequest& request) {
  return PreparedKernel::Of(ForFloat<Adam>(request.node.inputs[0].dtype),
                            AdamParameters::OfAdam(request));
}

PreparedKernel PrepareAdamw(const KernelRequest& request) {
  return PreparedKernel::Of(ForFloat<Adam>(request.node.inputs[0].dtype),
                            AdamParameters::OfAdamw(request));
}

}  // namespace

KernelDef sgd() {
  return {.name = "reference.sgd", .supports = FirstInputIsFloat, .prepare = PrepareSgd};
}
KernelDef adam() {
  return {.name = "reference.adam", .supports = FirstInputIsFloat, .prepare = PrepareAdam};
}
KernelDef adamw() {
  return {.name = "reference.adamw", .supports = FirstInputIsFloat, .prepare = PrepareAdamw};
}

}  // namespace cgrun::reference
