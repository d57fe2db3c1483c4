// Computes softmax, log_softmax and their gradients, a block a group along the axis, in f64. A
// group is read to its end before it is written, so that in place is safe.
#include <cmath>

#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/softmax_group.cuh"
#include "src/ops/infer.h"
#include "src/ops/softmax.h"

namespace cgrun::cuda {

template <class T>
struct SoftmaxBody {
  AxisGroups groups;
  const T* x;
  T* y;
  __device__ void operator()(int64_t g) const {
    const int64_t first = FirstOf(groups, g);
    const SoftmaxSums sums = SumsOfGroup(x + first, groups);
    for (int64_t c = threadIdx.x; c < groups.size; c += kThreadsPerBlock) {
      const int64_t at = first + c * groups.stride;
      y[at] = StoreF64<T>(std::exp(LoadF64(x[at]) - sums.max) / sums.exponentials);
    }
  }
};

template <class T>
struct LogSoftmaxBody {
  AxisGroups groups;
  const T* x;
  T* y;
  __device__ void operator()(int64_t g) const {
    const int64_t first = FirstOf(groups, g);
    const SoftmaxSums sums = SumsOfGroup(x + first, groups);
    const double log_sum = std::log(sums.exponentials);
    for (int64_t c = threadIdx.x; c < groups.size; c += kThreadsPerBlock) {
      const int64_t at = first + c * groups.stride;
      y[at] = StoreF64<T>(LoadF64(x[at]) - sums.max - log_sum);
    }
  }
};

template <class T>
struct SoftmaxGradBody {
  AxisGroups groups;
  const T *y, *dy;
  T* dx;
  __device__ void operator()(int64_t g) const {
    const int64_t first = FirstOf(groups, g);
    const double sum = SumOverBlock(groups.size, [&](int64_t c) {
      const int64_t at = first + c * groups.stride;
      return LoadF64(dy[at]) * LoadF64(y[at]);
    });
    for (int64_t c = threadIdx.x; c < groups.size; c += kThreadsPerBlock) {
      const int64_t at = first + c * groups.stride;
      dx[at] = StoreF64<T>(LoadF64(y[at]) * (LoadF64(dy[at]) - sum));
    }
  }
};

template <class T>
struct LogSoftmaxGradBody {
  AxisGroups groups;
  const T *y, *dy;
  T* dx;
  __device__ void operator()(int64_t g) const {
    const int64_t first = FirstOf(groups, g);
    const double sum = SumOverBlock(
        groups.size, [&](int64_t c) { return LoadF64(dy[first + c * groups.stride]); });
    for (int64_t c = threadIdx.x; c < groups.size; c += kThreadsPerBlock) {
      const int64_t at = first + c * groups.stride;
      dx[at] = StoreF64<T>(LoadF64(dy[at]) - std::exp(LoadF64(y[at])) * sum);
    }
  }
};

template <template <class> class Body>
struct OverGroups {
  template <class T>
  struct Kernel {
    static void Run(const RunContext& context, const Instruction& i) noexcept {
      const auto& groups = *static_cast<const AxisGroups*>(i.parameters);
      ForEachGroup(context, groups.count,
                   Body<T>{groups, Data<const T>(context, i, 0), Data<T>(context, i, 1)});
    }
  };
  template <class T>
  struct Grad {
    static void Run(const RunContext& context, const Instruction& i) noexcept {
      const auto& groups = *static_cast<const AxisGroups*>(i.parameters);
      ForEachGroup(context, groups.count,
                   Body<T>{groups, Data<const T>(context, i, 0), Data<const T>(context, i, 1),
                           Data<T>(context, i, 2)});
    }
  };
};

template <template <class> class Kernel>
static PreparedKernel PrepareSoftmax(const KernelRequest& request) {
  const TensorType& type = request.node.inputs[0];
  const auto axis =
      NormalizeAxis(request.node.attributes.As<SoftmaxAttributes>().axis, type.shape.rank());
  return PreparedKernel::Of(ForFloat<Kernel>(type.dtype), GroupsAlong(type.shape, *axis));
}

KernelDef softmax() {
  return {.name = "cuda.softmax",
          .supports = AllFloat,
          .prepare = PrepareSoftmax<OverGroups<SoftmaxBody>::Kernel>};
}
KernelDef softmax_grad() {
  return {.name = "cuda.softmax_grad",
          .supports = AllFloat,
          .prepare = PrepareSoftmax<OverGroups<SoftmaxGradBody>::Grad>};
}
KernelDef log_softmax() {
  return {.name = "cuda.log_softmax",
          .supports = AllFloat,
          .prepare = PrepareSoftmax<OverGroups<LogSoftmaxBody>::Kernel>};
}
KernelDef log_softmax_grad() {
  return {.name = "cuda.log_softmax_grad",
          .supports = AllFloat,
          .prepare = PrepareSoftmax<OverGroups<LogSoftmaxGradBody>::Grad>};
}

}  // namespace cgrun::cuda
