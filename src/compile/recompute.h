// Less memory by computing again and by swapping to a file: the part of a compile that trades time
// for it.
#ifndef CGRUN_COMPILE_RECOMPUTE_H_
#define CGRUN_COMPILE_RECOMPUTE_H_

#include <optional>
#include <string_view>

#include "src/compile/compile.h"

namespace cgrun {

// The passes that do it; without one of them the other does what it can.
inline constexpr std::string_view kRematerialisePass = "rematerialise";
inline constexpr std::string_view kSwapPass = "swap";

// Whether tensors may be swapped on the way to a cap, …
bool Swaps(const CompileOptions& options);
// … and kernels work alone, for a smaller workspace.
bool MayWorkAlone(const CompileOptions& options);

// A larger graph takes so long to look at that one way to less memory is tried, in one order.
inline constexpr size_t kMostNodesTriedOften = 4000;
inline bool TakesLong(const Graph& graph) { return graph.nodes.size() > kMostNodesTriedOften; }

struct RecomputeGoal {
  double share = 0;  // of a step's time, that may be spent
  Bytes bytes = 0;   // transient; where they are reached, no more is done
  bool may_swap = false;
  int64_t nodes_searched = 0;  // of schedules, for less time with as few bytes (held_search.h)
  bool is_final = false;       // what misses it is taken all the same, and is to be quick
};

// The entry point as it computes again, right before its later readers, what its schedule would
// hold at the peak: the least of it with which the peak is as low as the goal, or as low as it
// gets. Where it may, and the options name a folder, swaps of tensors compete with that; on the way
// to a final goal smaller workspaces do. Results do not change by a bit. Nothing where that lowers
// nothing.
std::optional<CompiledEntry> RecomputedAtPeak(const CompiledEntry& entry, const Target& target,
                                              const CompileOptions& options,
                                              const RecomputeGoal& goal);

// This does the same in place. Returns false if nothing was gained.
bool RecomputeAtPeak(CompiledEntry& entry, const Target& target, const CompileOptions& options,
                     const RecomputeGoal& goal);

// Has the entry point hold what it computes again, the dearest first, where its schedule has no
// more than `bytes` alive at any step for it: less time. False where nothing can be held so.
bool HoldWhatFits(CompiledEntry& entry, const Target& target, const CompileOptions& options,
                  Bytes bytes);

}  // namespace cgrun

#endif  // CGRUN_COMPILE_RECOMPUTE_H_
