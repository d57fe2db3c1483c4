// adagrad, element by element, in the parameter's type. Each element is read before it is written.
#include <cmath>

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"
#include "src/kernels/reference/optimizers.h"
#include "src/ops/optimizer.h"

namespace cgrun::reference {
namespace {

struct Parameters {
  int64_t elements = 0;
  Regularization regularization;
  double learning_rate_scale = 1;
  double lr_decay = 0;
  double epsilon = 0;
};

template <class T>
struct Adagrad {
  using C = Compute<T>;

  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const Parameters*>(i.parameters);
    const T* parameter = Data<const T>(context, i, 0);
    const T* gradient = Data<const T>(context, i, 1);
    const T* sum = Data<const T>(context, i, 3);
    T* next = Data<T>(context, i, 5);
    T* next_sum = Data<T>(context, i, 6);
    const auto steps = static_cast<double>(*Data<const int64_t>(context, i, 4));
    const auto rate = static_cast<C>(*Data<const double>(context, i, 2) * p.learning_rate_scale /
                                     (1 + steps * p.lr_decay));
    const auto epsilon = static_cast<C>(p.epsilon);
    for (int64_t e = 0; e < p.elements; ++e) {
      const C w = Load(parameter[e]);
      const C g = p.regularization.Add(Load(gradient[e]), w);
      const C s = Load(sum[e]) + g * g;
      next_sum[e] = Store<T>(s);
      next[e] = Store<T>(w - rate * g / (std::sqrt(s) + epsilon));
    }
  }
};

PreparedKernel Prepare(const KernelRequest& request) {
  const TensorType& type = request.node.inputs[0];
  const auto& a = request.node.attributes.As<AdagradAttributes>();
  return PreparedKernel::Of(ForFloat<Adagrad>(type.dtype), Parameters{type.shape.Elements(),
                                                                      {a.l1, a.weight_decay + a.l2},
                                                                      a.learning_rate_scale,
                                                                      a.lr_decay,
                                                                      a.epsilon});
}

}  // namespace

KernelDef adagrad() {
  return {.name = "reference.adagrad", .supports = FirstInputIsFloat, .prepare = Prepare};
}

}  // namespace cgrun::reference
