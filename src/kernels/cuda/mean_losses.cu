// Computes squared_error, absolute_error, hinge, huber, smooth_l1 and their gradients, in f64.
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/mean_loss.cuh"
#include "src/kernels/loss_formulas.h"
#include "src/ops/loss.h"

namespace cgrun::cuda {

struct ScaledHuber {
  formulas::Huber huber;
  double scale = 1;

  template <class Target>
  __device__ double Loss(double prediction, double target) const {
    return scale * huber.Loss<Target>(prediction, target);
  }
  template <class Target>
  __device__ double Slope(double prediction, double target) const {
    return scale * huber.Slope<Target>(prediction, target);
  }
};

static PreparedKernel PrepareHuber(const KernelRequest& request) {
  const double delta = request.node.attributes.As<HuberAttributes>().delta;
  return MeanLoss<ScaledHuber>::PrepareLossOf(request, {{delta}, 1});
}

static PreparedKernel PrepareSmoothL1(const KernelRequest& request) {
  const double beta = request.node.attributes.As<SmoothL1Attributes>().beta;
  return MeanLoss<ScaledHuber>::PrepareLossOf(request, {{beta}, 1 / beta});
}

static PreparedKernel PrepareHuberGrad(const KernelRequest& request) {
  const auto& attributes = request.node.attributes.As<HuberGradAttributes>();
  return MeanLoss<ScaledHuber>::PrepareGradOf(request, {{attributes.delta}, attributes.scale});
}

KernelDef squared_error() {
  return MeanLoss<formulas::SquaredError>::DefineLoss("cuda.squared_error");
}
KernelDef squared_error_grad() {
  return MeanLoss<formulas::SquaredError>::DefineGrad("cuda.squared_error_grad");
}
KernelDef absolute_error() {
  return MeanLoss<formulas::AbsoluteError>::DefineLoss("cuda.absolute_error");
}
KernelDef absolute_error_grad() {
  return MeanLoss<formulas::AbsoluteError>::DefineGrad("cuda.absolute_error_grad");
}
KernelDef hinge() { return MeanLoss<formulas::Hinge>::DefineLoss("cuda.hinge"); }
KernelDef hinge_grad() { return MeanLoss<formulas::Hinge>::DefineGrad("cuda.hinge_grad"); }
KernelDef huber() {
  return {.name = "cuda.huber", .supports = FirstInputIsFloat, .prepare = PrepareHuber};
}
KernelDef smooth_l1() {
  return {.name = "cuda.smooth_l1", .supports = FirstInputIsFloat, .prepare = PrepareSmoothL1};
}
KernelDef huber_grad() {
  return {.name = "cuda.huber_grad", .supports = FirstInputIsFloat, .prepare = PrepareHuberGrad};
}

}  // namespace cgrun::cuda
