// What a node's kernel takes on one thread, where that gives the bits of its team: for lanes, and
// for a smaller workspace.
#ifndef CGRUN_COMPILE_ALONE_H_
#define CGRUN_COMPILE_ALONE_H_

#include <cstdint>
#include <optional>

#include "src/ir/graph.h"
#include "src/ops/target.h"

namespace cgrun {

// The node's kernel on one thread, with the bits of its team. Nothing where it has one thread, an
// effect or no kernel, or cannot do that.
std::optional<KernelChoice> ChoiceAlone(const Graph& graph, const Node& node, const Target& target);

// The same where that works in less, with the time that it costs (KernelChoice::slower_by).
std::optional<KernelChoice> SmallerWorkspace(const Graph& graph, const Node& node,
                                             const Target& target);
// What the kernel of a node that works so was before: on a team of `threads`.
KernelChoice WholeTeam(const Graph& graph, const Node& node, const Target& target, int threads);

// The nodes that work so; not those that run again besides.
int64_t CountAlone(const Graph& graph);

}  // namespace cgrun

#endif  // CGRUN_COMPILE_ALONE_H_
