// Computes clip and its gradient.
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/launch.cuh"
#include "src/kernels/cuda/number.cuh"
#include "src/kernels/formulas.h"
#include "src/ops/clip.h"

namespace cgrun::cuda {

struct ClipParameters {
  int64_t elements;
  double min;
  double max;
};

template <class T>
struct ClipBody {
  const T* x;
  T* y;
  double lower, upper;
  __device__ void operator()(int64_t e) const {
    y[e] = Store<T>(formulas::ClipRange<T>(lower, upper).Clip(Load(x[e])));
  }
};

template <class T>
struct Clip {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ClipParameters*>(i.parameters);
    ForEachElement(context, p.elements,
                   ClipBody<T>{Data<const T>(context, i, 0), Data<T>(context, i, 1), p.min, p.max});
  }
};

template <class T>
struct ClipGradBody {
  const T *y, *dy;
  T* dx;
  double lower, upper;
  __device__ void operator()(int64_t e) const {
    const bool passes = formulas::ClipRange<T>(lower, upper).Passes(Load(y[e]));
    dx[e] = passes ? dy[e] : Store<T>(0);
  }
};

template <class T>
struct ClipGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ClipParameters*>(i.parameters);
    ForEachElement(context, p.elements,
                   ClipGradBody<T>{Data<const T>(context, i, 0), Data<const T>(context, i, 1),
                                   Data<T>(context, i, 2), p.min, p.max});
  }
};

template <template <class> class Kernel>
static PreparedKernel PrepareClip(const KernelRequest& request) {
  const TensorType& type = request.node.outputs[0];
  const auto& attributes = request.node.attributes.As<ClipAttributes>();
  return PreparedKernel::Of(ForFloat<Kernel>(type.dtype),
                            ClipParameters{type.shape.Elements(), attributes.min, attributes.max});
}

KernelDef clip() {
  return {.name = "cuda.clip", .supports = AllFloat, .prepare = PrepareClip<Clip>};
}
KernelDef clip_grad() {
  return {.name = "cuda.clip_grad", .supports = AllFloat, .prepare = PrepareClip<ClipGrad>};
}

}  // namespace cgrun::cuda
