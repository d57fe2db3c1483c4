// Calls of OpenBLAS.
#include "src/kernels/cpu/blas.h"

#include <cblas.h>

#include <vector>

#include "src/base/check.h"

namespace cgrun::cpu {
namespace {

CBLAS_TRANSPOSE Transposition(bool transposed) { return transposed ? CblasTrans : CblasNoTrans; }

}  // namespace

template <>
void Multiply(int64_t m, int64_t n, int64_t k, const MatrixOf<float>& a, const MatrixOf<float>& b,
              float beta, float* c, int64_t c_stride) noexcept {
  cblas_sgemm(CblasRowMajor, Transposition(a.transposed), Transposition(b.transposed),
              static_cast<blasint>(m), static_cast<blasint>(n), static_cast<blasint>(k), 1, a.data,
              static_cast<blasint>(a.stride), b.data, static_cast<blasint>(b.stride), beta, c,
              static_cast<blasint>(c_stride));
}

template <>
void Multiply(int64_t m, int64_t n, int64_t k, const MatrixOf<double>& a, const MatrixOf<double>& b,
              double beta, double* c, int64_t c_stride) noexcept {
  cblas_dgemm(CblasRowMajor, Transposition(a.transposed), Transposition(b.transposed),
              static_cast<blasint>(m), static_cast<blasint>(n), static_cast<blasint>(k), 1, a.data,
              static_cast<blasint>(a.stride), b.data, static_cast<blasint>(b.stride), beta, c,
              static_cast<blasint>(c_stride));
}

void SetBlasThreads(int threads) {
  if (openblas_get_num_threads() != threads) openblas_set_num_threads(threads);
}

void WarmUpBlas(int threads) {
  constexpr int64_t kSize = 512;
  SetBlasThreads(threads);
  const std::vector<float> zeros(kSize * kSize);
  std::vector<float> product(kSize * kSize);
  const MatrixOf<float> matrix{zeros.data(), kSize, false};
  Multiply<float>(kSize, kSize, kSize, matrix, matrix, 0, product.data(), kSize);
}

std::string BlasVersion() {
  CGRUN_CHECK(openblas_get_parallel() == OPENBLAS_OPENMP) << "another OpenBLAS than OpenMP's";
  const std::string config = openblas_get_config();  // "OpenBLAS 0.3.21 NO_LAPACKE …"
  return config.substr(0, config.find(' ', config.find(' ') + 1)) + " OpenMP " +
         openblas_get_corename();
}

}  // namespace cgrun::cpu
