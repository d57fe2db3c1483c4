// `cgrun plan --why NAME`: why a value takes memory for as long as it does.
#ifndef CGRUN_REPORT_VALUE_LIFE_H_
#define CGRUN_REPORT_VALUE_LIFE_H_

#include <string>
#include <vector>

#include "src/ir/graph.h"
#include "src/plan/memory_layout.h"
#include "src/plan/schedule.h"

namespace cgrun {

// An operator that makes or reads a value.
struct ValueUse {
  int64_t step = 0;
  std::string node;
  std::string op;
  SourceMark mark;
};

// A value of an entry point. Steps are half-open, as in Lifespan.
struct ValueLife {
  std::string entry;
  std::string name;
  std::string type;  // "f32[64, 20, 24, 24]"
  int64_t bytes = 0;
  Zone zone = Zone::kForward;
  Lifespan lifespan;
  int64_t steps = 0;            // of the entry point
  std::vector<ValueUse> made;   // at most one; none for what is fed or kept between steps
  std::vector<ValueUse> reads;  // in the order of steps
  std::string kept_because;     // says why it outlives its last reader; "" if it does not
  int64_t offset = 0;
  std::vector<std::string> shares_with;  // the other values in its buffer
  int64_t peak_step = 0;                 // the most bytes of the entry point are alive there
  std::string fused = {};  // a value without bytes that was meant, and is computed within this one
  bool is_workspace = false;  // no value, but what the operator of `made` works in
};

// `entry`: an index of `layout.entries`, whose graph and schedule these are.
ValueLife LifeOf(ValueId value, const PlannedEntry& planned, const MemoryLayout& layout, int entry);

// The workspace of a node that has one, by the name that plans give it: "conv1.workspace".
ValueLife LifeOfWorkspace(NodeId node, const PlannedEntry& planned, const MemoryLayout& layout,
                          int entry);

// The step at which the most bytes of an entry point are alive; the first one of several.
int64_t PeakStep(const MemoryLayout& layout, int entry);

// One value in the entry points that have it, the first in full, the others in a line each unless
// `all`.
std::string ValueLivesText(const std::vector<ValueLife>& lives, bool all);
std::string ValueLivesJson(const std::vector<ValueLife>& lives);

// The bytes of workspaces, at the step where the most bytes of an entry point are alive, of kernels
// that compute in f32 on copies of what is bf16.
int64_t CopiesAtPeak(const Graph& graph, const MemoryLayout& layout, int entry);

}  // namespace cgrun

#endif  // CGRUN_REPORT_VALUE_LIFE_H_
