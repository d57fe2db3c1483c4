// Computes log_softmax and its gradient, group by group along the axis, in f64.
#include <cmath>

#include "src/kernels/axis_groups.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"
#include "src/ops/infer.h"
#include "src/ops/softmax.h"

namespace cgrun::reference {
namespace {

// A group's sum is known before its first element is written, so that in place is safe.
template <class T>
struct LogSoftmax {
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
      const double log_sum = std::log(sum);
      for (int64_t c = 0; c < groups.size; ++c) {
        const int64_t at = c * groups.stride;
        y[at] = StoreF64<T>(LoadF64(x[at]) - max - log_sum);
      }
    }
  }
};

template <class T>
struct LogSoftmaxGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& groups = *static_cast<const AxisGroups*>(i.parameters);
    for (int64_t g = 0; g < groups.count; ++g) {
      const T* y = Data<const T>(context, i, 0) + groups.First(g);
      const T* dy = Data<const T>(context, i, 1) + groups.First(g);
      T* dx = Data<T>(context, i, 2) + groups.First(g);
      double sum = 0;
      for (int64_t c = 0; c < groups.size; ++c) sum += LoadF64(dy[c * groups.stride]);
      for (int64_t c = 0; c < groups.size; ++c) {
        const int64_t at = c * groups.stride;
        dx[at] = StoreF64<T>(LoadF64(dy[at]) - std::exp(LoadF64(y[at])) * sum);
      }
    }
  }
};

template <template <class> class Kernel>
static PreparedKernel PrepareLogSoftmax(const KernelRequest& request) {
  const TensorType& type = request.node.inputs[0];
  const auto axis =
      NormalizeAxis(request.node.attributes.As<SoftmaxAttributes>().axis, type.shape.rank());
  return PreparedKernel::Of(ForFloat<Kernel>(type.dtype), GroupsAlong(type.shape, *axis));
}

}  // namespace

KernelDef log_softmax() {
  return {.name = "reference.log_softmax",
          .supports = AllFloat,
          .prepare = PrepareLogSoftmax<LogSoftmax>};
}

KernelDef log_softmax_grad() {
  return {.name = "reference.log_softmax_grad",
          .supports = AllFloat,
          .prepare = PrepareLogSoftmax<LogSoftmaxGrad>};
}

}  // namespace cgrun::reference
