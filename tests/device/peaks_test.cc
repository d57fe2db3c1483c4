// The measured ceilings of the host are numbers that a machine of this century can have, and a
// product of matrices comes near them.
#include "src/device/peaks.h"

#include <cblas.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string_view>
#include <vector>

#include "src/device/device.h"

namespace cgrun {
namespace {

TEST(Peaks, AreThoseOfARealMachine) {
  const Peaks peaks = MeasurePeaks(1);
  EXPECT_EQ(peaks.threads, 1);
  EXPECT_GT(peaks.flops_per_second, 0.5e9);
  EXPECT_LT(peaks.flops_per_second, 5e12);
  EXPECT_GT(peaks.bytes_per_second, 0.1e9);
  EXPECT_LT(peaks.bytes_per_second, 5e12);
}

// FLOP/s of OpenBLAS on one thread, the best of some products.
double ProductFlopsPerSecond() {
  constexpr int kSize = 1024, kRepetitions = 8;
  openblas_set_num_threads(1);
  const std::vector<float> a(kSize * kSize, 0.5F), b(kSize * kSize, 0.25F);
  std::vector<float> c(kSize * kSize);
  double best = 0;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    const auto begin = std::chrono::steady_clock::now();
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, kSize, kSize, kSize, 1, a.data(), kSize,
                b.data(), kSize, 0, c.data(), kSize);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    best = std::max(best, 2.0 * kSize * kSize * kSize / seconds.count());
  }
  return best;
}

TEST(Peaks, AreWhatAProductOfMatricesComesNear) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer slows our loop, not the library's";
#endif
#if defined(__x86_64__)
  if (openblas_get_corename() == std::string_view("Prescott") && __builtin_cpu_supports("avx2")) {
    GTEST_SKIP() << "OpenBLAS does not know this processor, and multiplies as on its oldest one; "
                    "cgrun tells it by OPENBLAS_CORETYPE";
  }
#endif
  const double peak = MeasurePeaks(1).flops_per_second;
  const double product = ProductFlopsPerSecond();
  EXPECT_GE(product, 0.3 * peak);
  EXPECT_LE(product, 1.1 * peak);
}

// Measurements of a machine that something else keeps busy at first.
TEST(Peaks, AreMeasuredUntilTheyGrowNoMore) {
  std::vector<double> rates = {10, 11, 10, 10, 10, 10, 20, 19, 19};
  size_t measured = 0;
  const auto measure = [&] { return measured < rates.size() ? rates[measured++] : 20.1; };
  EXPECT_DOUBLE_EQ(BestRate(measure), 20.1);  // no better by 1 %, and still the best
  EXPECT_EQ(measured, rates.size());
  int calls = 0;
  EXPECT_DOUBLE_EQ(BestRate([&] { return std::pow(1.1, ++calls); }), std::pow(1.1, 60));
  EXPECT_EQ(calls, 60) << "a rate that grows for ever";
}

TEST(Peaks, HostThreadsAreThoseThatMayRun) { EXPECT_GE(HostThreads(), 1); }

}  // namespace
}  // namespace cgrun
