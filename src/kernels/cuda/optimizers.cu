// Computes sgd, adam, adamw, rmsprop and adagrad, element by element, in f64. Each element is read
// before it is written. The rate and the step are numbers in the GPU's memory.
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/launch.cuh"
#include "src/kernels/cuda/number.cuh"
#include "src/kernels/optimizers.h"

namespace cgrun::cuda {

using kernels::AdagradParameters, kernels::AdamFactors, kernels::AdamParameters,
    kernels::RmspropParameters, kernels::SgdParameters;

template <class T>
struct SgdBody {
  SgdParameters p;
  const T *parameter, *gradient;
  const double* rate;
  T* next;
  __device__ void operator()(int64_t e) const {
    const kernels::SgdRule<double> rule(p, *rate);
    next[e] = StoreF64<T>(rule.Next(LoadF64(parameter[e]), LoadF64(gradient[e])));
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
    const kernels::SgdRule<double> rule(p, *rate);
    double v = LoadF64(velocity[e]);
    const double w = rule.Next(LoadF64(parameter[e]), LoadF64(gradient[e]), v);
    next_velocity[e] = StoreF64<T>(v);
    next[e] = StoreF64<T>(w);
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
  const DType dtype = request.node.inputs[0].dtype;
  const SgdParameters p(request);
  return PreparedKernel::Of(
      p.momentum == 0 ? ForFloat<Sgd>(dtype) : ForFloat<SgdWithMomentum>(dtype), p);
}

// The factors of a step go to the workspace: powers take longer than the rest.
struct AdamFactorsBody {
  AdamParameters p;
  const double* learning_rate;
  const int64_t* steps;
  AdamFactors* factors;
  __device__ void operator()(int64_t) const { *factors = AdamFactors(p, *learning_rate, *steps); }
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
    const kernels::AdamRule<double> rule(p);
    const double w = LoadF64(parameter[e]);
    double m = LoadF64(first[e]), v = LoadF64(second[e]);
    rule.ChangeMoments(w, LoadF64(gradient[e]), m, v);
    next_first[e] = StoreF64<T>(m);
    next_second[e] = StoreF64<T>(v);
    next[e] = StoreF64<T>(rule.Next(w, m, std::sqrt(v) / correction, rate, kept));
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
  return PreparedKernel::Of(ForFloat<Adam>(request.node.inputs[0].dtype),
                            AdamParameters::OfAdam(request));
}

static PreparedKernel PrepareAdamw(const KernelRequest& request) {
  return PreparedKernel::Of(ForFloat<Adam>(request.node.inputs[0].dtype),
                            AdamParameters::OfAdamw(request));
}

template <class T, bool kIsCentered, bool kHasMomentum>
struct RmspropBody {
  RmspropParameters p;
  const T *parameter, *gradient;
  const double* rate;
  const T *square, *mean, *buffer;  // the last two null where they are not kept
  T *next, *next_square, *next_mean, *next_buffer;

  __device__ void operator()(int64_t e) const {
    const kernels::RmspropRule<double, kIsCentered, kHasMomentum> rule(p, *rate);
    double v = LoadF64(square[e]), m = 0, b = 0;
    if constexpr (kIsCentered) m = LoadF64(mean[e]);
    if constexpr (kHasMomentum) b = LoadF64(buffer[e]);
    const double w = rule.Next(LoadF64(parameter[e]), LoadF64(gradient[e]), v, m, b);
    next_square[e] = StoreF64<T>(v);
    if constexpr (kIsCentered) next_mean[e] = StoreF64<T>(m);
    if constexpr (kHasMomentum) next_buffer[e] = StoreF64<T>(b);
    next[e] = StoreF64<T>(w);
  }
};

template <class T, bool kIsCentered, bool kHasMomentum>
struct Rmsprop {
  using Operands = kernels::RmspropOperands<kIsCentered, kHasMomentum>;

  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const RmspropParameters*>(i.parameters);
    ForEachElement(
        context, p.elements,
        RmspropBody<T, kIsCentered, kHasMomentum>{
            p, Data<const T>(context, i, 0), Data<const T>(context, i, 1),
            Data<const double>(context, i, 2), Data<const T>(context, i, 3),
            kIsCentered ? Data<const T>(context, i, Operands::kMean) : nullptr,
            kHasMomentum ? Data<const T>(context, i, Operands::kBuffer) : nullptr,
            Data<T>(context, i, Operands::kNext), Data<T>(context, i, Operands::kNextSquare),
            kIsCentered ? Data<T>(context, i, Operands::kNextMean) : nullptr,
            kHasMomentum ? Data<T>(context, i, Operands::kNextBuffer) : nullptr});
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
  const auto& a = request.node.attributes.As<RmspropAttributes>();
  return PreparedKernel::Of(ChooseRmsprop(a, request.node.inputs[0].dtype),
                            RmspropParameters(request));
}

template <class T>
struct AdagradBody {
  AdagradParameters p;
  const T *parameter, *gradient;
  const double* learning_rate;
  const T* sum;
  const int64_t* steps;
  T *next, *next_sum;
  __device__ void operator()(int64_t e) const {
    const kernels::AdagradRule<double> rule(p, *learning_rate, *steps);
    double s = LoadF64(sum[e]);
    const double w = rule.Next(LoadF64(parameter[e]), LoadF64(gradient[e]), s);
    next_sum[e] = StoreF64<T>(s);
    next[e] = StoreF64<T>(w);
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
  return PreparedKernel::Of(ForFloat<Adagrad>(request.node.inputs[0].dtype),
                            AdagradParameters(request));
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
