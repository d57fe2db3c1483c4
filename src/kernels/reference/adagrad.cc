// adagrad, element by element, in f64. Each element is read before it is written.
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
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const Parameters*>(i.parameters);
    const T* parameter = Data<const T>(context, i, 0);
    const T* gradient = Data<const T>(context, i, 1);
    const T* sum = Data<const T>(context, i, 3);
    T* next = Data<T>(context, i, 5);
    T* next_sum = Data<T>(context, i, 6);
    const auto steps = static_cast<double>(*Data<const int64_t>(context, i, 4));
    const double rate =
        *Data<const double>(context, i, 2) * p.learning_rate_scale / (1 + steps * p.lr_decay);
    for (int64_t e = 0; e < p.elements; ++e) {
      const double w = LoadF64(parameter[e]);
      const double g = p.regularization.Add(LoadF64(gradient[e]), w);
      const double s = LoadF64(sum[e]) + g * g;
      next_sum[e] = StoreF64<T>(s);
      next[e] = StoreF64<T>(w - rate * g / (std::sqrt(s) + p.epsilon));
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
