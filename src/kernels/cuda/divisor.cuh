// Dividing by a number that the host knows before.
#ifndef CGRUN_KERNELS_CUDA_DIVISOR_CUH_
#define CGRUN_KERNELS_CUDA_DIVISOR_CUH_

#include <climits>
#include <cstdint>

namespace cgrun::cuda {

// Divides numbers below 2³¹ by a multiplication (Granlund and Montgomery, "Division by Invariant
// Integers using Multiplication", 1994).
class Divisor {
 public:
  Divisor() = default;
  explicit Divisor(int64_t by) : by_(by) {
    if (by > INT_MAX) return;
    while ((int64_t{1} << shift_) < by) ++shift_;
    const uint64_t over = (uint64_t{1} << shift_) - static_cast<uint64_t>(by);
    multiplier_ = static_cast<uint32_t>((over << 32) / static_cast<uint64_t>(by) + 1);
  }

  constexpr int64_t by() const { return by_; }
  // a ÷ by of an `a` that is not negative, rounded down.
  constexpr int64_t Quotient(int64_t a) const {
    if (((a | by_) >> 31) != 0) return a / by_;
    const auto n = static_cast<uint32_t>(a);
    const auto high = static_cast<uint32_t>(uint64_t{multiplier_} * n >> 32);
    return (high + n) >> shift_;
  }
  // Does the same if neither number needs 64 bits.
  constexpr int32_t Quotient(int32_t a) const {
    const auto n = static_cast<uint32_t>(a);
    const auto high = static_cast<uint32_t>(uint64_t{multiplier_} * n >> 32);
    return static_cast<int32_t>((high + n) >> shift_);
  }

 private:
  int64_t by_ = 1;
  uint32_t multiplier_ = 1;
  int shift_ = 0;
};

}  // namespace cgrun::cuda

#endif  // CGRUN_KERNELS_CUDA_DIVISOR_CUH_
