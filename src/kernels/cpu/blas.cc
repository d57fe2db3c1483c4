// Calls of OpenBLAS.
#include "src/kernels/cpu/blas.h"

#include <cblas.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "src/base/check.h"

namespace cgrun::cpu {
namespace {

CBLAS_TRANSPOSE Transposition(bool transposed) { return transposed ? CblasTrans : CblasNoTrans; }

void SetThreads(int threads) {
  if (openblas_get_num_threads() != threads) openblas_set_num_threads(threads);
}

constexpr int64_t kMostDeep = 512;     // OpenBLAS's blocks are no deeper
constexpr int64_t kMostWide = 32'768;  // what a warm-up may take itself

// The largest block that it copies of products that kernels were prepared for.
int64_t widest = 512;  // rows or columns
int64_t deepest = 512;

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

void PrepareBlas(int threads, int64_t m, int64_t n, int64_t k) {
  SetThreads(threads);
  const int64_t width = std::min(std::max(m, n), kMostWide), depth = std::min(k, kMostDeep);
  if (width * depth <= widest * deepest) return;
  widest = width;
  deepest = depth;
}

void WarmUpBlas(int threads) {
  constexpr int64_t kNarrow = 32;
  const int64_t width = widest, depth = deepest;
  SetThreads(threads);
  const std::vector<float> zeros(static_cast<size_t>(width * depth));
  std::vector<float> product(static_cast<size_t>(width * kNarrow));
  const MatrixOf<float> rows{zeros.data(), depth, false}, columns{zeros.data(), depth, true};
  Multiply<float>(width, kNarrow, depth, rows, columns, 0, product.data(), kNarrow);
  Multiply<float>(kNarrow, width, depth, rows, columns, 0, product.data(), width);
}

std::string BlasVersion() {
  CGRUN_CHECK(openblas_get_parallel() == OPENBLAS_OPENMP) << "another OpenBLAS than OpenMP's";
  const std::string config = openblas_get_config();  // "OpenBLAS 0.3.21 NO_LAPACKE …"
  return config.substr(0, config.find(' ', config.find(' ') + 1)) + " OpenMP " +
         openblas_get_corename();
}

std::string BetterBlasCore() {
  constexpr std::string_view kOldest = "Prescott";
  if (openblas_get_corename() != kOldest) return "";
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")) {
    return "SkylakeX";
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return "";
}

}  // namespace cgrun::cpu
