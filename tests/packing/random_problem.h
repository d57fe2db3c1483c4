// Random packing problems, a pure function of a seed, and slow answers to compare with.
#ifndef CGRUN_TESTS_PACKING_RANDOM_PROBLEM_H_
#define CGRUN_TESTS_PACKING_RANDOM_PROBLEM_H_

#include <cstdint>
#include <vector>

#include "src/packing/memory_problem.h"
#include "tests/support/dice.h"

namespace cgrun {

// Returns a problem of at most `most_buffers`, without faults. The seed decides all: equal or mixed
// alignments, sizes that are multiples of them or not, zero sizes, a few fixed offsets, times with
// or without gaps, buffers that live throughout.
MemoryProblem RandomProblem(uint64_t seed, int64_t most_buffers);

// About `count` buffers that fill a rectangle of 1024 steps and `height` bytes without a gap: it is
// cut again and again, across or into pinwheels of five, the larger ones first. The least peak is
// `height`, which is the bound, too; greedy orders miss it by a third.
MemoryProblem RandomTiling(uint64_t seed, size_t count, Bytes height);

// The same buffers in another order: buffer i of the result is buffer `order[i]` of `problem`.
MemoryProblem Permuted(const MemoryProblem& problem, const std::vector<int64_t>& order);

// Computes the bound by its definition, at every step and for every alignment.
Bytes SlowLowerBound(const MemoryProblem& problem);

// The least peak of any plan, by trying every order with first fit: some order gives an optimum.
// For at most seven buffers or so.
Bytes OptimalPeak(const MemoryProblem& problem);

// The same for up to twelve: every plan in which each buffer is fixed, lies at the bottom or rests
// on another, built from the bottom up, but for those that are no better than the best so far.
Bytes OptimalPeakFromBelow(const MemoryProblem& problem);

}  // namespace cgrun

#endif  // CGRUN_TESTS_PACKING_RANDOM_PROBLEM_H_
