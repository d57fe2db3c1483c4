// linear: one product of all rows of x with the transposed weight.
#include "src/kernels/reference/gemm.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

template <class T, bool kBias>
struct Kernel {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const GemmParameters*>(i.parameters);
    constexpr int kOutput = kBias ? 3 : 2;
    const T* bias = kBias ? Data<const T>(context, i, 2) : nullptr;
    Gemm<T>(p, Data<const T>(context, i, 0), Data<const T>(context, i, 1), bias,
            Data<T>(context, i, kOutput), Data<Compute<T>>(context, i, kOutput + 1));
  }
};

template <class T>
using WithBias = Kernel<T, true>;
template <class T>
using WithoutBias = Kernel<T, false>;

PreparedKernel Prepare(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const Shape &x = node.inputs[0].shape, &y = node.outputs[0].shape;
  GemmParameters p;
  p.columns = y[y.rank() - 1].size;
  p.depth = x[x.rank() - 1].size;
  p.rows = y.Elements() / p.columns;
  p.a_row_stride = p.depth;
  p.a_depth_stride = 1;
  p.b_depth_stride = 1;
  p.b_column_stride = p.depth;
  const DType dtype = node.inputs[0].dtype;
  return PreparedKernel::Of(
      node.inputs.size() == 3 ? ForFloat<WithBias>(dtype) : ForFloat<WithoutBias>(dtype), p);
}

int64_t WorkspaceBytes(const NodeSignature& node, int) {
  const Shape& x = node.inputs[0].shape;
  return PanelBytes(x[x.rank() - 1].size, node.inputs[0].dtype);
}

}  // namespace

KernelDef linear() {
  return {.name = "reference.linear",
          .supports = AllFloat,
          .workspace_bytes = WorkspaceBytes,
          .prepare = Prepare};
}

}  // namespace cgrun::reference
