// Tells which strategies and buffers the options ask for.
#include "src/budget/budget_options.h"

#include "src/passes/decisions.h"

namespace cgrun {

bool MaySwap(const BudgetOptions& options) {
  return options.swap && !options.passes.Disabled(kSwapPass);
}

bool MayUseSmallerWorkspaces(const BudgetOptions& options) {
  return options.arena_cap > 0 && options.threads > 1 &&
         !options.passes.Disabled(kSmallerWorkspacesDecision);
}

BufferOptions CountedBuffers(const LayoutOptions& layout) {
  return {layout.in_place, layout.zones_apart, /*sub_buffers=*/false, layout.incremental};
}

BufferOptions SearchedBuffers(const LayoutOptions& layout) {
  return {layout.in_place, layout.zones_apart};
}

std::vector<Bytes> BytesOf(const Graph& graph, const Schedule& schedule,
                           const LayoutOptions& layout) {
  return TransientBytes(graph, schedule, CountedBuffers(layout));
}

}  // namespace cgrun
