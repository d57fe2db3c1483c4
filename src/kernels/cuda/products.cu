// matmul and linear, by cuBLAS: the product of two row-major matrices is, to its columns, that of
// the factors exchanged. bf16 is computed in f32.
#include <climits>

#include "src/kernels/cuda/handles.cuh"
#include "src/kernels/cuda/kernels.h"
#include "src/kernels/cuda/launch.cuh"
#include "src/kernels/cuda/number.cuh"
#include "src/ops/matmul.h"

namespace cgrun::cuda {

// y = A·B, or y += A·B, for each matrix of a stack; all row-major. `rows` and `columns` are y's.
struct ProductParameters {
  cublasHandle_t handle = nullptr;
  int rows = 0, columns = 0, depth = 0;
  bool transpose_a = false, transpose_b = false;
  int a_columns = 0, b_columns = 0;  // as they lie in memory
  int matrices = 1;
  int64_t a_stride = 0, b_stride = 0;  // from matrix to matrix; 0: the same one
  int64_t workspace_bytes = 0;
};

template <class T>
struct CublasType;
template <>
struct CublasType<double> {
  static constexpr cudaDataType_t kData = CUDA_R_64F;
  static constexpr cublasComputeType_t kCompute = CUBLAS_COMPUTE_64F;
};
template <>
struct CublasType<float> {
  static constexpr cudaDataType_t kData = CUDA_R_32F;
  static constexpr cublasComputeType_t kCompute = CUBLAS_COMPUTE_32F;
};
template <>
struct CublasType<__nv_bfloat16> {
  static constexpr cudaDataType_t kData = CUDA_R_16BF;
  static constexpr cublasComputeType_t kCompute = CUBLAS_COMPUTE_32F;
};

template <class T>
static void RunProduct(const RunContext& context, const ProductParameters& p, const T* a,
                       const T* b, bool adds, T* y, std::byte* workspace) noexcept {
  using Scalar = Compute<T>;
  const Scalar one = 1, before = adds ? 1 : 0;
  Check(cublasSetStream(p.handle, StreamOf(context)));  // which takes the workspace away
  Check(cublasSetWorkspace(p.handle, Aligned(workspace), static_cast<size_t>(p.workspace_bytes)));
  Check(cublasGemmStridedBatchedEx(p.handle, p.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N,
                                   p.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N, p.columns, p.rows,
                                   p.depth, &one, b, CublasType<T>::kData, p.b_columns, p.b_stride,
                                   a, CublasType<T>::kData, p.a_columns, p.a_stride, &before, y,
                                   CublasType<T>::kData, p.columns,
                                   static_cast<int64_t>(p.rows) * p.columns, p.matrices,
                                   CublasType<T>::kCompute, CUBLAS_GEMM_DEFAULT));
}

template <class T>
struct Matmul {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ProductParameters*>(i.parameters);
    RunProduct(context, p, Data<const T>(context, i, 0), Data<const T>(context, i, 1), false,
               Data<T>(context, i, 2), Data<std::byte>(context, i, 3));
  }
};

// The bias, a number a column, in each row of y, to which the product is added: so that bf16 is
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
    const auto& p = *static_cast<const ProductParameters*>(i.parameters);
    T* y = Data<T>(context, i, 3);
    ForEachElement(context, static_cast<int64_t>(p.rows) * p.columns,
                   RowsOfBiasBody<T>{Data<const T>(context, i, 2), p.columns, y});
    RunProduct(context, p, Data<const T>(context, i, 0), Data<const T>(context, i, 1), true, y,
               Data<std::byte>(context, i, 4));
  }
};

// cuBLAS takes what it gets for partial sums; a few times the result is enough for them.
static int64_t ProductWorkspace(const NodeSignature& node) {
  constexpr int64_t kLeast = 64 << 10, kMost = 4 << 20;
  return std::clamp(8 * ByteSize(node.outputs[0]), kLeast, kMost);
}

static int64_t PlannedProductWorkspace(const NodeSignature& node, int) {
  return ProductWorkspace(node) + kLibraryAlignment;
}

static ProductParameters PackMatmul(const NodeSignature& node) {
  const auto& attributes = node.attributes.As<MatmulAttributes>();
  const Shape &a = node.inputs[0].shape, &b = node.inputs[1].shape, &y = node.outputs[0].shape;
  ProductParameters p;
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
  p.workspace_bytes = ProductWorkspace(node);
  return p;
}

static ProductParameters PackLinear(const NodeSignature& node) {
  const Shape &x = node.inputs[0].shape, &y = node.outputs[0].shape;
  ProductParameters p;
  p.columns = static_cast<int>(y[y.rank() - 1].size);
  p.rows = static_cast<int>(y.Elements() / p.columns);
  p.depth = static_cast<int>(x[x.rank() - 1].size);
  p.a_columns = p.b_columns = p.depth;
  p.transpose_b = true;
  p.workspace_bytes = ProductWorkspace(node);
  return p;
}

static PreparedKernel PrepareMatmul(const KernelRequest& request) {
  ProductParameters p = PackMatmul(request.node);
  p.handle = CublasHandle();
  return PreparedKernel::Of(ForFloat<Matmul>(request.node.inputs[0].dtype), p);
}

static PreparedKernel PrepareLinear(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const DType dtype = node.inputs[0].dtype;
  ProductParameters p = PackLinear(node);
  p.handle = CublasHandle();
  return PreparedKernel::Of(
      node.inputs.size() == 3 ? ForFloat<LinearWithBias>(dtype) : ForFloat<Matmul>(dtype), p);
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
          .prepare = PrepareMatmul};
}
KernelDef linear() {
  return {.name = "cuda.linear",
          .supports = SupportsProduct,
          .workspace_bytes = PlannedProductWorkspace,
          .prepare = PrepareLinear};
}

}  // namespace cgrun::cuda
