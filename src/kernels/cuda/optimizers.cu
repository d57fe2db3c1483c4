// sgd, adam, adamw, rmsprop and adagrad, element by element, in f64. Each element is read before it
// is written. The rate and the step are numbers in the GPU's memory.
#include <cmath>

#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/launch.cuh"
#include "src/kernels/cuda/number.cuh"
#include "src/ops/optimizer.h"

namespace cgrun::cuda {

// The gradient with what regularisation adds to it.
struct Regularization {
  double l1 = 0;
  double l2 = 0;

  __device__ double Add(double gradient, double w) const {
    const double sign = (w > 0) - (w < 0);
    return gradient + l2 * w + l1 * sign;
  }
};

struct SgdParameters {
  int64_t elements = 0;
  Regularization regularization;
  double learning_rate_scale = 1;
  double momentum = 0;
  bool nesterov = false;
};

template <class T>
struct SgdBody {
  SgdParameters p;
  const T *parameter, *gradient;
  const double* rate;
  T* next;
  __device__ void operator()(int64_t e) const {
    const double w = LoadF64(parameter[e]);
    const double step = *rate * p.learning_rate_scale;
    next[e] = StoreF64<T>(w - step * p.regularization.Add(LoadF64(gradient[e]), w));
  }
};

template <class T>
struct Sgd {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const SgdParameters*>(i.parameters);
    ForEachElement(context, p.elements,
                   SgdBody<T>{p, Data<const T>(context, i, 0), Data<const T>(context, i, 1),
                              Data<const double>(context, i, 2), Data<T>(context, i, 3)});
  }
};

template <class T>
struct MomentumBody {
  SgdParameters p;
  const T *parameter, *gradient;
  const double* rate;
  const T* velocity;
  T *next, *next_velocity;
  __device__ void operator()(int64_t e) const {
    const double w = LoadF64(parameter[e]);
    const double step = *rate * p.learning_rate_scale;
    const double g = p.regularization.Add(LoadF64(gradient[e]), w);
    const double v = p.momentum * LoadF64(velocity[e]) + g;
    next_velocity[e] = StoreF64<T>(v);
    next[e] = StoreF64<T>(w - step * (p.nesterov ? g + p.momentum * v : v));
  }
};

template <class T>
struct SgdWithMomentum {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const SgdParameters*>(i.parameters);
    ForEachElement(context, p.elements,
                   MomentumBody<T>{p, Data<const T>(context, i, 0), Data<const T>(context, i, 1),
                                   Data<const double>(context, i, 2), Data<const T>(context, i, 3),
                                   Data<T>(context, i, 4), Data<T>(context, i, 5)});
  }
};

static PreparedKernel PrepareSgd(const KernelRequest& request) {
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

// What all elements share in a step, in the workspace: powers take longer than the rest.
struct AdamFactors {
  double rate;
  double kept;        // of a parameter, by the decoupled decay
  double correction;  // of the root of the second moment
};

struct AdamFactorsBody {
  AdamParameters p;
  const double* learning_rate;
  const int64_t* steps;
  AdamFactors* factors;
  __device__ void operator()(int64_t) const {
    const double t = static_cast<double>(*steps + 1);
    const double plain_rate = *learning_rate * p.learning_rate_scale;
    *factors = {plain_rate / (1 - std::pow(p.beta1, t)), 1 - plain_rate * p.decoupled_decay,
                std::sqrt(1 - std::pow(p.beta2, t))};
  }
};

template <class T>
struct AdamBody {
  AdamParameters p;
  const T *parameter, *gradient;
  const T *first, *second;
  const AdamFactors* factors;
  T *next, *next_first, *next_second;
  __device__ void operator()(int64_t e) const {
    const auto [rate, kept, correction] = *factors;
    const double w = LoadF64(parameter[e]);
    const double g = p.regularization.Add(LoadF64(gradient[e]), w);
    const double m = p.beta1 * LoadF64(first[e]) + (1 - p.beta1) * g;
    const double v = p.beta2 * LoadF64(second[e]) + (1 - p.beta2) * g * g;
    next_first[e] = StoreF64<T>(m);
    next_second[e] = StoreF64<T>(v);
    next[e] = StoreF64<T>(w * kept - rate * m / (std::sqrt(v) / correction + p.epsilon));
  }
};

template <class T>
struct Adam {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const AdamParameters*>(i.parameters);
    AdamFactors* factors = Data<AdamFactors>(context, i, 9);
    ForEachElement(context, 1,
                   AdamFactorsBody{p, Data<const double>(context, i, 2),
                                   Data<const int64_t>(context, i, 5), factors});
    ForEachElement(
        context, p.elements,
        AdamBody<T>{p, Data<const T>(context, i, 0), Data<const T>(context, i, 1),
                    Data<const T>(context, i, 3), Data<const T>(context, i, 4), factors,
                    Data<T>(context, i, 6), Data<T>(context, i, 7), Data<T>(context, i, 8)});
  }
};

