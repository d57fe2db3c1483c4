// squared_error, absolute_error, hinge, huber, smooth_l1 and their gradients, in f64.
#include <cmath>

#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/mean_loss.cuh"
#include "src/ops/loss.h"

namespace cgrun::cuda {

struct SquaredErrorFormula {
  template <class Target>
  __device__ double Loss(double prediction, double target) const {
    const double difference = prediction - target;
    return difference * difference;
  }
  template <class Target>
  __device__ double Slope(double prediction, double target) const {
    return 2 * (prediction - target);
  }
};

struct AbsoluteErrorFormula {
  template <class Target>
  __device__ double Loss(double prediction, double target) const {
    return std::abs(prediction - target);
  }
  template <class Target>
  __device__ double Slope(double prediction, double target) const {
    const double difference = prediction - target;
    if (std::isnan(difference)) return difference;
    return (difference > 0) - (difference < 0);
  }
};

struct HingeFormula {
  // 1 or −1; a NaN stays one.
  static __device__ double Side(double target) {
    if (std::isnan(target)) return target;
    return target > 0 ? 1 : -1;
  }
  template <class Target>
  __device__ double Loss(double score, double target) const {
    const double missing = 1 - Side(target) * score;
    return missing <= 0 ? 0 : missing;
  }
  template <class Target>
  __device__ double Slope(double score, double target) const {
    const double side = Side(target), product = side * score;
    if (std::isnan(product)) return product;
    return product < 1 ? -side : 0;
  }
};

struct HuberFormula {
  double delta = 1;
  double scale = 1;

  // A NaN is not more than delta.
  template <class Target>
  __device__ double Loss(double prediction, double target) const {
    const double difference = prediction - target, size = std::abs(difference);
    return scale * (size > delta ? delta * (size - delta / 2) : difference * difference / 2);
  }
  template <class Target>
  __device__ double Slope(double prediction, double target) const {
    const double difference = prediction - target;
    if (std::isnan(difference)) return difference;
    return scale * (difference < -delta ? -delta : difference > delta ? delta : difference);
  }
};

static PreparedKernel PrepareHuber(const KernelRequest& request) {
  const double delta = request.node.attributes.As<HuberAttributes>().delta;
  return MeanLoss<HuberFormula>::PrepareLossOf(request, {delta, 1});
}

static PreparedKernel PrepareSmoothL1(const KernelRequest& request) {
  const double beta = request.node.attributes.As<SmoothL1Attributes>().beta;
  return MeanLoss<HuberFormula>::PrepareLossOf(request, {beta, 1 / beta});
}

static PreparedKernel PrepareHuberGrad(const KernelRequest& request) {
  const auto& attributes = request.node.attributes.As<HuberGradAttributes>();
  return MeanLoss<HuberFormula>::PrepareGradOf(request, {attributes.delta, attributes.scale});
}

KernelDef squared_error() {
  return MeanLoss<SquaredErrorFormula>::DefineLoss("cuda.squared_error");
}
KernelDef squared_error_grad() {
  return MeanLoss<SquaredErrorFormula>::DefineGrad("cuda.squared_error_grad");
}
KernelDef absolute_error() {
  return MeanLoss<AbsoluteErrorFormula>::DefineLoss("cuda.absolute_error");
}
KernelDef absolute_error_grad() {
  return MeanLoss<AbsoluteErrorFormula>::DefineGrad("cuda.absolute_error_grad");
}
KernelDef hinge() { return MeanLoss<HingeFormula>::DefineLoss("cuda.hinge"); }
KernelDef hinge_grad() { return MeanLoss<HingeFormula>::DefineGrad("cuda.hinge_grad"); }
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
