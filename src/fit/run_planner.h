// Plans of one run: what it would take, with one or another cap on its arena.
#ifndef CGRUN_FIT_RUN_PLANNER_H_
#define CGRUN_FIT_RUN_PLANNER_H_

#include <optional>
#include <string>
#include <vector>

#include "src/fit/child_process.h"
#include "src/fit/run_shape.h"

namespace cgrun {

struct PeakHolder {
  std::string name;
  int64_t bytes = 0;
};

// The largest buffers that are alive where the largest entry point takes most, the largest first.
std::vector<PeakHolder> HoldersOfPeak(const MemoryLayout& layout);
// "classify.conv1 12.0 MiB, …", with sizes as `text` writes them.
std::string HoldersText(const std::vector<PeakHolder>& holders, std::string (*text)(int64_t bytes));

// Holds the memory and the time that a run is planned to take.
struct PlannedRun {
  RunMemory memory;
  int64_t batch = 0;            // of training; fewer than asked for where there are fewer samples
  int64_t recomputations = 0;   // operators that run a second time in a training step,
  int64_t swaps = 0;            // tensors that go to a file and back,
  int64_t single_threaded = 0;  // operators that work on one thread, for a smaller workspace,
  int64_t in_streams = 0;       // operators that run beside others, of all entry points,
  int64_t swap_bytes = 0;       // the swap file's size …
  double slowdown = 0;  // … and how much longer a step takes, streams left out, as it is estimated
  int64_t of_batch = 0;           // bytes of the total that grow with the batch, nearly evenly
  int64_t arena_bound = 0;        // no packing of what is alive takes a smaller arena
  bool cap_out_of_reach = false;  // nor does anything that is tried bring it there
  // The largest of the buffers that are alive where training takes most, the largest first.
  std::vector<PeakHolder> at_peak;

  int64_t total() const { return memory.total(); }
  // The part of it that is there while the run takes steps.
  int64_t in_steps() const { return memory.on_host ? memory.host() : memory.arena; }
};

// Returns the run as JSON in one line.
std::string ToText(const PlannedRun& run);

// Plans training of a model, which is prepared up to its kernels once. If there can be a child
// process, it makes the plan. So a plan does not depend on earlier ones, and leaves nothing behind.
class RunPlanner {
 public:
  // All outlive it. Plan() sets the options that it names; they do not count here.
  RunPlanner(const ModelSpec& model, const KernelLibrary& library, const CompileOptions& options);

  // Plans the run with the arena's cap, the effort, the closing of gaps, the streams and the swap
  // file of `options`. After an error the result is empty.
  std::optional<PlannedRun> Plan(const CompileOptions& options, Diagnostics& diagnostics);

 private:
  const ModelSpec& model_;
  const KernelLibrary& library_;
  AnsweringChild child_;
};

}  // namespace cgrun

#endif  // CGRUN_FIT_RUN_PLANNER_H_
