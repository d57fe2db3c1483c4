// Computes softmax and its gradient, group by group along the axis, in f64.
#include "src/ops/softmax.h"

#include <cmath>

#include "src/kernels/axis_groups.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"
#include "src/ops/infer.h"

namespace cgrun::reference {
namespace {

// A group is read to its end before it is written, so that in place is safe.
template <class T>
struct Softmax {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& groups = *static_cast<const AxisGroups*>(i.parameters);
    for (int64_t g = 0; g < groups.count; ++g) {
      const T* x = Data<const T>(context, i, 0) + groups.First(g);
      T* y = Data<T>(context, i, 1) + groups.First(g);
      double max = LoadF64(x[0]);
      for (int64_t c = 1; c < groups.size; ++c) {
        max = std::fmax(max, LoadF64(x[c * groups.stride]));
      }
      double sum = 0;
      for (int64_t c = 0; c < groups.size; ++c) {
        sum += std::exp(LoadF64(x[c * groups.stride]) - max);
      }
      for (int64_t c = 0; c < groups.size; ++c) {
        const double value = std::exp(LoadF64(x[c * groups.stride]) - max);
        y[c * groups.stride] = StoreF64<T>(value / sum);
      }
    }
  }
};

template <class T>
struct SoftmaxGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& groups = *static_cast<const AxisGroups*>(i.parameters);
    for (int64_t g = 0; g < groups.count; ++g) {
      const T* y = Data<const T>(context, i, 0) + groups.First(g);
      const T* dy = Data<const T>(context, i, 1) + groups.First(g);
      T* dx = Data<T>(context, i, 2) + groups.First(g);
      double sum = 0;
      for (int64_t c = 0; c < groups.size; ++c) {
        sum += LoadF64(dy[c * groups.stride]) * LoadF64(y[c * groups.stride]);
      }
      for (int64_t c = 0; c < groups.size; ++c) {
        const int64_t at = c * groups.stride;
        dx[at] = StoreF64<T>(LoadF64(y[at]) * (LoadF64(dy[at]) - sum));
      }
    }
  }
};

template <template <class> class Kernel>
PreparedKernel PrepareSoftmax(const KernelRequest& request) {
  const TensorType& type = request.node.inputs[0];
  const auto axis =
      NormalizeAxis(request.node.attributes.As<SoftmaxAttributes>().axis, type.shape.rank());
  return PreparedKernel::Of(ForFloat<Kernel>(type.dtype), GroupsAlong(type.shape, *axis));
}

}  // namespace

KernelDef softmax() {
  return {.name = "reference.softmax", .supports = AllFloat, .prepare = PrepareSoftmax<Softmax>};
}

KernelDef softmax_grad() {
  return {.name = "reference.softmax_grad",
          .supports = AllFloat,
          .prepare = PrepareSoftmax<SoftmaxGrad>};
}

}  // namespace cgrun::reference
