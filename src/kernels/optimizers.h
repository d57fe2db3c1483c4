// The rules of optimizers for one element, for the reference device and CUDA alike. `C` is the type
// that a kernel computes in; what depends on the step alone is computed in f64. A rule takes the
// parameter `w` and its gradient, changes the states that it is given and returns the new `w`.
// `constexpr` functions run on the GPU, too (nvcc's --expt-relaxed-constexpr).
#ifndef CGRUN_KERNELS_OPTIMIZERS_H_
#define CGRUN_KERNELS_OPTIMIZERS_H_

#include <cmath>

#include "src/kernels/kernel.h"
#include "src/ops/optimizer.h"

namespace cgrun::kernels {

struct Regularization {
  double l1 = 0;
  double l2 = 0;

  // The gradient with what regularisation adds to it.
  template <class C>
  constexpr C Add(C gradient, C w) const {
    if (l1 == 0 && l2 == 0) return gradient;  // of its sign, too, where it is 0
    const auto sign = static_cast<C>((w > 0) - (w < 0));
    return gradient + static_cast<C>(l2) * w + static_cast<C>(l1) * sign;
  }
};

inline int64_t ParameterElements(const KernelRequest& request) {
  return request.node.inputs[0].shape.Elements();
}

struct SgdParameters {
  int64_t elements = 0;
  Regularization regularization;
  double learning_rate_scale = 1;
  double momentum = 0;
  bool nesterov = false;

  explicit SgdParameters(const KernelRequest& request) : elements(ParameterElements(request)) {
    const auto& a = request.node.attributes.As<SgdAttributes>();
    regularization = {a.l1, a.weight_decay + a.l2};
    learning_rate_scale = a.learning_rate_scale;
    momentum = a.momentum;
    nesterov = a.nesterov;
  }
};

template <class C>
struct SgdRule {
  Regularization regularization;
  C rate, momentum;
  bool nesterov;

  constexpr SgdRule(const SgdParameters& p, double learning_rate)
      : regularization(p.regularization),
        rate(static_cast<C>(learning_rate * p.learning_rate_scale)),
        momentum(static_cast<C>(p.momentum)),
        nesterov(p.nesterov) {}

  constexpr C Next(C w, C gradient) const { return w - rate * regularization.Add(gradient, w); }

  constexpr C Next(C w, C gradient, C& velocity) const {
    const C g = regularization.Add(gradient, w);
    velocity = momentum * velocity + g;
    return w - rate * (nesterov ? g + momentum * velocity : velocity);
  }
};

// adam and adamw share these.
struct AdamParameters {
  int64_t elements = 0;
  Regularization regularization;
  double learning_rate_scale = 1;
  double beta1 = 0;
  double beta2 = 0;
  double epsilon = 0;
  double decoupled_decay = 0;  // adamw's weight decay

  static AdamParameters OfAdam(const KernelRequest& request) {
    const auto& a = request.node.attributes.As<AdamAttributes>();
    AdamParameters p(request, a);
    p.regularization.l2 = a.weight_decay + a.l2;
    return p;
  }
  static AdamParameters OfAdamw(const KernelRequest& request) {
    const auto& a = request.node.attributes.As<AdamwAttributes>();
    AdamParameters p(request, a);
    p.decoupled_decay = a.weight_decay;
    return p;
  }

 private:
  template <class Attributes>
  AdamParameters(const KernelRequest& request, const Attributes& a)
      : elements(ParameterElements(request)),
        regularization{a.l1, a.l2},
        learning_rate_scale(a.learning_rate_scale),
        beta1(a.beta1),
        beta2(a.beta2),
        epsilon(a.epsilon) {}
};

// All elements share these factors in a step.
struct AdamFactors {
  double rate;
  double kept;        // of a parameter, by the decoupled decay
  double correction;  // √(1 − β₂ᵗ), by which the root of the second moment is divided

  // A template, as std::pow() is no constant expression.
  template <class Steps>
  constexpr AdamFactors(const AdamParameters& p, double learning_rate, Steps steps) {
    const double t = static_cast<double>(steps + 1);
    const double plain_rate = learning_rate * p.learning_rate_scale;
    rate = plain_rate / (1 - std::pow(p.beta1, t));
    kept = 1 - plain_rate * p.decoupled_decay;
    correction = std::sqrt(1 - std::pow(p.beta2, t));
  }
};

template <class C>
struct AdamRule {
  Regularization regularization;
  C beta1, new1, beta2, new2, epsilon;

