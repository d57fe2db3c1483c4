// Checks a plan against its problem, with nothing of the planners' code: a sweep over time, O(n log
// n), sees whether anything overlaps; where something does, every pair of buffers is compared, to
// name all culprits. Entry point: ValidatePlan.
#ifndef CGRUN_PACKING_VALIDATOR_H_
#define CGRUN_PACKING_VALIDATOR_H_

#include <cstddef>
#include <string>
#include <vector>

#include "src/packing/memory_problem.h"

namespace cgrun {

struct Violation {
  enum class Kind {
    kOffsetCount,     // not one offset a buffer; nothing else is checked then
    kNegativeOffset,  // the buffer begins below the arena
    kAlignment,       // the offset is not a multiple of the buffer's alignment
    kFixedOffset,     // the offset is not the one that the problem fixes
    kCapacity,        // the buffer ends beyond the problem's capacity
    kOverlap,         // `first` and `second` share bytes in a step
    kPeak,            // the reported peak is not the largest end
    kBound,           // the reported bound is above the peak, or `optimal` does not follow from it
  };
  Kind kind;
  BufferId first;       // the culprit; for a wrong peak, who ends highest; invalid if nobody
  BufferId second;      // the other culprit of an overlap, first < second; else invalid
  std::string message;  // a sentence with the names, lifespans and byte ranges of the culprits
};

// All violations, at most `limit`: first of single buffers, then of pairs, then of the figures;
// none for a right plan. The problem has no ProblemFaults; the plan may hold anything. Buffers of
// zero bytes overlap with nothing and have no part in capacity and peak.
std::vector<Violation> ValidatePlan(const MemoryProblem& problem, const MemoryPlan& plan,
                                    size_t limit = 100);

// The same of a plan that may be larger than the problem's capacity.
std::vector<Violation> ValidateWithoutCapacity(const MemoryProblem& problem, const MemoryPlan& plan,
                                               size_t limit = 100);

// One message a line.
std::string ToString(const std::vector<Violation>& violations);

}  // namespace cgrun

#endif  // CGRUN_PACKING_VALIDATOR_H_
