// Random packing problems, a pure function of a seed, and slow answers to compare with.
#ifndef CGRUN_TESTS_PLAN_RANDOM_PROBLEM_H_
#define CGRUN_TESTS_PLAN_RANDOM_PROBLEM_H_

#include <cstdint>
#include <vector>

#include "src/base/random.h"
#include "src/plan/memory_problem.h"

namespace cgrun {

// Numbers drawn one after another from a Philox stream.
class Dice {
 public:
  explicit Dice(uint64_t seed) : seed_(seed) {}
  // One of low … high.
  int64_t Between(int64_t low, int64_t high) {
    return low + RandomBits(seed_, 0, next_++) % (high - low + 1);
  }
  bool OneIn(int64_t n) { return Between(1, n) == 1; }

 private:
  uint64_t seed_;
  uint64_t next_ = 0;
};

// At most `most_buffers`, without faults. By the seed: equal or mixed alignments, sizes that are
// multiples of them or not, zero sizes, a few fixed offsets, times with or without gaps, buffers
// that live throughout.
MemoryProblem RandomProblem(uint64_t seed, int64_t most_buffers);

// The same buffers in another order: buffer i of the result is buffer `order[i]` of `problem`.
MemoryProblem Permuted(const MemoryProblem& problem, const std::vector<int64_t>& order);

// The bound by its definition, at every step and for every alignment.
Bytes SlowLowerBound(const MemoryProblem& problem);

// The least peak of any plan, by trying every order with first fit: some order gives an optimum.
// For at most seven buffers or so.
Bytes OptimalPeak(const MemoryProblem& problem);

}  // namespace cgrun

#endif  // CGRUN_TESTS_PLAN_RANDOM_PROBLEM_H_
