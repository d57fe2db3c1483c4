// The pass pipeline and its runner.
#ifndef CGRUN_PASSES_PIPELINE_H_
#define CGRUN_PASSES_PIPELINE_H_

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "src/passes/pass.h"

namespace cgrun {

// A line of the pipeline. Passes of one group (> 0) run in turn until none of them changes
// anything.
struct PipelineEntry {
  std::string_view name;
  PassFunction run;
  int group;
  std::string_view reason;  // why it stands where it stands
};

std::span<const PipelineEntry> Pipeline();
// For SuggestName().
std::vector<std::string> PassNames();

struct PassOptions {
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
  double seconds = 0;
};

// Runs the pipeline. After each pass the graph is verified, and the pass's word whether it changed
// anything is checked: a violation is a bug of the pass and fails a check that names it.
std::vector<PassReport> RunPasses(Graph& graph, const PassContext& context,
                                  const PassOptions& options = {});

}  // namespace cgrun

#endif  // CGRUN_PASSES_PIPELINE_H_
