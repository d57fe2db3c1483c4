// Numbers drawn one after another from a Philox stream: what random tests are made of.
#ifndef CGRUN_TESTS_SUPPORT_DICE_H_
#define CGRUN_TESTS_SUPPORT_DICE_H_

#include <cstdint>
#include <vector>

#include "src/base/random.h"

namespace cgrun {

class Dice {
 public:
  explicit Dice(uint64_t seed) : seed_(seed) {}
  // Returns one of low … high.
  int64_t Between(int64_t low, int64_t high) {
    return low + RandomBits(seed_, 0, next_++) % (high - low + 1);
  }
  bool OneIn(int64_t n) { return Between(1, n) == 1; }
  // One of the items, of which there is one at least.
  template <class T>
  const T& Of(const std::vector<T>& items) {
    return items[static_cast<size_t>(Between(0, static_cast<int64_t>(items.size()) - 1))];
  }

 private:
  uint64_t seed_;
  uint64_t next_ = 0;
};

}  // namespace cgrun

#endif  // CGRUN_TESTS_SUPPORT_DICE_H_
