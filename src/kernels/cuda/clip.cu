// clip and its gradient.
#include <limits>

#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/launch.cuh"
#include "src/kernels/cuda/number.cuh"
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
    // As the elements have them: what is clipped equals its bound.
    const Compute<T> min = Load(StoreF64<T>(lower)), max = Load(StoreF64<T>(upper));
    const Compute<T> value = Load(x[e]);
    y[e] = Store<T>(value < min ? min : value > max ? max : value);
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
    using C = Compute<T>;
    constexpr C kInfinity = std::numeric_limits<C>::infinity();
    const C min = Load(StoreF64<T>(lower)), max = Load(StoreF64<T>(upper));
    const C value = Load(y[e]);
    const bool inside = (value > min || value == -kInfinity) && (value < max || value == kInfinity);
    dx[e] = inside ? dy[e] : Store<T>(0);
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
