// Computes matmul and linear by cuBLAS.
#include <climits>

#include "src/kernels/cuda/cublas_product.cuh"
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/launch.cuh"
#include "src/kernels/cuda/number.cuh"
#include "src/ops/matmul.h"

namespace cgrun::cuda {

template <class T>
struct Matmul {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const CublasProduct*>(i.parameters);
    p.Run(context, Data<T>(context, i, 0), Data<T>(context, i, 1), false, Data<T>(context, i, 2),
          Data<std::byte>(context, i, 3));
  }
};

// Writes the bias, a number a column, to each row of y. The product is added to it, so that bf16 is
// rounded once.
template <class T>
struct RowsOfBiasBody {
  const T* bias;
  int64_t columns;
  T* y;
  __device__ void operator()(int64_t e) const { y[e] = bias[e % columns]; }
};

template <class T>
struct LinearWithBias {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const CublasProduct*>(i.parameters);
    T* y = Data<T>(context, i, 3);
    ForEachElement(context, static_cast<int64_t>(p.rows) * p.columns,
                   RowsOfBiasBody<T>{Data<const T>(context, i, 2), p.columns, y});
    p.Run(context, Data<T>(context, i, 0), Data<T>(context, i, 1), true, y,
          Data<std::byte>(context, i, 4));
  }
};

static int64_t PlannedProductWorkspace(const NodeSignature& node, int) {
  return CublasWorkspace(ByteSize(node.outputs[0])) + kLibraryAlignment;
}

static CublasProduct ProductOf(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  CublasProduct p;
  p.handle = CublasHandle();
  p.tf32 = request.tf32;
  p.dtype = p.result = node.outputs[0].dtype;
  p.workspace_bytes = CublasWorkspace(ByteSize(node.outputs[0]));
  return p;
}

static CublasProduct PackMatmul(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const auto& attributes = node.attributes.As<MatmulAttributes>();
  const Shape &a = node.inputs[0].shape, &b = node.inputs[1].shape, &y = node.outputs[0].shape;
  CublasProduct p = ProductOf(request);
  p.rows = static_cast<int>(y[y.rank() - 2].size);
  p.columns = static_cast<int>(y[y.rank() - 1].size);
  p.a_columns = static_cast<int>(a[a.rank() - 1].size);
  p.b_columns = static_cast<int>(b[b.rank() - 1].size);
  p.depth = attributes.transpose_a ? static_cast<int>(a[a.rank() - 2].size) : p.a_columns;
  p.transpose_a = attributes.transpose_a;
  p.transpose_b = attributes.transpose_b;
  const int64_t of_y = static_cast<int64_t>(p.rows) * p.columns;
  p.matrices = static_cast<int>(y.Elements() / of_y);
  p.a_stride = a.rank() == 2 ? 0 : static_cast<int64_t>(p.rows) * p.depth;
  p.b_stride = b.rank() == 2 ? 0 : static_cast<int64_t>(p.depth) * p.columns;
  return p;
}

static CublasProduct PackLinear(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const Shape &x = node.inputs[0].shape, &y = node.outputs[0].shape;
  CublasProduct p = ProductOf(request);
  p.columns = static_cast<int>(y[y.rank() - 1].size);
  p.rows = static_cast<int>(y.Elements() / p.columns);
  p.depth = static_cast<int>(x[x.rank() - 1].size);
  p.a_columns = p.b_columns = p.depth;
  p.transpose_b = true;
  return p;
}

static PreparedKernel PrepareMatmul(const KernelRequest& request) {
  return PreparedKernel::Of(ForFloat<Matmul>(request.node.inputs[0].dtype), PackMatmul(request));
}

static PreparedKernel PrepareLinear(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const DType dtype = node.inputs[0].dtype;
  return PreparedKernel::Of(
      node.inputs.size() == 3 ? ForFloat<LinearWithBias>(dtype) : ForFloat<Matmul>(dtype),
      PackLinear(request));
}

// cuBLAS counts rows, columns and matrices in 32 bits.
static bool SupportsProduct(const NodeSignature& node) {
  if (!AllFloat(node)) return false;
  for (const TensorType& type : node.inputs) {
    for (const Dim& dim : type.shape) {
      if (dim.size > INT_MAX) return false;
    }
  }
  const Shape& y = node.outputs[0].shape;
  return y.Elements() / y[y.rank() - 1].size <= INT_MAX;
}

KernelDef matmul() {
  return {.name = "cuda.matmul",
          .supports = SupportsProduct,
          .workspace_bytes = PlannedProductWorkspace,
          .prepare = PrepareMatmul,
          .tf32 = true};
}
KernelDef linear() {
  return {.name = "cuda.linear",
          .supports = SupportsProduct,
          .workspace_bytes = PlannedProductWorkspace,
          .prepare = PrepareLinear,
          .tf32 = true};
}

}  // namespace cgrun::cuda
