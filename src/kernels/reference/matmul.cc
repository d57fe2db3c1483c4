// Computes matmul by one product for each pair of matrices.
#include "src/ops/matmul.h"

#include "src/kernels/reference/gemm.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

struct MatmulParameters {
  GemmParameters gemm;
  int64_t matrices = 1;
  int64_t a_stride = 0;  // from matrix to matrix; 0: the same one
  int64_t b_stride = 0;
};

template <class T>
struct MatmulKernel {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const MatmulParameters*>(i.parameters);
    const T* a = Data<const T>(context, i, 0);
    const T* b = Data<const T>(context, i, 1);
    T* y = Data<T>(context, i, 2);
    auto* workspace = Data<Compute<T>>(context, i, 3);
    for (int64_t m = 0; m < p.matrices; ++m) {
      Gemm<T>(p.gemm, a + m * p.a_stride, b + m * p.b_stride, nullptr,
              y + m * p.gemm.a.rows * p.gemm.columns, workspace);
    }
  }
};

MatmulParameters PackMatmul(const NodeSignature& node) {
  const auto& attributes = node.attributes.As<MatmulAttributes>();
  const Shape &a = node.inputs[0].shape, &b = node.inputs[1].shape, &y = node.outputs[0].shape;
  const int64_t a_columns = a[a.rank() - 1].size, b_columns = b[b.rank() - 1].size;
  MatmulParameters p;
  p.gemm.a.rows = y[y.rank() - 2].size;
  p.gemm.a.depth = attributes.transpose_a ? a[a.rank() - 2].size : a_columns;
  p.gemm.a.row_stride = attributes.transpose_a ? 1 : a_columns;
  p.gemm.a.depth_stride = attributes.transpose_a ? a_columns : 1;
  p.gemm.columns = y[y.rank() - 1].size;
  p.gemm.b_depth_stride = attributes.transpose_b ? 1 : b_columns;
  p.gemm.b_column_stride = attributes.transpose_b ? b_columns : 1;
  p.matrices = y.Elements() / (p.gemm.a.rows * p.gemm.columns);
  p.a_stride = a.rank() == 2 ? 0 : p.gemm.a.rows * p.gemm.a.depth;
  p.b_stride = b.rank() == 2 ? 0 : p.gemm.a.depth * p.gemm.columns;
  return p;
}

PreparedKernel PrepareMatmul(const KernelRequest& request) {
  return PreparedKernel::Of(ForFloat<MatmulKernel>(request.node.inputs[0].dtype),
                            PackMatmul(request.node));
}

int64_t MatmulWorkspaceBytes(const NodeSignature& node, int) {
  return GemmWorkspace(PackMatmul(node).gemm);
}

}  // namespace

KernelDef matmul() {
  return {.name = "reference.matmul",
          .supports = AllFloat,
          .workspace_bytes = MatmulWorkspaceBytes,
          .prepare = PrepareMatmul};
}

}  // namespace cgrun::reference
