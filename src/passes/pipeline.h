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

// When a pass runs: on the graph as it was differentiated, or on a graph that has its kernels and
// was planned, before it is planned again.
enum class PassStage : uint8_t { kGraph, kPlanned };

// A line of the pipeline. Passes of one group (> 0) run in turn until none of them changes
// anything.
struct PipelineEntry {
  std::string_view name;
  PassFunction run;
  int group;
  PassStage stage;
  std::string_view reason;  // says why it stands at this place
};

std::span<const PipelineEntry> Pipeline();

inline constexpr std::string_view kChainsPass = "fuse_elementwise";

struct PassOptions {
  bool Disabled(std::string_view pass) const;

  std::vector<std::string> disabled;  // names of passes and of decisions (decisions.h)
  std::string stop_after;
  // Called with a pass's name and the graph, before the first pass ("") and after each that ran.
  std::function<void(std::string_view, const Graph&)> observe;
};

// Reports what one pass did, over all its rounds.
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
