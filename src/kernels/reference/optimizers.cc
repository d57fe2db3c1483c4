// sgd, adam and adamw, element by element, in the parameter's type; what depends on the step alone
// in f64. Each element is read before it is written.
#include "src/kernels/reference/optimizers.h"

#include <cmath>

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"
#include "src/ops/optimizer.h"

namespace cgrun::reference {
namespace {

struct SgdParameters {
  int64_t elements = 0;
  Regularization regularization;
  double learning_rate_scale = 1;
  double momentum = 0;
  bool nesterov = false;
};

template <class T>
struct Sgd {
  using C = Compute<T>;

  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const SgdParameters*>(i.parameters);
    const T* parameter = Data<const T>(context, i, 0);
    const T* gradient = Data<const T>(context, i, 1);
    const auto rate = static_cast<C>(*Data<const double>(context, i, 2) * p.learning_rate_scale);
    T* next = Data<T>(context, i, 3);
    for (int64_t e = 0; e < p.elements; ++e) {
      const C w = Load(parameter[e]);
      next[e] = Store<T>(w - rate * p.regularization.Add(Load(gradient[e]), w));
    }
  }
};

template <class T>
struct SgdWithMomentum {
  using C = Compute<T>;

  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const SgdParameters*>(i.parameters);
    const T* parameter = Data<const T>(context, i, 0);
    const T* gradient = Data<const T>(context, i, 1);
    const auto rate = static_cast<C>(*Data<const double>(context, i, 2) * p.learning_rate_scale);
    const auto momentum = static_cast<C>(p.momentum);
    const T* velocity = Data<const T>(context, i, 3);
    T* next = Data<T>(context, i, 4);
    T* next_velocity = Data<T>(context, i, 5);
    for (int64_t e = 0; e < p.elements; ++e) {
      const C w = Load(parameter[e]);
      const C g = p.regularization.Add(Load(gradient[e]), w);
      const C v = momentum * Load(velocity[e]) + g;
      next_velocity[e] = Store<T>(v);
      next[e] = Store<T>(w - rate * (p.nesterov ? g + momentum * v : v));
    }
  }
};

PreparedKernel PrepareSgd(const KernelRequest& request) {
  const TensorType& type = request.node.inputs[0];
  const auto& a = request.node.attributes.As<SgdAttributes>();
  const SgdParameters p{type.shape.Elements(),
                        {a.l1, a.weight_decay + a.l2},
                        a.learning_rate_scale,
                        a.momentum,
                        a.nesterov};
  return PreparedKernel::Of(
      a.momentum == 0 ? ForFloat<Sgd>(type.dtype) : ForFloat<SgdWithMomentum>(type.dtype), p);
}

struct AdamParameters {
  int64_t elements = 0;
  Regularization regularization;
  double learning_rate_scale = 1;
  double beta1 = 0;
  double beta2 = 0;
  double epsilon = 0;
  double decoupled_decay = 0;  // adamw's weight decay
};

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
    const double t = static_cast<double>(*Data<const int64_t>(context, i, 5) + 1);
    const double plain_rate = *Data<const double>(context, i, 2) * p.learning_rate_scale;
    const auto rate = static_cast<C>(plain_rate / (1 - std::pow(p.beta1, t)));
    const auto kept = static_cast<C>(1 - plain_rate * p.decoupled_decay);
    const auto correction = static_cast<C>(1 / std::sqrt(1 - std::pow(p.beta2, t)));
    const auto beta1 = static_cast<C>(p.beta1), beta2 = static_cast<C>(p.beta2);
    const auto new1 = static_cast<C>(1 - p.beta1), new2 = static_cast<C>(1 - p.beta2);
    const auto epsilon = static_cast<C>(p.epsilon);
    for (int64_t e = 0; e < p.elements; ++e) {
      const C w = Load(parameter[e]);
      const C g = p.regularization.Add(Load(gradient[e]), w);
      const C m = beta1 * Load(first[e]) + new1 * g;
      const C v = beta2 * Load(second[e]) + new2 * g * g;
      next_first[e] = Store<T>(m);
      next_second[e] = Store<T>(v);
      next[e] = Store<T>(w * kept - rate * m / (std::sqrt(v) * correction + epsilon));
    }
  }
};

PreparedKernel PrepareAdam(const KernelRequest& request) {
  const TensorType& type = request.node.inputs[0];
  const auto& a = request.node.attributes.As<AdamAttributes>();
  return PreparedKernel::Of(ForFloat<Adam>(type.dtype),
                            AdamParameters{type.shape.Elements(),
                                           {a.l1, a.weight_decay + a.l2},
                                           a.learning_rate_scale,
                                           a.beta1,
                                           a.beta2,
                                           a.epsilon,
                                           0});
}

PreparedKernel PrepareAdamw(const KernelRequest& request) {
  const TensorType& type = request.node.inputs[0];
  const auto& a = request.node.attributes.As<AdamwAttributes>();
  return PreparedKernel::Of(ForFloat<Adam>(type.dtype), AdamParameters{type.shape.Elements(),
                                                                       {a.l1, a.l2},
                                                                       a.learning_rate_scale,
                                                                       a.beta1,
                                                                       a.beta2,
                                                                       a.epsilon,
                                                                       a.weight_decay});
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
