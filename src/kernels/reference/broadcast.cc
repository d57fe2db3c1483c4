// Computes broadcast by a strided walk, with stride 0 on the repeated axes.
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"
#include "src/kernels/reference/strided_copy.h"
#include "src/ops/reduce.h"

namespace cgrun::reference {
namespace {

struct BroadcastParameters {
  StridedSpace<2> space;
  double repetitions = 1;
};

template <class T>
struct Average {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const BroadcastParameters*>(i.parameters);
    const T* x = Data<const T>(context, i, 0);
    T* y = Data<T>(context, i, 1);
    ForEachIndex(p.space, {0, 0}, [=, &p](const auto& at) {
      y[at[1]] = StoreF64<T>(LoadF64(x[at[0]]) / p.repetitions);
    });
  }
};

bool SupportsBroadcast(const NodeSignature& node) {
  const bool average = node.attributes.As<BroadcastAttributes>().average;
  return !average || IsComputed(node.inputs[0].dtype);
}

PreparedKernel PrepareBroadcast(const KernelRequest& request) {
  const Shape& x = request.node.inputs[0].shape;
  const Shape& y = request.node.outputs[0].shape;
  const DType dtype = request.node.inputs[0].dtype;
  CopyPlan plan = PlanBroadcast(request.node);
  if (!request.node.attributes.As<BroadcastAttributes>().average) {
    return PrepareCopy(dtype, std::move(plan));
  }
  const double repetitions = static_cast<double>(y.Elements() / x.Elements());
  return PreparedKernel::Of(ForFloat<Average>(dtype),
                            BroadcastParameters{std::move(plan.space), repetitions});
}

}  // namespace

KernelDef broadcast() {
  return {
      .name = "reference.broadcast", .supports = SupportsBroadcast, .prepare = PrepareBroadcast};
}

}  // namespace cgrun::reference
