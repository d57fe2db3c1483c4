// sgd, adam and accumulate: one sweep over memory. In f64 and in the order of the reference
// kernels, for the same bits: memory takes longer than that.
#include "src/kernels/cpu/targets.h"
#include "src/ops/optimizer.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/optimizers.cc"
#include <hwy/foreach_target.h>
//
#include <cmath>

#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/map.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

HWY_INLINE V Times(double a, V b) { return hn::Mul(hn::Set(D(), a), b); }

// The gradient with what regularisation adds to it: gradient + l2·w + l1·sign(w).
struct Regularization {
  double l1 = 0;
  double l2 = 0;

  HWY_INLINE V Add(V gradient, V w) const {
    const V zero = hn::Zero(D()), one = hn::Set(D(), 1);
    const V sign =
        hn::Sub(hn::IfThenElseZero(hn::Gt(w, zero), one), hn::IfThenElseZero(hn::Lt(w, zero), one));
    return hn::Add(hn::Add(gradient, Times(l2, w)), Times(l1, sign));
  }
};

template <class Attributes>
Regularization RegularizationOf(const Attributes& a) {
  return {a.l1, a.weight_decay + a.l2};
}

struct SgdParameters {
  int64_t elements = 0;
  Regularization regularization;
  double learning_rate_scale = 1;
  double momentum = 0;
  int threads = 1;
};

template <class T>
void Sgd(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const SgdParameters*>(i.parameters);
  const std::array from = {Data<const T>(context, i, 0), Data<const T>(context, i, 1)};
  const std::array to = {Data<T>(context, i, 3)};
  const double rate = *Data<const double>(context, i, 2) * p.learning_rate_scale;
  Split(p.threads, p.elements, kGrain, [=, &p](int64_t begin, int64_t end) {
    Sweep(D(), from, to, begin, end,
          [rate, regularization = p.regularization](D, const auto& x, auto& y) {
            y[0] = hn::Sub(x[0], Times(rate, regularization.Add(x[1], x[0])));
          });
  });
}

template <class T, bool kNesterov>
void SgdWithMomentum(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const SgdParameters*>(i.parameters);
  const std::array from = {Data<const T>(context, i, 0), Data<const T>(context, i, 1),
                           Data<const T>(context, i, 3)};
  const std::array to = {Data<T>(context, i, 4), Data<T>(context, i, 5)};
  const double rate = *Data<const double>(context, i, 2) * p.learning_rate_scale;
  Split(p.threads, p.elements, kGrain, [=, &p](int64_t begin, int64_t end) {
    Sweep(D(), from, to, begin, end,
          [rate, momentum = p.momentum, regularization = p.regularization](D, const auto& x,
                                                                           auto& y) {
            const V g = regularization.Add(x[1], x[0]);
            const V v = hn::Add(Times(momentum, x[2]), g);
            const V step = kNesterov ? hn::Add(g, Times(momentum, v)) : v;
            y[0] = hn::Sub(x[0], Times(rate, step));
            y[1] = v;
          });
  });
}

template <class T>
KernelFunction ChooseSgd(const SgdAttributes& a) {
  if (a.momentum == 0) return &Sgd<T>;
  return a.nesterov ? &SgdWithMomentum<T, true> : &SgdWithMomentum<T, false>;
}

PreparedKernel PrepareSgd(const KernelRequest& request) {
  const TensorType& type = request.node.inputs[0];
  const auto& a = request.node.attributes.As<SgdAttributes>();
  return PreparedKernel::Of(
      type.dtype == DType::kF32 ? ChooseSgd<float>(a) : ChooseSgd<double>(a),
      SgdParameters{type.shape.Elements(), RegularizationOf(a), a.learning_rate_scale, a.momentum,
                    ThreadsFor(request, Work::kComputes)});
}

struct AdamParameters {
  int64_t elements = 0;
  Regularization regularization;
  double learning_rate_scale = 1;
  double beta1 = 0;
  double beta2 = 0;
  double epsilon = 0;
  int threads = 1;
};

// What an element's update needs at one step.
struct AdamStep {
  Regularization regularization;
  double rate, correction;
  double beta1, beta2, epsilon;

