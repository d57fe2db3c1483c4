// Declares a pass, which rewrites the graph and says truthfully whether it changed anything. The
// runner (pipeline.h) skips, times, verifies and dumps.
#ifndef CGRUN_PASSES_PASS_H_
#define CGRUN_PASSES_PASS_H_

#include <string_view>
#include <vector>

#include "src/ir/graph.h"
#include "src/ir/remat_plan.h"
#include "src/ops/target.h"

namespace cgrun {

struct PassContext {
  const Target& target;
  bool inexact = false;              // rewrites that can change bits are allowed
  const RematPlan* remat = nullptr;  // the decisions of `plan`, for this very graph
  int64_t batch = 1;                 // of the questions to the target …
  int threads = 1;                   // … and the thread team that they are about
  bool incremental = false;          // programs can run in part: what an input changes
};

using PassFunction = bool (*)(Graph& graph, const PassContext& context);

namespace passes {

// Each in its own file; pipeline.cc says in which order they run, and why.
bool AddInBatchNorm(Graph& graph, const PassContext& context);
bool ClipInBatchNorm(Graph& graph, const PassContext& context);
bool EliminateDeadCode(Graph& graph, const PassContext& context);
bool FuseActivations(Graph& graph, const PassContext& context);
bool FuseElementwise(Graph& graph, const PassContext& context);
bool FuseNorms(Graph& graph, const PassContext& context);
bool FusePools(Graph& graph, const PassContext& context);
bool FuseSums(Graph& graph, const PassContext& context);
bool FuseUpdates(Graph& graph, const PassContext& context);
bool FoldConstants(Graph& graph, const PassContext& context);
bool SimplifyAlgebra(Graph& graph, const PassContext& context);
bool MergeCommonSubexpressions(Graph& graph, const PassContext& context);
bool ReluBeforePoolGrad(Graph& graph, const PassContext& context);
bool ReluBits(Graph& graph, const PassContext& context);
bool Rematerialise(Graph& graph, const PassContext& context);
bool SwapToFile(Graph& graph, const PassContext& context);

}  // namespace passes
}  // namespace cgrun

#endif  // CGRUN_PASSES_PASS_H_
