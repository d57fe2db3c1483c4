// rmsprop, element by element, in the parameter's type. Each element is read before it is written.
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
  double alpha = 0;
  double epsilon = 0;
  double momentum = 0;
};

// Operands: parameter, gradient, rate, v, [m], [b], then the same after the step.
template <class T, bool kCentered, bool kMomentum>
struct Rmsprop {
  using C = Compute<T>;
  static constexpr int kInputs = 4 + kCentered + kMomentum;
  static constexpr int kMean = 4, kBuffer = 4 + kCentered;          // inputs
  static constexpr int kNext = kInputs, kNextSquare = kInputs + 1;  // outputs
  static constexpr int kNextMean = kMean + kInputs - 2, kNextBuffer = kBuffer + kInputs - 2;

  // √v, or the deviation of gradients: √(v − m²).
  static C Root(C v, C m) {
    const C squared = kCentered ? v - m * m : v;
    return std::sqrt(squared < 0 ? 0 : squared);
  }

  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const Parameters*>(i.parameters);
    const T* parameter = Data<const T>(context, i, 0);
    const T* gradient = Data<const T>(context, i, 1);
    const auto rate = static_cast<C>(*Data<const double>(context, i, 2) * p.learning_rate_scale);
    const auto alpha = static_cast<C>(p.alpha), fresh = static_cast<C>(1 - p.alpha);
    const auto epsilon = static_cast<C>(p.epsilon), momentum = static_cast<C>(p.momentum);
    const T* square = Data<const T>(context, i, 3);
    const T* mean = kCentered ? Data<const T>(context, i, kMean) : nullptr;
    const T* buffer = kMomentum ? Data<const T>(context, i, kBuffer) : nullptr;
    T* next = Data<T>(context, i, kNext);
    T* next_square = Data<T>(context, i, kNextSquare);
    T* next_mean = kCentered ? Data<T>(context, i, kNextMean) : nullptr;
    T* next_buffer = kMomentum ? Data<T>(context, i, kNextBuffer) : nullptr;
    for (int64_t e = 0; e < p.elements; ++e) {
      const C w = Load(parameter[e]);
      const C g = p.regularization.Add(Load(gradient[e]), w);
      const C v = alpha * Load(square[e]) + fresh * g * g;
      const C m = kCentered ? alpha * Load(mean[e]) + fresh * g : 0;
      C step = g / (Root(v, m) + epsilon);
      if constexpr (kMomentum) {
        step += momentum * Load(buffer[e]);
        next_buffer[e] = Store<T>(step);
      }
      next_square[e] = Store<T>(v);
      if constexpr (kCentered) next_mean[e] = Store<T>(m);
      next[e] = Store<T>(w - rate * step);
    }
  }
};

template <class T>
using Plain = Rmsprop<T, false, false>;
template <class T>
using WithMomentum = Rmsprop<T, false, true>;
template <class T>
using Centered = Rmsprop<T, true, false>;
template <class T>
using CenteredWithMomentum = Rmsprop<T, true, true>;

KernelFunction Choose(const RmspropAttributes& attributes, DType dtype) {
  if (attributes.centered) {
    return attributes.momentum != 0 ? ForFloat<CenteredWithMomentum>(dtype)
                                    : ForFloat<Centered>(dtype);
  }
  return attributes.momentum != 0 ? ForFloat<WithMomentum>(dtype) : ForFloat<Plain>(dtype);
}

PreparedKernel Prepare(const KernelRequest& request) {
  const TensorType& type = request.node.inputs[0];
  const auto& a = request.node.attributes.As<RmspropAttributes>();
  return PreparedKernel::Of(Choose(a, type.dtype), Parameters{type.shape.Elements(),
                                                              {a.l1, a.weight_decay + a.l2},
                                                              a.learning_rate_scale,
                                                              a.alpha,
                                                              a.epsilon,
                                                              a.momentum});
}

}  // namespace

KernelDef rmsprop() {
  return {.name = "reference.rmsprop", .supports = FirstInputIsFloat, .prepare = Prepare};
}

}  // namespace cgrun::reference
