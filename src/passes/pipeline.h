// Runs the passes of the pipeline.
#ifndef CGRUN_PASSES_PIPELINE_H_
#define CGRUN_PASSES_PIPELINE_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "src/passes/pass.h"

namespace cgrun {

// When a pass runs: on the graph as it was differentiated, while kernels are selected, on a graph
// that has its kernels and was planned, before it is planned again, or on the order of its nodes.
enum class PassStage : uint8_t { kGraph, kSelection, kPlanned, kOrder };

// A line of the pipeline. Passes of one group (> 0) run in turn until none of them changes
// anything.
struct PipelineEntry {
  std::string_view name;
  PassFunction run;  // null in kSelection and kOrder, whose passes are choices made there
  int group;
  PassStage stage;
  std::string_view reason;  // why it stands where it stands
};

std::span<const PipelineEntry> Pipeline();
// For SuggestName().
std::vector<std::string> PassNames();

// The pass of kSelection: tensors travel between operators in the layouts of their kernels. Without
// it they are plain, and kernels are chosen as eager mode chooses them: with the same bits.
inline constexpr std::string_view kLayoutsPass = "layouts";
// The passes of kOrder: under a cap, kernels that hold the peak work on one thread, in a smaller
// workspace; small nodes that do not depend on each other run side by side.
inline constexpr std::string_view kSmallerWorkspacesPass = "smaller_workspaces";
inline constexpr std::string_view kLanesPass = "lanes";
inline constexpr std::string_view kChainsPass = "fuse_elementwise";

struct PassOptions {
  bool Disabled(std::string_view pass) const;

  std::vector<std::string> disabled;
  std::string stop_after;
  // Called with a pass's name and the graph, before the first pass ("") and after each that ran.
  std::function<void(std::string_view, const Graph&)> observe;
};

// What one pass did, over all its rounds.
struct PassReport {
  std::string name;
  int rounds = 0;
  int changed_rounds = 0;
  int nodes_removed = 0;  // negative where it added some
  double seconds = 0;     // of the thread's own time
};

// Runs `passes` in order, groups until nothing changes. After each pass the graph is verified, and
// the pass's word whether it changed anything is checked: a violation is a bug of the pass and
// fails a check that names it.
std::vector<PassReport> RunPipeline(std::span<const PipelineEntry> passes, Graph& graph,
                                    const PassContext& context, const PassOptions& options = {});

// Runs the passes of Pipeline() that belong to a stage.
std::vector<PassReport> RunPasses(Graph& graph, const PassContext& context,
                                  const PassOptions& options = {},
                                  PassStage stage = PassStage::kGraph);

}  // namespace cgrun

#endif  // CGRUN_PASSES_PIPELINE_H_