static PreparedKernel PrepareAdam(const KernelRequest& request) {
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

static PreparedKernel PrepareAdamw(const KernelRequest& request) {
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

struct RmspropParameters {
  int64_t elements = 0;
  Regularization regularization;
  double learning_rate_scale = 1;
  double alpha = 0;
  double epsilon = 0;
  double momentum = 0;
};

template <class T, bool kCentered, bool kMomentum>
struct RmspropBody {
  RmspropParameters p;
  const T *parameter, *gradient;
  const double* rate;
  const T *square, *mean, *buffer;  // the last two null where they are not kept
  T *next, *next_square, *next_mean, *next_buffer;

  // √v, or the deviation of gradients: √(v − m²).
  static __device__ double Root(double v, double m) {
    const double squared = kCentered ? v - m * m : v;
    return std::sqrt(squared < 0 ? 0 : squared);
  }

  __device__ void operator()(int64_t e) const {
    const double w = LoadF64(parameter[e]);
    const double g = p.regularization.Add(LoadF64(gradient[e]), w);
    const double v = p.alpha * LoadF64(square[e]) + (1 - p.alpha) * g * g;
    double m = 0;
    if constexpr (kCentered) m = p.alpha * LoadF64(mean[e]) + (1 - p.alpha) * g;
    double step = g / (Root(v, m) + p.epsilon);
    if constexpr (kMomentum) {
      step += p.momentum * LoadF64(buffer[e]);
      next_buffer[e] = StoreF64<T>(step);
    }
    next_square[e] = StoreF64<T>(v);
    if constexpr (kCentered) next_mean[e] = StoreF64<T>(m);
    next[e] = StoreF64<T>(w - *rate * p.learning_rate_scale * step);
  }
};

// Operands: parameter, gradient, rate, v, [m], [b], then the same after the step.
template <class T, bool kCentered, bool kMomentum>
struct Rmsprop {
  static constexpr int kInputs = 4 + kCentered + kMomentum;
  static constexpr int kMean = 4, kBuffer = 4 + kCentered;          // inputs
  static constexpr int kNext = kInputs, kNextSquare = kInputs + 1;  // outputs
  static constexpr int kNextMean = kMean + kInputs - 2, kNextBuffer = kBuffer + kInputs - 2;

  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const RmspropParameters*>(i.parameters);
    ForEachElement(
        context, p.elements,
        RmspropBody<T, kCentered, kMomentum>{
            p, Data<const T>(context, i, 0), Data<const T>(context, i, 1),
            Data<const double>(context, i, 2), Data<const T>(context, i, 3),
            kCentered ? Data<const T>(context, i, kMean) : nullptr,
            kMomentum ? Data<const T>(context, i, kBuffer) : nullptr, Data<T>(context, i, kNext),
            Data<T>(context, i, kNextSquare), kCentered ? Data<T>(context, i, kNextMean) : nullptr,
            kMomentum ? Data<T>(context, i, kNextBuffer) : nullptr});
  }
};

template <class T>
using PlainRmsprop = Rmsprop<T, false, false>;
template <class T>
using MomentumRmsprop = Rmsprop<T, false, true>;
template <class T>
using CenteredRmsprop = Rmsprop<T, true, false>;
template <class T>
using CenteredMomentumRmsprop = Rmsprop<T, true, true>;

static KernelFunction ChooseRmsprop(const RmspropAttributes& attributes, DType dtype) {
  if (attributes.centered) {
    return attributes.momentum != 0 ? ForFloat<CenteredMomentumRmsprop>(dtype)
                                    : ForFloat<CenteredRmsprop>(dtype);
  }
  return attributes.momentum != 0 ? ForFloat<MomentumRmsprop>(dtype)
                                  : ForFloat<PlainRmsprop>(dtype);
}

static PreparedKernel PrepareRmsprop(const KernelRequest& request) {
  const TensorType& type = request.node.inputs[0];
  const auto& a = request.node.attributes.As<RmspropAttributes>();
  return PreparedKernel::Of(ChooseRmsprop(a, type.dtype),
                            RmspropParameters{type.shape.Elements(),
                                              {a.l1, a.weight_decay + a.l2},
                                              a.learning_rate_scale,
                                              a.alpha,
                                              a.epsilon,
                                              a.momentum});
}

struct AdagradParameters {
  int64_t elements = 0;
  Regularization regularization;
  double learning_rate_scale = 1;
  double lr_decay = 0;
  double epsilon = 0;
};

template <class T>
struct AdagradBody {
  AdagradParameters p;
  const T *parameter, *gradient;
  const double* learning_rate;
  const T* sum;
  const int64_t* steps;
  T *next, *next_sum;
  __device__ void operator()(int64_t e) const {
    const double rate =
        *learning_rate * p.learning_rate_scale / (1 + static_cast<double>(*steps) * p.lr_decay);
    const double w = LoadF64(parameter[e]);
    const double g = p.regularization.Add(LoadF64(gradient[e]), w);
    const double s = LoadF64(sum[e]) + g * g;
    next_sum[e] = StoreF64<T>(s);
    next[e] = StoreF64<T>(w - rate * g / (std::sqrt(s) + p.epsilon));
  }
};

template <class T>
struct Adagrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const AdagradParameters*>(i.parameters);
    ForEachElement(context, p.elements,
                   AdagradBody<T>{p, Data<const T>(context, i, 0), Data<const T>(context, i, 1),
                                  Data<const double>(context, i, 2), Data<const T>(context, i, 3),
                                  Data<const int64_t>(context, i, 4), Data<T>(context, i, 5),
                                  Data<T>(context, i, 6)});
  }
};

