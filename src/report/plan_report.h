// What `cgrun plan` prints: the memory layout of a model as text and as JSON.
#ifndef CGRUN_REPORT_PLAN_REPORT_H_
#define CGRUN_REPORT_PLAN_REPORT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "src/plan/memory_layout.h"

namespace cgrun {

// What a plan is of, beside the layout itself.
struct PlanSubject {
  std::string model;
  std::string device;
  std::string order;
  int64_t batch = 0;
  bool training = true;
  std::vector<std::string> entries;  // names of the entry points, in the layout's order
  int64_t data_bytes = 0;            // loader ring and decoded sets
  std::string data_note;             // why data is not counted; empty where it is
  int64_t base_bytes = 0;            // the process itself
  int64_t eager_peak_bytes = 0;  // what eager mode would need in place of the arena; 0: not told
  double compile_seconds = 0;
  // What `keep` names, as in the file, and the value in the graph that it is.
  std::vector<std::pair<std::string, std::string>> kept = {};
};

// `full` lists every buffer, else the biggest ones stand alone.
std::string PlanText(const PlanSubject& subject, const MemoryLayout& layout, bool full);
std::string PlanJson(const PlanSubject& subject, const MemoryLayout& layout);

// The report of a packing problem planned alone (`cgrun plan FILE.csv`).
std::string PackingText(const MemoryProblem& problem, const MemoryPlan& plan, double seconds);
std::string PackingJson(const MemoryProblem& problem, const MemoryPlan& plan, double seconds);

}  // namespace cgrun

#endif  // CGRUN_REPORT_PLAN_REPORT_H_
