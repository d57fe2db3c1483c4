// Prints the profile of --profile and -v: where the time of a run went, compared with the machine's
// ceilings. It also writes the trace, which Perfetto and chrome://tracing open.
#ifndef CGRUN_REPORT_PROFILE_REPORT_H_
#define CGRUN_REPORT_PROFILE_REPORT_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/base/operator_times.h"
#include "src/ir/graph.h"

namespace cgrun {

// One operator of one entry point, with what it took over the run.
struct OperatorProfile {
  std::string name;    // "classify.conv1"
  std::string kernel;  // "onednn.conv"
  Phase phase = Phase::kForward;
  int64_t flops = 0;  // of one call
  int64_t bytes = 0;  // of its operands, each once
  OperatorTime time;
  bool fewer_operations = false;  // than `flops` says: its kernel goes by Winograd's algorithm
};

struct EntryProfile {
  std::string name;  // "train"
  int64_t batch = 0;
  std::vector<OperatorProfile> operators;  // in the program's order
};

// The machine's measured ceilings. 0: not known.
struct Ceilings {
  int threads = 1;
  double flops_per_second = 0;
  double bytes_per_second = 0;
};

// An operator is bound by the ceiling that it comes nearest to, or by overhead where it comes near
// to none.
enum class Bound : uint8_t { kCompute, kMemory, kOverhead };
Bound BoundOf(double flops_per_second, double bytes_per_second, const Ceilings& ceilings);

// Describes the entry points and operators that ran: their time by phase and by kernel. With
// `full`, the slowest operators follow one by one. If the entry point of whole batches ran, too,
// the operators of a last batch ("train.15") are only named. A share of more than 100 % has a mark,
// and a note says why.
std::string ProfileText(std::span<const EntryProfile> entries, const Ceilings& ceilings, bool full);
// Returns the same as one JSON object, with every operator that ran. `exceeded` says which peaks
// were.
std::string ProfileJson(std::span<const EntryProfile> entries, const Ceilings& ceilings);

// The runs in the format of Chrome's trace viewer; `entries` names what ran.
std::string TraceJson(std::span<const EntryProfile> entries, std::span<const OperatorRun> runs);

}  // namespace cgrun

#endif  // CGRUN_REPORT_PROFILE_REPORT_H_
