// Parallel streams: small nodes run at the same time, on a thread each. It is the last choice of a
// plan.
#ifndef CGRUN_BUDGET_PARALLEL_STREAMS_H_
#define CGRUN_BUDGET_PARALLEL_STREAMS_H_

#include <vector>

#include "src/budget/budget_options.h"
#include "src/ops/target.h"

namespace cgrun {

// Gives the entry points, which are planned as `layout`, schedules with parallel streams
// (stream_schedule.h) where that saves time and takes no larger arena. Nodes in a stream get
// single-threaded kernels, which give the same bits. `ran` is told of it.
MemoryLayout UseParallelStreams(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                                const Target& target, const BudgetOptions& options,
                                std::vector<PassReport>& ran);

}  // namespace cgrun

#endif  // CGRUN_BUDGET_PARALLEL_STREAMS_H_
