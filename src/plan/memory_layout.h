// The memory layout of a model: every buffer of every entry point gets its place in one arena.
//
//   arena   | persistent region                     | transient region                        |
//           | forward zone  | optimizer zone        | each entry point in turn uses it whole  |
//           | parameters, … | momentum, …           | activations, gradients, workspaces      |
//
// The entry points (train, eval, their partial batches) run one at a time, so that their transient
// buffers never meet: each is as large as it is alone.
#ifndef CGRUN_PLAN_MEMORY_LAYOUT_H_
#define CGRUN_PLAN_MEMORY_LAYOUT_H_

#include <memory>
#include <string>
#include <vector>

#include "src/base/arena_kind.h"
#include "src/ir/remat_plan.h"
#include "src/packing/planner.h"
#include "src/plan/buffer_assignment.h"
#include "src/plan/packing_store.h"

namespace cgrun {

// Describes one entry point that is ready for planning.
struct PlannedEntry {
  std::string name;  // "train", "train.tail", …
  const Graph* graph = nullptr;
  const Schedule* schedule = nullptr;
};

struct LayoutOptions {
  std::string planner = "portfolio";
  bool zones_apart = false;
  bool in_place = true;
  std::vector<std::string> recompute = {};  // values to compute again for their backward readers
  bool incremental = false;  // programs can run in part: what an input changes (reach.h)
  std::shared_ptr<PackingStore> packings = nullptr;  // of earlier compiles
  bool packs_longer = false;                         // not by the planner, but as PackOnce() does
};

struct PlacedBuffer {
  std::string name;
  Zone zone = Zone::kForward;
  bool persistent = false;
  ArenaKind arena = ArenaKind::kDevice;
  int64_t offset = 0;
  int64_t bytes = 0;
  int entry = -1;  // index of the entry point; −1 for persistent buffers
  Lifespan lifespan;
  std::vector<std::string> values;  // the names of what lies in it, in turn
  SourceMark mark;
  bool recomputed = false;       // its first value is computed a second time
  bool swapped = false;          // something in it is swapped out, or has been
  bool single_threaded = false;  // a workspace of one thread, where its thread team would have more
};

struct EntryLayout {
  IdVector<ValueId, int64_t> offset;           // of each value
  IdVector<NodeId, int64_t> workspace_offset;  // −1 where there is none
  IdVector<ValueId, int> buffer;               // of each value: its index in MemoryLayout::buffers
  IdVector<NodeId, int> workspace_buffer;      // the same of workspaces; −1 where there is none
  IdVector<NodeId, bool> elided;
  int64_t transient_bytes = 0;  // this entry point needs so much of the transient region
  int64_t transient_lower_bound = 0;
  int64_t naive_bytes = 0;  // transient buffers side by side, without reuse and in-place
  int64_t in_place_bytes = 0;
  int64_t file_bytes = 0;    // of the swap file
  bool incremental = false;  // can run in part, for which …
  int64_t kept_bytes = 0;    // … so much of transient_bytes lies untouched between runs
  RematPlan remat;           // decisions that a better plan would need first
};

// Says where a transient zone lies, or how many bytes its buffers need.
struct ZoneUse {
  Zone zone = Zone::kForward;
  int64_t persistent_bytes = 0;
  int64_t transient_bytes = 0;  // the most alive at once in this zone, over the entry points
  int buffers = 0;
};

struct MemoryLayout {
  int64_t arena_bytes = 0;
  int64_t persistent_bytes = 0;
  int64_t transient_bytes = 0;
  int64_t lower_bound_bytes = 0;  // persistent region and the largest transient bound
  bool optimal = false;           // arena = bound
  std::string planner;            // the winner, for the largest entry point
  bool zones_apart = false;
  bool has_sub_buffers = false;  // buffers lie in others (sub_buffers.h)
  double plan_seconds = 0;
  int64_t file_bytes = 0;  // of the swap file, which all entry points use in turn
  int64_t recompute_saved_bytes =
      0;                          // that the arena would need more without what is done for less
  bool cap_out_of_reach = false;  // with all that helps, more is alive at once
  std::vector<ZoneUse> zones;
  std::vector<PlacedBuffer> buffers;
  std::vector<EntryLayout> entries;
};

// Places state by name: entry points share the states of one name, and the constants that agree in
// name and bytes. Every plan is validated.
MemoryLayout PlanLayout(const std::vector<PlannedEntry>& entries, const LayoutOptions& options);

// The packing problem of one entry point's transient buffers, as the planner sees it (for CSV).
// `sub_buffers`: as in the layout.
MemoryProblem TransientProblem(const PlannedEntry& entry, const LayoutOptions& options,
                               bool sub_buffers = true);

}  // namespace cgrun

#endif  // CGRUN_PLAN_MEMORY_LAYOUT_H_
