// Measures the host's peak rates of multiply-adds and of memory, with code of its own and no
// library between. Kernels are compared with these ceilings.
#ifndef CGRUN_DEVICE_PEAKS_H_
#define CGRUN_DEVICE_PEAKS_H_

#include <cstdint>
#include <functional>

namespace cgrun {

struct Peaks {
  int threads = 1;
  double flops_per_second = 0;  // f32 multiply-adds in registers, each of which counts two
  double bytes_per_second = 0;  // a ← b + s·c on vectors beyond the caches: bytes read and written
};

// Takes about half a second, twice that on a busy machine, and `most_bytes` of memory while it
// runs. Fewer bytes than the caches hold give the bandwidth of those caches.
inline constexpr int64_t kPeakBytes = int64_t{192} << 20;
Peaks MeasurePeaks(int threads, int64_t most_bytes = kPeakBytes);

// The best of several measurements, those that something else disturbed left out: it measures until
// six in a row have not bettered what was there by 1 %, 60 times at most.
double BestRate(const std::function<double()>& measure);

}  // namespace cgrun

#endif  // CGRUN_DEVICE_PEAKS_H_
