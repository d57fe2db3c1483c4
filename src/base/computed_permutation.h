// A random permutation that takes no memory: for numbers that are too many for a list.
#ifndef CGRUN_BASE_COMPUTED_PERMUTATION_H_
#define CGRUN_BASE_COMPUTED_PERMUTATION_H_

#include <cstdint>

namespace cgrun {

// A permutation of 0 … size−1, a pure function of `key` and `size`. It is a Feistel network over
// the next even number of bits, which is walked until it comes to a number below `size` (Black and
// Rogaway, Ciphers with Arbitrary Finite Domains, 2002).
class ComputedPermutation {
 public:
  // `size` is at least 1.
  ComputedPermutation(uint64_t key, int64_t size);

  int64_t size() const { return size_; }
  // `i` lies in 0 … size−1.
  int64_t operator[](int64_t i) const;

 private:
  uint64_t key_;
  int64_t size_;
  int half_bits_ = 1;  // of each half of a number
};

}  // namespace cgrun

#endif  // CGRUN_BASE_COMPUTED_PERMUTATION_H_
