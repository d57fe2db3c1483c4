// `cgrun plan --diff OLD.json`: what a change of the model, or of cgrun, does to the memory of a
// run.
#ifndef CGRUN_REPORT_PLAN_DIFF_H_
#define CGRUN_REPORT_PLAN_DIFF_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cgrun {

// A figure of both plans, in bytes.
struct PlanFigure {
  std::string name;  // "arena"
  int64_t before = 0;
  int64_t after = 0;
};

// A buffer of one plan, or of both in different sizes; −1 where a plan has none of that name.
struct BufferChange {
  std::string entry;  // "" for what all entry points share
  std::string name;
  int64_t before = -1;
  int64_t after = -1;
};

// The two plans were made with different values of this setting.
struct ChangedSetting {
  std::string name;  // "batch"
  std::string before;
  std::string after;
};

struct PlanDiff {
  std::vector<ChangedSetting> settings;
  std::vector<PlanFigure> figures;    // the total, the arena, data, base, the eager peak, each zone
  std::vector<BufferChange> buffers;  // by the size of the change, the largest first
  // The arena and the data have grown by this. The base is left out: it is the process, and differs
  // from run to run.
  int64_t grew_bytes = 0;
};

// Both are what `cgrun plan --json` prints. Throws InputError where `before` is no such text, or of
// another model, with `before_name`, the file that it is from.
PlanDiff DiffPlans(std::string_view before, const std::string& before_name, std::string_view after);

std::string PlanDiffText(const PlanDiff& diff);
std::string PlanDiffJson(const PlanDiff& diff);

}  // namespace cgrun

#endif  // CGRUN_REPORT_PLAN_DIFF_H_
