// A plan may spend time for less memory, by these options. The strategies are recomputation,
// swaps, smaller workspaces and other orders; plan_entries.h drives them. A smaller batch is the
// choice of src/fit/fit_run.h.
#ifndef CGRUN_BUDGET_BUDGET_OPTIONS_H_
#define CGRUN_BUDGET_BUDGET_OPTIONS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/transfer_speed.h"
#include "src/passes/pipeline.h"
#include "src/plan/memory_layout.h"

namespace cgrun {

// Names an entry point to compile: a kind of graph for a batch size.
struct EntryRequest {
  std::string name;  // "train", "train.tail"
  EntryKind kind = EntryKind::kTrain;
  int64_t batch = 1;
};

// Says how long planning may take. A quick one tries one way to the cap, and is packed by planner
// `greedy` if no other one was asked for. It takes a fraction of the time, but it can miss a cap.
enum class PlanEffort { kFull, kQuick };

// A folder for a swap file, and how fast its disk is. For a device with memory of its own it is the
// host's memory, and how fast that is reached.
struct SwapFolder {
  std::string path;  // or kSwapToHost
  TransferSpeed speed;
};

// An entry point as it was planned.
struct CompiledEntry {
  EntryRequest request;
  Graph graph;  // bound, with kernels
  Schedule schedule;
};

// All strategies read these options.
struct BudgetOptions {
  std::string order = "memory";  // of Orders()
  LayoutOptions layout;
  PassOptions passes;
  // The share of a step's estimated time that recomputation may take. It may take a twentieth more
  // to close a gap in the packing.
  double recompute_share = 0.02;
  // The most bytes of the arena; 0: any. If it would be larger, more is recomputed or swapped, and
  // kernels become single-threaded. If no way to so few bytes is found, the arena stays larger.
  int64_t arena_cap = 0;
  std::optional<SwapFolder> swap;  // nothing: no tensor is swapped
  PlanEffort effort = PlanEffort::kFull;
  // Says whether a full effort looks for other choices of what is recomputed if the packing is
  // larger than its bound.
  bool closes_gaps = true;
  // Says whether a full effort may let small operators run in parallel streams. The process takes
  // more for that, beside the arena.
  bool streams = true;
  int threads = 1;
};

// The passes of recomputation and of swaps. Without one of them the other does what it can.
inline constexpr std::string_view kRematerialisePass = "rematerialise";
inline constexpr std::string_view kSwapPass = "swap";

// Returns whether tensors may be swapped on the way to a cap.
bool MaySwap(const BudgetOptions& options);
// Returns whether kernels may be single-threaded on the way to a cap, for a smaller workspace.
bool MayUseSmallerWorkspaces(const BudgetOptions& options);

// In a larger graph one way to less memory is tried, in one order: each look takes long.
inline constexpr size_t kMostNodesTriedOften = 4000;
inline bool TakesLong(const Graph& graph) { return graph.nodes.size() > kMostNodesTriedOften; }
// Nodes of a graph for which other orders and a lower arena are not searched in full.
inline constexpr int64_t kLargeGraph = 1300;

// The buffers that are counted: those of the layout without sub-buffers, which come later.
BufferOptions CountedBuffers(const LayoutOptions& layout);
// The same for searches, which do not ask what is kept between runs.
BufferOptions SearchedBuffers(const LayoutOptions& layout);
// Transient bytes that are alive at each step.
std::vector<Bytes> BytesOf(const Graph& graph, const Schedule& schedule,
                           const LayoutOptions& layout);

}  // namespace cgrun

#endif  // CGRUN_BUDGET_BUDGET_OPTIONS_H_
