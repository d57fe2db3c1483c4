// TrialList: the trials of a search so far, each proposed, and planned before it runs.
#ifndef CGRUN_SEARCH_TRIAL_LIST_H_
#define CGRUN_SEARCH_TRIAL_LIST_H_

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/results/search_result.h"
#include "src/search/halving.h"
#include "src/search/proposals.h"
#include "src/search/trial_model.h"
#include "src/search/trial_plan.h"
#include "src/search/unit.h"

namespace cgrun {

struct Trial {
  Configuration settings;
  TrialPlan plan;
  bool can_run = true;               // else it was refused
  std::vector<UnitResult> units;     // by rung
  std::optional<Diagnostics> fault;  // of a model that cannot be built
  TrialResult result;
};

class TrialList {
 public:
  static constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

  // All outlive it. `common` are the assignments of all trials.
  TrialList(const SearchSpec& search, const Space& space, const std::vector<Assignment>& common,
            const TrialPlace& place, SharedData& data);

  // The number of configurations, if they can be counted.
  std::optional<int64_t> configurations() const { return proposals_.count(); }
  // Returns the most trials that budget and space allow.
  int64_t limit() const { return limit_; }
  const std::vector<Rung>& rungs() const { return rungs_; }
  std::vector<Trial>& trials() { return trials_; }
  const std::vector<Trial>& trials() const { return trials_; }
  bool higher_is_better() const { return higher_is_better_; }

  // Returns whether there is a next trial, as far as that is known.
  bool HasNext() const { return !is_exhausted_ && std::ssize(trials_) < limit_; }
  // Returns whether its proposal needs no result that is still to come.
  bool KnowsNext() const;
  // Proposes and plans the next trial. Returns null if no configuration is left, or if its epochs
  // are beyond the budget. An error of data or of the metric goes to `diagnostics`.
  Trial* Next(Diagnostics& diagnostics);
  // Returns the standing of a trial on a rung; nothing before it has run there.
  std::optional<Standing> StandingOf(const Trial& trial, int64_t rung) const;

 private:
  bool NeedsResults() const;
  std::vector<PastTrial> Known() const;
  void Plan(Trial& trial, Diagnostics& diagnostics);
  std::optional<TrialPlan> PlanOf(const ModelSpec& model, const ModelData& data,
                                  Diagnostics& diagnostics);
  void TakePlan(Trial& trial, const TrialPlan& plan) const;
  bool CheckModel(const ModelSpec& model, Diagnostics& diagnostics);

  const SearchSpec& search_;
  const Space& space_;
  const std::vector<Assignment>& common_;
  const TrialPlace& place_;
  SharedData& data_;
  Proposals proposals_;
  int64_t limit_ = kNoLimit;
  std::vector<Rung> rungs_;  // none without successive halving
  std::vector<Trial> trials_;
  std::map<std::string, TrialPlan> plans_;  // by PlanKeyOf()
  int64_t epochs_ = 0;                      // of them
  bool is_exhausted_ = false;
  bool higher_is_better_ = false;
};

// Reports what no trial can have: the fault of a value that all trials with it have. Otherwise such
// trials are refused one by one.
void ReportFaults(const Space& space, const std::vector<Trial>& trials, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_SEARCH_TRIAL_LIST_H_