  explicit constexpr AdamRule(const AdamParameters& p)
      : regularization(p.regularization),
        beta1(static_cast<C>(p.beta1)),
        new1(static_cast<C>(1 - p.beta1)),
        beta2(static_cast<C>(p.beta2)),
        new2(static_cast<C>(1 - p.beta2)),
        epsilon(static_cast<C>(p.epsilon)) {}

  constexpr void ChangeMoments(C w, C gradient, C& first, C& second) const {
    const C g = regularization.Add(gradient, w);
    first = beta1 * first + new1 * g;
    second = beta2 * second + new2 * g * g;
  }
  // `root`: of the corrected second moment.
  constexpr C Next(C w, C first, C root, C rate, C kept) const {
    return w * kept - rate * first / (root + epsilon);
  }
};

struct RmspropParameters {
  int64_t elements = 0;
  Regularization regularization;
  double learning_rate_scale = 1;
  double alpha = 0;
  double epsilon = 0;
  double momentum = 0;

  explicit RmspropParameters(const KernelRequest& request) : elements(ParameterElements(request)) {
    const auto& a = request.node.attributes.As<RmspropAttributes>();
    regularization = {a.l1, a.weight_decay + a.l2};
    learning_rate_scale = a.learning_rate_scale;
    alpha = a.alpha;
    epsilon = a.epsilon;
    momentum = a.momentum;
  }
};

// Its kernels read parameter, gradient, rate, v, [m] and [b], and give the same but for gradient
// and rate after the step.
template <bool kIsCentered, bool kHasMomentum>
struct RmspropOperands {
  static constexpr int kInputs = 4 + kIsCentered + kHasMomentum;
  static constexpr int kMean = 4, kBuffer = 4 + kIsCentered;        // inputs
  static constexpr int kNext = kInputs, kNextSquare = kInputs + 1;  // outputs
  static constexpr int kNextMean = kMean + kInputs - 2, kNextBuffer = kBuffer + kInputs - 2;
};

template <class C, bool kIsCentered, bool kHasMomentum>
struct RmspropRule {
  Regularization regularization;
  C rate, alpha, fresh, epsilon, momentum;

  constexpr RmspropRule(const RmspropParameters& p, double learning_rate)
      : regularization(p.regularization),
        rate(static_cast<C>(learning_rate * p.learning_rate_scale)),
        alpha(static_cast<C>(p.alpha)),
        fresh(static_cast<C>(1 - p.alpha)),
        epsilon(static_cast<C>(p.epsilon)),
        momentum(static_cast<C>(p.momentum)) {}

  // `mean` and `buffer` change where they are kept.
  constexpr C Next(C w, C gradient, C& square, C& mean, C& buffer) const {
    const C g = regularization.Add(gradient, w);
    square = alpha * square + fresh * g * g;
    if constexpr (kIsCentered) mean = alpha * mean + fresh * g;
    C step = g / (Root(square, mean) + epsilon);
    if constexpr (kHasMomentum) {
      step += momentum * buffer;
      buffer = step;
    }
    return w - rate * step;
  }

 private:
  // Returns √v, or the deviation of gradients, √(v − m²).
  static constexpr C Root(C v, C m) {
    const C squared = kIsCentered ? v - m * m : v;
    return std::sqrt(squared < 0 ? 0 : squared);
  }
};

struct AdagradParameters {
  int64_t elements = 0;
  Regularization regularization;
  double learning_rate_scale = 1;
  double lr_decay = 0;
  double epsilon = 0;

  explicit AdagradParameters(const KernelRequest& request) : elements(ParameterElements(request)) {
    const auto& a = request.node.attributes.As<AdagradAttributes>();
    regularization = {a.l1, a.weight_decay + a.l2};
    learning_rate_scale = a.learning_rate_scale;
    lr_decay = a.lr_decay;
    epsilon = a.epsilon;
  }
};

template <class C>
struct AdagradRule {
  Regularization regularization;
  C rate, epsilon;

  constexpr AdagradRule(const AdagradParameters& p, double learning_rate, int64_t steps)
      : regularization(p.regularization),
        rate(static_cast<C>(learning_rate * p.learning_rate_scale /
                            (1 + static_cast<double>(steps) * p.lr_decay))),
        epsilon(static_cast<C>(p.epsilon)) {}

  constexpr C Next(C w, C gradient, C& sum) const {
    const C g = regularization.Add(gradient, w);
    sum = sum + g * g;
    return w - rate * g / (std::sqrt(sum) + epsilon);
  }
};

}  // namespace cgrun::kernels

#endif  // CGRUN_KERNELS_OPTIMIZERS_H_
