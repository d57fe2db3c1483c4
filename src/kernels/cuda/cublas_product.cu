// The call: the product of two row-major matrices is, to cuBLAS's columns, that of the factors
// exchanged.
#include <algorithm>

#include "src/kernels/cuda/cublas_product.cuh"
#include "src/kernels/cuda/launch.cuh"

namespace cgrun::cuda {

static cudaDataType_t DataType(DType dtype) {
  if (dtype == DType::kF64) return CUDA_R_64F;
  return dtype == DType::kBF16 ? CUDA_R_16BF : CUDA_R_32F;
}

static cublasComputeType_t ComputeType(DType dtype, bool tf32) {
  if (dtype == DType::kF64) return CUBLAS_COMPUTE_64F;
  return tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

void CublasProduct::Run(const RunContext& context, const void* a, const void* b, bool adds, void* y,
                        std::byte* workspace) const noexcept {
  const bool f64 = dtype == DType::kF64;
  const double one_f64 = 1, before_f64 = adds ? 1 : 0;
  const float one_f32 = 1, before_f32 = adds ? 1 : 0;
  const void* const one = f64 ? static_cast<const void*>(&one_f64) : &one_f32;
  const void* const before = f64 ? static_cast<const void*>(&before_f64) : &before_f32;
  Check(cublasSetStream(handle, StreamOf(context)));  // this call takes the workspace away
  Check(cublasSetWorkspace(handle, Aligned(workspace), static_cast<size_t>(workspace_bytes)));
  Check(cublasGemmStridedBatchedEx(handle, transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N,
                                   transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N, columns, rows, depth,
                                   one, b, DataType(dtype), b_columns, b_stride, a, DataType(dtype),
                                   a_columns, a_stride, before, y, DataType(result), columns,
                                   static_cast<int64_t>(rows) * columns, matrices,
                                   ComputeType(dtype, tf32), CUBLAS_GEMM_DEFAULT));
}

int64_t CublasWorkspace(int64_t result_bytes) {
  constexpr int64_t kLeast = 64 << 10, kMost = 4 << 20;
  return std::clamp(8 * result_bytes, kLeast, kMost);
}

}  // namespace cgrun::cuda
