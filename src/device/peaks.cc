// The two loops, compiled for each instruction set; the best one that the machine has runs.
#include "src/device/peaks.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

// The instruction sets of src/kernels/cpu/targets.h: a peak is that of what kernels can use.
#if defined(__x86_64__)
#define HWY_BASELINE_TARGETS HWY_SSE4
#endif
#define HWY_DISABLED_TARGETS HWY_SSSE3

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/device/peaks.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace cgrun {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Twelve chains of multiply-adds: enough to fill two units of latency five. Returns the operations
// that were done; `sink` keeps them from being left out. The chains begin with different numbers:
// a compiler that sees equal ones works out one of them.
double MultiplyAdds(int64_t rounds, float* sink) {
  const hn::ScalableTag<float> d;
  const auto factor = hn::Set(d, 0.999F), term = hn::Set(d, 1e-3F);
  const auto first = hn::Set(d, *sink);
  auto a0 = first, a1 = hn::Add(a0, term), a2 = hn::Add(a1, term), a3 = hn::Add(a2, term);
  auto a4 = hn::Add(a3, term), a5 = hn::Add(a4, term), a6 = hn::Add(a5, term);
  auto a7 = hn::Add(a6, term), a8 = hn::Add(a7, term), a9 = hn::Add(a8, term);
  auto a10 = hn::Add(a9, term), a11 = hn::Add(a10, term);
  for (int64_t i = 0; i < rounds; ++i) {
    a0 = hn::MulAdd(a0, factor, term);
    a1 = hn::MulAdd(a1, factor, term);
    a2 = hn::MulAdd(a2, factor, term);
    a3 = hn::MulAdd(a3, factor, term);
    a4 = hn::MulAdd(a4, factor, term);
    a5 = hn::MulAdd(a5, factor, term);
    a6 = hn::MulAdd(a6, factor, term);
    a7 = hn::MulAdd(a7, factor, term);
    a8 = hn::MulAdd(a8, factor, term);
    a9 = hn::MulAdd(a9, factor, term);
    a10 = hn::MulAdd(a10, factor, term);
    a11 = hn::MulAdd(a11, factor, term);
  }
  const auto sum = hn::Add(
      hn::Add(hn::Add(hn::Add(a0, a1), hn::Add(a2, a3)), hn::Add(hn::Add(a4, a5), hn::Add(a6, a7))),
      hn::Add(hn::Add(a8, a9), hn::Add(a10, a11)));
  *sink += hn::GetLane(sum);
  return 2.0 * 12.0 * static_cast<double>(hn::Lanes(d)) * static_cast<double>(rounds);
}

// a ← b + s·c; `count` is a multiple of every vector length.
void Triad(float* a, const float* b, const float* c, int64_t count) {
  const hn::ScalableTag<float> d;
  const auto factor = hn::Set(d, 3.0F);
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < count; i += lanes) {
    hn::StoreU(hn::MulAdd(factor, hn::LoadU(d, c + i), hn::LoadU(d, b + i)), d, a + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace cgrun
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun {
namespace {

HWY_EXPORT(MultiplyAdds);
HWY_EXPORT(Triad);

constexpr int kSteady = 6;  // measurements that do not better the best
constexpr int kMostMeasurements = 60;
constexpr int64_t kRounds = 2'000'000;
constexpr int64_t kLanesAtMost = 512;

double Seconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double FlopsPerSecond(int threads) {
  const auto multiply_adds = HWY_DYNAMIC_DISPATCH(MultiplyAdds);
  std::vector<float> sinks(static_cast<size_t>(threads) * 16);  // a cache line each
  return BestRate([&] {
    double flops = 0;
    const double seconds = Seconds([&] {
#pragma omp parallel for num_threads(threads) reduction(+ : flops) schedule(static, 1)
      for (int t = 0; t < threads; ++t) {
        flops += multiply_adds(kRounds, &sinks[static_cast<size_t>(t) * 16]);
      }
    });
    return flops / seconds;
  });
}

double BytesPerSecond(int threads, int64_t most_bytes) {
  const auto triad = HWY_DYNAMIC_DISPATCH(Triad);
  constexpr int64_t kVectors = 3;
  const int64_t share = most_bytes / kVectors / static_cast<int64_t>(sizeof(float)) / threads /
                        kLanesAtMost * kLanesAtMost;
  if (share == 0) return 0;
  const auto elements = static_cast<size_t>(share * threads);
  std::vector<float> a(elements), b(elements, 1.0F), c(elements, 2.0F);
  const double bytes = 3.0 * sizeof(float) * static_cast<double>(share) * threads;
  return BestRate([&] {
    return bytes / Seconds([&] {
#pragma omp parallel for num_threads(threads) schedule(static, 1)
             for (int t = 0; t < threads; ++t) {
               const int64_t begin = t * share;
               triad(a.data() + begin, b.data() + begin, c.data() + begin, share);
             }
           });
  });
}

}  // namespace

double BestRate(const std::function<double()>& measure) {
  double best = 0;
  for (int all = 0, steady = 0; all < kMostMeasurements && steady < kSteady; ++all) {
    const double rate = measure();
    steady = rate > 1.01 * best ? 0 : steady + 1;
    best = std::max(best, rate);
  }
  return best;
}

Peaks MeasurePeaks(int threads, int64_t most_bytes) {
  return {threads, FlopsPerSecond(threads), BytesPerSecond(threads, most_bytes)};
}

}  // namespace cgrun
#endif
