// Single-threaded kernels, which give the bits of their thread team: for parallel streams, and for
// a smaller workspace.
#ifndef CGRUN_BUDGET_SINGLE_THREADED_H_
#define CGRUN_BUDGET_SINGLE_THREADED_H_

#include <cstdint>
#include <optional>

#include "src/budget/budget_options.h"
#include "src/ops/target.h"

namespace cgrun {

// The node's kernel on one thread, with the bits of its thread team. Nothing where it has one
// thread already, an effect or no kernel, or cannot do that.
std::optional<KernelChoice> SingleThreadedChoice(const Graph& graph, const Node& node,
                                                 const Target& target);

// The same where that works in less, with the time that it costs (KernelChoice::slower_by).
std::optional<KernelChoice> SmallerWorkspace(const Graph& graph, const Node& node,
                                             const Target& target);
// The kernel that a single-threaded node had before, on a team of `threads`.
KernelChoice WholeTeam(const Graph& graph, const Node& node, const Target& target, int threads);

// Single-threaded kernels have their thread teams again, those that are slowest without first,
// where no more than `most` bytes are alive at any step then. Returns whether any has.
bool UseWholeTeams(CompiledEntry& entry, const Target& target, const BudgetOptions& options,
                   Bytes most);

// The nodes that are single-threaded for a smaller workspace, recomputations left out.
int64_t CountSingleThreaded(const Graph& graph);

}  // namespace cgrun

#endif  // CGRUN_BUDGET_SINGLE_THREADED_H_
