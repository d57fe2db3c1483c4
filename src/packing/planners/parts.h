// Taking a problem to pieces that can be planned alone, and putting their plans together.
#ifndef CGRUN_PACKING_PLANNERS_PARTS_H_
#define CGRUN_PACKING_PLANNERS_PARTS_H_

#include <functional>
#include <vector>

#include "src/packing/memory_problem.h"

namespace cgrun {

// Plans one part. No effort is worth its while once the peak is at most `target`.
using PartPlanner = std::function<MemoryPlan(const MemoryProblem& part, Bytes target)>;

// The plans of the time-disconnected parts as one. The target is what no plan of the whole can
// beat: its lower bound, or what an earlier part needs.
MemoryPlan PlanByParts(const MemoryProblem& problem, const PartPlanner& planner);

// Buffers that no other meets, but for those that lie below all of them.
struct ProblemPiece {
  MemoryProblem problem;
  std::vector<BufferId> ids;  // in the whole problem, of each of its buffers
  Bytes base = 0;             // the place of its offset 0 in the whole
};

struct ProblemPieces {
  std::vector<ProblemPiece> pieces;
  std::vector<Bytes> offsets;  // of the whole problem: right for what is in no piece
};

// Cuts where no lifespan crosses; in each part puts what lives through all of it to the bottom
// (below all others it costs what it costs anywhere), and cuts again what is left. Only parts
// without fixed buffers have a bottom, and only sizes that keep every alignment above go there. The
// best plans of the pieces make the best plan of the whole.
ProblemPieces CutIntoPieces(const MemoryProblem& problem);

}  // namespace cgrun

#endif  // CGRUN_PACKING_PLANNERS_PARTS_H_
