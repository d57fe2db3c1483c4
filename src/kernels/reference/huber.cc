// Computes huber, smooth_l1 and their gradient, in f64.
#include "src/kernels/loss_formulas.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/losses.h"
#include "src/ops/loss.h"

namespace cgrun::reference {
namespace {

struct HuberParameters {
  int64_t elements = 0;
  formulas::Huber formula;
  double scale = 1;
};

template <class T>
struct HuberLoss {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const HuberParameters*>(i.parameters);
    const T* prediction = Data<const T>(context, i, 0);
    const T* target = Data<const T>(context, i, 1);
    double sum = 0;
    for (int64_t e = 0; e < p.elements; ++e) {
      sum += p.formula.Loss<T>(LoadF64(prediction[e]), LoadF64(target[e]));
    }
    *Data<LossOf<T>>(context, i, 2) =
        static_cast<LossOf<T>>(sum * p.scale / static_cast<double>(p.elements));
  }
};

template <class T>
struct HuberGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const HuberParameters*>(i.parameters);
    const T* prediction = Data<const T>(context, i, 0);
    const T* target = Data<const T>(context, i, 1);
    const double factor = static_cast<double>(*Data<const LossOf<T>>(context, i, 2)) * p.scale /
                          static_cast<double>(p.elements);
    T* dx = Data<T>(context, i, 3);
    for (int64_t e = 0; e < p.elements; ++e) {
      dx[e] = StoreF64<T>(p.formula.Slope<T>(LoadF64(prediction[e]), LoadF64(target[e])) * factor);
    }
  }
};

template <template <class> class Kernel>
static PreparedKernel PrepareHuber(const KernelRequest& request, double delta, double scale) {
  const TensorType& x = request.node.inputs[0];
  return PreparedKernel::Of(ForFloat<Kernel>(x.dtype),
                            HuberParameters{x.shape.Elements(), {delta}, scale});
}

PreparedKernel PrepareHuber(const KernelRequest& request) {
  return PrepareHuber<HuberLoss>(request, request.node.attributes.As<HuberAttributes>().delta, 1);
}

PreparedKernel PrepareSmoothL1(const KernelRequest& request) {
  const double beta = request.node.attributes.As<SmoothL1Attributes>().beta;
  return PrepareHuber<HuberLoss>(request, beta, 1 / beta);
}

PreparedKernel PrepareHuberGrad(const KernelRequest& request) {
  const auto& attributes = request.node.attributes.As<HuberGradAttributes>();
  return PrepareHuber<HuberGrad>(request, attributes.delta, attributes.scale);
}

}  // namespace

KernelDef huber() {
  return {.name = "reference.huber", .supports = FirstInputIsFloat, .prepare = PrepareHuber};
}
KernelDef smooth_l1() {
  return {.name = "reference.smooth_l1", .supports = FirstInputIsFloat, .prepare = PrepareSmoothL1};
}
KernelDef huber_grad() {
  return {
      .name = "reference.huber_grad", .supports = FirstInputIsFloat, .prepare = PrepareHuberGrad};
}

}  // namespace cgrun::reference
