// TrialRunner: runs the units of a search, one after the other, in one heap.
#ifndef CGRUN_SEARCH_TRIAL_RUNNER_H_
#define CGRUN_SEARCH_TRIAL_RUNNER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/device/device.h"
#include "src/search/trial_model.h"
#include "src/search/trial_plan.h"
#include "src/search/unit.h"
#include "src/session/session.h"

namespace cgrun {

// The folder of a trial's run, in the folder of its search: "trials/7" for trial 6.
std::string TrialFolder(const std::string& search_folder, int64_t trial);

class TrialRunner {
 public:
  // All outlive it. `common` are the assignments of all trials.
  TrialRunner(const SearchSpec& search, const Space& space, const std::vector<Assignment>& common,
              const TrialPlace& place, SharedData& data, std::string folder);

  // Takes the heap, or a larger one. Throws UserError if there is too little memory.
  void KeepHeap(int64_t bytes);
  // Gives the heap back. The next unit takes another one.
  void FreeHeap() { device_.reset(); }
  // Trains in the trial's run folder, until the unit's last epoch. An error in the trial is its
  // failure.
  UnitResult Run(const Unit& unit, const RunSignals& signals);

 private:
  void Train(const Unit& unit, const RunSignals& signals, UnitResult& result);

  const SearchSpec& search_;
  const Space& space_;
  const std::vector<Assignment>& common_;
  const TrialPlace& place_;
  SharedData& data_;
  const std::string folder_;
  std::shared_ptr<Device> device_;  // null until a heap is taken
};

}  // namespace cgrun

#endif  // CGRUN_SEARCH_TRIAL_RUNNER_H_
