// Calls of OpenBLAS.
#include "src/kernels/cpu/blas.h"

#include <cblas.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <string_view>
#include <thread>
#include <vector>

#include "src/base/check.h"

namespace cgrun::cpu {
namespace {

CBLAS_TRANSPOSE Transposition(bool transposed) { return transposed ? CblasTrans : CblasNoTrans; }

void SetThreads(int threads) {
  if (openblas_get_num_threads() != threads) openblas_set_num_threads(threads);
}

constexpr int64_t kMostDeep = 384;     // OpenBLAS's blocks are no deeper
constexpr int64_t kMostWide = 32'768;  // what a warm-up may take itself

// The largest block that it copies of products that kernels were prepared for.
int64_t widest = 512;  // rows or columns
int64_t deepest = 256;

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

namespace {

// Products that fill as much of a buffer as any that was prepared, either way round. What is deeper
// than OpenBLAS's blocks is cut in halves, which fill less: so they are of several depths.
class WidestProducts {
 public:
  // `times`: of the narrow side.
  explicit WidestProducts(int64_t times = 1)
      : narrow_(times * kNarrow),
        zeros_(static_cast<size_t>(std::max(width_, narrow_) * deepest_)),
        product_(static_cast<size_t>(width_ * narrow_)) {}

  void Multiply() {
    Multiply(deepest_);
    for (const int64_t depth : {320, 256}) {
      if (depth < deepest_) Multiply(depth);
    }
  }

 private:
  static constexpr int64_t kNarrow = 32;  // what is wide fills buffers

  void Multiply(int64_t depth) {
    const MatrixOf<float> rows{zeros_.data(), depth, false}, columns{zeros_.data(), depth, true};
    cpu::Multiply<float>(width_, narrow_, depth, rows, columns, 0, product_.data(), narrow_);
    cpu::Multiply<float>(narrow_, width_, depth, rows, columns, 0, product_.data(), width_);
  }

  int64_t width_ = widest, deepest_ = deepest;
  int64_t narrow_;
  std::vector<float> zeros_, product_;
};

// OpenBLAS takes the first of its buffers that is free: the second one is touched by a product that
// runs while another does. Tries until one has begun and ended within another for certain.
void MultiplyInBothLanes(int threads, WidestProducts& product) {
  constexpr int kMostTries = 32;
  WidestProducts longer(8);
  std::atomic<int> begun_or_ended = 0;  // of the longer one: odd while it runs
  std::atomic<bool> met = false;
#pragma omp parallel num_threads(threads)
  {
    const int lane = omp_get_thread_num();
    for (int i = 0; i < kMostTries && !met && omp_get_num_threads() > 1; ++i) {
#pragma omp barrier
      if (lane == 0) {
        ++begun_or_ended;
        longer.Multiply();
        ++begun_or_ended;
      } else if (lane == 1) {
        const int begun = 2 * i + 1;
        while (begun_or_ended < begun) std::this_thread::yield();
        product.Multiply();
        if (begun_or_ended == begun) met = true;
      }
#pragma omp barrier
    }
  }
}

}  // namespace

void WarmUpBlas(int threads, bool lanes) {
  SetThreads(threads);
  WidestProducts product;
  product.Multiply();
  if (lanes && threads > 1) MultiplyInBothLanes(threads, product);
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
