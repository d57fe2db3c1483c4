// Calls of OpenBLAS.
#include "src/kernels/cpu/blas.h"

#include <cblas.h>
#include <omp.h>

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
constexpr size_t kLanes = 2;           // in which products can be side by side

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

// OpenBLAS asks OpenMP how large a team is to be, which each thread can say of its own teams.
OneBlasThread::OneBlasThread(bool alone) {
  if (!alone || omp_in_parallel()) return;
  before_ = omp_get_max_threads();
  omp_set_num_threads(1);
}

OneBlasThread::~OneBlasThread() {
  if (before_ > 0) omp_set_num_threads(before_);
}

void PrepareBlas(int threads, int64_t m, int64_t n, int64_t k) {
  SetThreads(threads);
  const int64_t width = std::min(std::max(m, n), kMostWide), depth = std::min(k, kMostDeep);
  if (width * depth <= widest * deepest) return;
  widest = width;
  deepest = depth;
}

void WarmUpBlas(int threads, bool lanes) {
  constexpr int64_t kNarrow = 32;
  constexpr int kTimes = 4;  // that products begin at once: one of them meets another surely
  const int64_t width = widest, depth = deepest;
  SetThreads(threads);
  const std::vector<float> zeros(static_cast<size_t>(width * depth));
  const MatrixOf<float> rows{zeros.data(), depth, false}, columns{zeros.data(), depth, true};
  const auto multiply = [&](std::vector<float>& product) {
    Multiply<float>(width, kNarrow, depth, rows, columns, 0, product.data(), kNarrow);
    Multiply<float>(kNarrow, width, depth, rows, columns, 0, product.data(), width);
  };
  std::vector<std::vector<float>> products(static_cast<size_t>(threads));
  for (auto& product : products) product.resize(static_cast<size_t>(width * kNarrow));
  multiply(products[0]);
  if (!lanes) return;
#pragma omp parallel num_threads(threads)
  {
    const auto lane = static_cast<size_t>(omp_get_thread_num());
    for (int i = 0; i < kTimes; ++i) {
#pragma omp barrier
      if (lane < kLanes) multiply(products[lane]);
    }
  }
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