static PreparedKernel PrepareAdagrad(const KernelRequest& request) {
  const TensorType& type = request.node.inputs[0];
  const auto& a = request.node.attributes.As<AdagradAttributes>();
  return PreparedKernel::Of(ForFloat<Adagrad>(type.dtype),
                            AdagradParameters{type.shape.Elements(),
                                              {a.l1, a.weight_decay + a.l2},
                                              a.learning_rate_scale,
                                              a.lr_decay,
                                              a.epsilon});
}

KernelDef sgd() {
  return {.name = "cuda.sgd", .supports = FirstInputIsFloat, .prepare = PrepareSgd};
}
static int64_t AdamWorkspace(const NodeSignature&, int) { return sizeof(AdamFactors); }

KernelDef adam() {
  return {.name = "cuda.adam",
          .supports = FirstInputIsFloat,
          .workspace_bytes = AdamWorkspace,
          .prepare = PrepareAdam};
}
KernelDef adamw() {
  return {.name = "cuda.adamw",
          .supports = FirstInputIsFloat,
          .workspace_bytes = AdamWorkspace,
          .prepare = PrepareAdamw};
}
KernelDef rmsprop() {
  return {.name = "cuda.rmsprop", .supports = FirstInputIsFloat, .prepare = PrepareRmsprop};
}
KernelDef adagrad() {
  return {.name = "cuda.adagrad", .supports = FirstInputIsFloat, .prepare = PrepareAdagrad};
}

}  // namespace cgrun::cuda
