// Computes linear by one product of all rows of x with the transposed weight.
#include "src/kernels/reference/gemm.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

template <class T, bool kBias>
struct LinearKernel {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const GemmParameters*>(i.parameters);
    constexpr int kOutput = kBias ? 3 : 2;
    const T* bias = kBias ? Data<const T>(context, i, 2) : nullptr;
    Gemm<T>(p, Data<const T>(context, i, 0), Data<const T>(context, i, 1), bias,
            Data<T>(context, i, kOutput), Data<Compute<T>>(context, i, kOutput + 1));
  }
};

template <class T>
using LinearWithBias = LinearKernel<T, true>;
template <class T>
using LinearWithoutBias = LinearKernel<T, false>;

GemmParameters PackLinear(const NodeSignature& node) {
  const Shape &x = node.inputs[0].shape, &y = node.outputs[0].shape;
  const int64_t units = y[y.rank() - 1].size, features = x[x.rank() - 1].size;
  GemmParameters p;
  p.a = {y.Elements() / units, features, features, 1};
  p.columns = units;
  p.b_depth_stride = 1;
  p.b_column_stride = features;
  return p;
}

PreparedKernel PrepareLinear(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const DType dtype = node.inputs[0].dtype;
  const KernelFunction run = node.inputs.size() == 3 ? ForFloat<LinearWithBias>(dtype)
                                                     : ForFloat<LinearWithoutBias>(dtype);
  return PreparedKernel::Of(run, PackLinear(node));
}

int64_t LinearWorkspaceBytes(const NodeSignature& node, int) {
  return GemmWorkspace(PackLinear(node));
}

}  // namespace

KernelDef linear() {
  return {.name = "reference.linear",
          .supports = AllFloat,
          .workspace_bytes = LinearWorkspaceBytes,
          .prepare = PrepareLinear};
}

}  // namespace cgrun::reference
