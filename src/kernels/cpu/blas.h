// Declares the product of matrices by OpenBLAS, and says which OpenBLAS this is.
#ifndef CGRUN_KERNELS_CPU_BLAS_H_
#define CGRUN_KERNELS_CPU_BLAS_H_

#include <cstdint>
#include <string>

#include "src/base/dtype.h"

namespace cgrun::cpu {

// A row-major matrix in memory, or its transpose.
template <class T>
struct MatrixOf {
  const T* data = nullptr;
  int64_t stride = 0;  // elements between rows, as it lies in memory
  bool transposed = false;
};

// Computes C ← A·B + beta·C of f32 or f64, with A of [m, k], B of [k, n] and C row-major,
// `c_stride` elements a row. If beta is 0, C is not read.
template <class T>
void Multiply(int64_t m, int64_t n, int64_t k, const MatrixOf<T>& a, const MatrixOf<T>& b, T beta,
              T* c, int64_t c_stride) noexcept;

// Returns whether products of so many multiplications run on one thread alone. If there are few,
// more threads are not worth it. If there are many, OpenBLAS decides.
inline constexpr bool RunsSingleThreaded(int64_t multiplications, int threads) {
  return multiplications < (threads <= 4 ? 1 << 21 : 1 << 18);
}

// The most rows, columns or depth that OpenBLAS takes.
inline constexpr int64_t kMostBlasSize = INT32_MAX;

// An estimate for one thread, to choose between kernels by.
inline constexpr double kBlasFlopsPerSecond = 40e9;

// A kernel that multiplies [m, k] by [k, n], f32 or f64, must call this when it is prepared. It
// sets the size of OpenBLAS's team, and notes the sizes for WarmUpBlas(). Throws UserError, as
// SetBlasThreads() does.
void PrepareBlas(int threads, DType dtype, int64_t m, int64_t n, int64_t k);

// Makes OpenBLAS take its thread team, and the parts of its buffers that the products so far will
// touch. With `streams`, it also takes the buffers of a product beside another.
void WarmUpBlas(int threads, bool streams);

// "OpenBLAS 0.3.21 OpenMP SkylakeX". Throws UserError if OpenBLAS cannot be loaded.
std::string BlasVersion();

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_BLAS_H_
