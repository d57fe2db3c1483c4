// Packing as a library: buffers with sizes and lifespans in, an offset for each out, and a proof
// where there is one. This header, memory_problem.h and //src/packing are all it takes.
//
//   MemoryProblem problem;
//   problem.buffers.push_back({.bytes = 4096, .lower = 0, .upper = 3});
//   problem.buffers.push_back({.bytes = 1024, .lower = 2, .upper = 9});
//   const Packing packing = Pack(problem, {.seconds = 1.0});
//   // packing.plan.offsets, .peak_bytes, .lower_bound_bytes; packing.verdict
#ifndef CGRUN_PACKING_PACK_H_
#define CGRUN_PACKING_PACK_H_

#include <cstdint>
#include <optional>
#include <string>

#include "src/packing/memory_problem.h"
#include "src/packing/planner.h"

namespace cgrun {

// A search may take so many nodes if nothing else is said.
inline constexpr int64_t kPackNodes = 10'000'000;

// Limits a search, which a proof ends sooner. Nodes count beyond the greedy orders, which are all
// tried. If the seconds are over, only the first greedy order is still tried.
struct PackBudget {
  // The same nodes give the same plan on every machine. If seconds are given, they count alone, and
  // the plan may depend on the machine's speed.
  int64_t nodes = kPackNodes;
  std::optional<double> seconds = std::nullopt;
};

enum class Verdict {
  kBoundMet,   // optimal: the peak is the sum of what is alive at some step (LowerBound())
  kExhausted,  // optimal: a search went through everything that could be lower
  kGap,        // the best known: the optimum is in [lower_bound_bytes, peak_bytes]
};

struct Packing {
  MemoryPlan plan;  // valid (the validator has checked it), but for `capacity`
  Verdict verdict = Verdict::kGap;
};

// Packs `problem`, which has no ProblemFaults.
Packing Pack(const MemoryProblem& problem, const PackBudget& budget = {});

// Says what is known of a plan of `problem`.
Verdict VerdictOf(const MemoryProblem& problem, const MemoryPlan& plan);

}  // namespace cgrun

#endif  // CGRUN_PACKING_PACK_H_
