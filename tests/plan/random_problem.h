// Random packing problems, a pure function of a seed, and slow answers to compare with.
#ifndef CGRUN_TESTS_PLAN_RANDOM_PROBLEM_H_
#define CGRUN_TESTS_PLAN_RANDOM_PROBLEM_H_

#include <cstdint>
#include <vector>

#include "src/plan/memory_problem.h"
#include "tests/support/dice.h"

namespace cgrun {

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
