// Prints the memory layout of a model for `cgrun plan`, as text and as JSON.
#ifndef CGRUN_REPORT_PLAN_REPORT_H_
#define CGRUN_REPORT_PLAN_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/plan/memory_layout.h"
#include "src/report/fused_name.h"
#include "src/report/pass_effects.h"
#include "src/report/path_memory.h"

namespace cgrun {

// Describes a value that `keep` of the model file names.
struct KeptValue {
  int entry = 0;      // index of the entry point that keeps it
  std::string name;   // in the file
  std::string value;  // in the graph
  int64_t bytes = 0;
};

// Describes the same graphs as laid out by another planner.
struct ComparedPlan {
  std::string planner;
  int64_t arena_bytes = 0;
  double plan_seconds = 0;
};

// Describes the model, the device and the run of a plan, beside the layout itself.
struct PlanSubject {
  std::string model;
  std::string device;
  std::string order;
  int64_t batch = 0;
  int threads = 0;          // of the host
  std::string precision;    // "f32"
  std::string tuning = "";  // the record that chose kernels; "" where estimates did
  bool training = true;
  std::vector<std::string> entries;  // names of the entry points, in the layout's order …
  std::vector<int64_t> batches;      // … and how many samples each takes
  int64_t data_bytes = 0;            // loader ring and decoded sets
  std::string data_note;             // says why the samples are left out; empty if they are not
  int64_t base_bytes = 0;            // the process itself
  int64_t start_bytes = 0;           // the most before the arena is there
  // A control group must allow this, with mapped code and the kernel's share; and `ulimit -v` the
  // second.
  int64_t container_bytes = 0, address_space_bytes = 0;
  int64_t code_bytes = 0, kernel_bytes = 0;  // of container_bytes
  int64_t copies_bytes = 0;                  // of the first entry point's peak: CopiesAtPeak()
  int64_t eager_peak_bytes = 0;  // eager mode would need these in place of the arena; 0: not told
  double compile_seconds = 0;
  bool swaps_to_host = false;  // the swap space is pinned memory of the host, and no file
  std::optional<int64_t> memory_cap = {};  // bytes that the run may take, where that is said, …
  std::optional<double> slower = {};       // … and how much longer steps take for it
  std::vector<KeptValue> kept = {};
  PathSharing sharing = {};           // of the first entry point …
  std::vector<FusedNode> fused = {};  // … as these
  std::vector<ComparedPlan> compared = {};
  std::optional<PassEffects> passes = {};  // of the first entry point, where they are asked for
};

// The most that the process takes, before the arena is there or in steps.
int64_t TotalBytes(const PlanSubject& subject, const MemoryLayout& layout);

// Returns whether a value that `keep` names lies in the buffer.
bool IsKept(const PlanSubject& subject, const PlacedBuffer& buffer);

// The memory that a run is to fit into, in bytes.
struct MemoryRoom {
  std::string where;                // "this machine"
  int64_t total = 0;                // 0: not known
  int64_t free = 0;                 // with what this process holds of a run's already
  std::string_view place = "here";  // "there", of a machine that is not this one
};

// Returns why a run that takes `bytes` cannot run there, or cannot now; "" where it can.
std::string FaultOfRoom(int64_t bytes, const MemoryRoom& room);

// "1.0000, optimal", "1.0312": peak ÷ lower bound.
std::string RatioText(int64_t peak, int64_t lower_bound, bool optimal);

// Says how much of a plan PlanText() prints, beside the comparison and the effects of passes.
enum class PlanDetail { kNone, kBiggest, kFull };  // no buffers and sums, the biggest, all buffers

// "train.3, eval.3: for the last batch …": what such names among those of entry points mean; ""
// where there is none.
std::string LastBatchNote(const std::vector<std::string>& entries);

std::string PlanText(const PlanSubject& subject, const MemoryLayout& layout, PlanDetail detail);
std::string PlanJson(const PlanSubject& subject, const MemoryLayout& layout);

// These report a packing problem that is planned alone (`cgrun plan FILE.csv`).
std::string PackingText(const MemoryProblem& problem, const MemoryPlan& plan, double seconds);
std::string PackingJson(const MemoryProblem& problem, const MemoryPlan& plan, double seconds);

}  // namespace cgrun

#endif  // CGRUN_REPORT_PLAN_REPORT_H_
