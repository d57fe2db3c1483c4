// Computes clip and its gradient.
#include "src/ops/clip.h"

#include "src/kernels/formulas.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"

namespace cgrun::reference {
namespace {

struct ClipParameters {
  int64_t elements;
  double min;
  double max;
};

template <class T>
struct Clip {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ClipParameters*>(i.parameters);
    const T* x = Data<const T>(context, i, 0);
    T* y = Data<T>(context, i, 1);
    const formulas::ClipRange<T> range(p.min, p.max);
    for (int64_t e = 0; e < p.elements; ++e) y[e] = Store<T>(range.Clip(Load(x[e])));
  }
};

template <class T>
struct ClipGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ClipParameters*>(i.parameters);
    const T* y = Data<const T>(context, i, 0);
    const T* dy = Data<const T>(context, i, 1);
    T* dx = Data<T>(context, i, 2);
    const formulas::ClipRange<T> range(p.min, p.max);
    for (int64_t e = 0; e < p.elements; ++e) {
      dx[e] = range.Passes(Load(y[e])) ? dy[e] : Store<T>(0);
    }
  }
};

template <template <class> class Kernel>
static PreparedKernel PrepareClip(const KernelRequest& request) {
  const TensorType& type = request.node.outputs[0];
  const auto& attributes = request.node.attributes.As<ClipAttributes>();
  return PreparedKernel::Of(ForFloat<Kernel>(type.dtype),
                            ClipParameters{type.shape.Elements(), attributes.min, attributes.max});
}

}  // namespace

KernelDef clip() {
  return {.name = "reference.clip", .supports = AllFloat, .prepare = PrepareClip<Clip>};
}
KernelDef clip_grad() {
  return {.name = "reference.clip_grad", .supports = AllFloat, .prepare = PrepareClip<ClipGrad>};
}

}  // namespace cgrun::reference