  HWY_INLINE void operator()(D, const V* x, V* y) const {
    const V g = regularization.Add(x[1], x[0]);
    const V m = hn::Add(Times(beta1, x[2]), Times(1 - beta1, g));
    const V v = hn::Add(Times(beta2, x[3]), hn::Mul(Times(1 - beta2, g), g));
    const V deviation = hn::Div(hn::Sqrt(v), hn::Set(D(), correction));
    y[0] = hn::Sub(x[0], hn::Div(Times(rate, m), hn::Add(deviation, hn::Set(D(), epsilon))));
    y[1] = m;
    y[2] = v;
  }
};

template <class T>
void Adam(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const AdamParameters*>(i.parameters);
  const std::array from = {Data<const T>(context, i, 0), Data<const T>(context, i, 1),
                           Data<const T>(context, i, 3), Data<const T>(context, i, 4)};
  const std::array to = {Data<T>(context, i, 6), Data<T>(context, i, 7), Data<T>(context, i, 8)};
  const double t = static_cast<double>(*Data<const int64_t>(context, i, 5) + 1);
  const double rate =
      *Data<const double>(context, i, 2) * p.learning_rate_scale / (1 - std::pow(p.beta1, t));
  const AdamStep step{p.regularization, rate,    std::sqrt(1 - std::pow(p.beta2, t)),
                      p.beta1,          p.beta2, p.epsilon};
  Split(p.threads, p.elements, kGrain,
        [=](int64_t begin, int64_t end) { Sweep(D(), from, to, begin, end, step); });
}

PreparedKernel PrepareAdam(const KernelRequest& request) {
  const TensorType& type = request.node.inputs[0];
  const auto& a = request.node.attributes.As<AdamAttributes>();
  return PreparedKernel::Of(
      type.dtype == DType::kF32 ? &Adam<float> : &Adam<double>,
      AdamParameters{type.shape.Elements(), RegularizationOf(a), a.learning_rate_scale, a.beta1,
                     a.beta2, a.epsilon, ThreadsFor(request, Work::kComputes)});
}

struct AccumulateParameters {
  int64_t elements = 0;
  int threads = 1;
};

template <class T>
void Accumulate(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const AccumulateParameters*>(i.parameters);
  const std::array from = {Data<const T>(context, i, 1), Data<const T>(context, i, 0)};
  const std::array alone = {from[0]};
  const std::array to = {Data<T>(context, i, 3)};
  const double* factors = Data<const double>(context, i, 2);
  const double weight = factors[1];
  if (factors[0] == 0) {
    Split(p.threads, p.elements, kGrain, [=](int64_t begin, int64_t end) {
      Sweep(D(), alone, to, begin, end,
            [weight](D, const auto& x, auto& y) { y[0] = Times(weight, x[0]); });
    });
    return;
  }
  Split(p.threads, p.elements, kGrain, [=](int64_t begin, int64_t end) {
    Sweep(D(), from, to, begin, end,
          [weight](D, const auto& x, auto& y) { y[0] = hn::Add(x[1], Times(weight, x[0])); });
  });
}

PreparedKernel PrepareAccumulate(const KernelRequest& request) {
  const TensorType& type = request.node.inputs[0];
  return PreparedKernel::Of(type.dtype == DType::kF32 ? &Accumulate<float> : &Accumulate<double>,
                            AccumulateParameters{type.shape.Elements(), ThreadsFor(request)});
}

bool Supports(const NodeSignature& node) {
  const DType dtype = node.inputs[0].dtype;
  return dtype == DType::kF32 || dtype == DType::kF64;
}

KernelDef Define(std::string_view name, PreparedKernel (*prepare)(const KernelRequest&)) {
  KernelDef def{.name = name, .supports = Supports, .prepare = prepare};
  def.flops_per_second = kElementsPerSecond;
  return def;
}

KernelDef sgd() { return Define("cpu.sgd", PrepareSgd); }
KernelDef adam() { return Define("cpu.adam", PrepareAdam); }
KernelDef accumulate() { return Define("cpu.accumulate", PrepareAccumulate); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(sgd)
CGRUN_CPU_KERNEL(adam)
CGRUN_CPU_KERNEL(accumulate)

}  // namespace cgrun::cpu
#endif
