// Single-threaded kernels, which give the bits of their thread team: for parallel streams, and for
// a smaller workspace.
#ifndef CGRUN_BUDGET_SINGLE_THREADED_H_
#define CGRUN_BUDGET_SINGLE_THREADED_H_

#include <cstdint>
#include <optional>

#include "src/budget/budget_options.h"
#include "src/ops/target.h"

namespace cgrun {

// Returns the node's kernel on one thread, with the bits of its thread team. If the node has one
// thread already, an effect or no kernel, or if the kernel cannot do that, the result is empty.
std::optional<KernelChoice> SingleThreadedChoice(const Graph& graph, const Node& node,
                                                 const Target& target);

// Does the same if the workspace gets smaller, with the time that it costs
// (KernelChoice::slower_by).
std::optional<KernelChoice> SmallerWorkspace(const Graph& graph, const Node& node,
                                             const Target& target);
// Returns the kernel that a single-threaded node had before, on a thread team of `threads`.
KernelChoice WholeTeam(const Graph& graph, const Node& node, const Target& target, int threads);

// Gives single-threaded kernels their thread teams again, the slowest first. A kernel gets its team
// if no more than `most` bytes are alive at any step then. Returns whether any kernel has got one.
bool UseWholeTeams(CompiledEntry& entry, const Target& target, const BudgetOptions& options,
                   Bytes most);

// Counts the nodes that are single-threaded for a smaller workspace. Recomputations are left out.
int64_t CountSingleThreaded(const Graph& graph);

}  // namespace cgrun

#endif  // CGRUN_BUDGET_SINGLE_THREADED_H_
