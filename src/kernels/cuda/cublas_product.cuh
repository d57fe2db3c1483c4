// Products of row-major matrices by cuBLAS, which give the same bits each time.
#ifndef CGRUN_KERNELS_CUDA_CUBLAS_PRODUCT_CUH_
#define CGRUN_KERNELS_CUDA_CUBLAS_PRODUCT_CUH_

#include "src/base/dtype.h"
#include "src/kernels/cuda/handles.cuh"
#include "src/kernels/kernel.h"

namespace cgrun::cuda {

// Computes y = A·B, or y += A·B, for each matrix of a stack, all row-major. `rows` and `columns`
// are those of y. bf16 is computed in f32.
struct CublasProduct {
  cublasHandle_t handle = nullptr;
  DType dtype = DType::kF32;   // of A and B; f64, f32 or bf16
  DType result = DType::kF32;  // of y: the same, or f32 for bf16
  int rows = 0, columns = 0, depth = 0;
  bool transpose_a = false, transpose_b = false;
  int a_columns = 0, b_columns = 0;  // as they lie in memory
  int matrices = 1;
  int64_t a_stride = 0, b_stride = 0;  // from matrix to matrix; 0: the same one
  int64_t workspace_bytes = 0;         // from a multiple of kLibraryAlignment
  bool tf32 = false;                   // A and B are of f32 and may be rounded to TF32

  // `workspace` is aligned by it.
  void Run(const RunContext& context, const void* a, const void* b, bool adds, void* y,
           std::byte* workspace) const noexcept;
};

// Returns the bytes for partial sums of a product whose result takes `result_bytes`. cuBLAS takes
// what it gets, and a few times the result is enough.
int64_t CublasWorkspace(int64_t result_bytes);

}  // namespace cgrun::cuda

#endif  // CGRUN_KERNELS_CUDA_CUBLAS_PRODUCT_CUH_
