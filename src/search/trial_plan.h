// The plan of a trial: what it takes, before it runs.
#ifndef CGRUN_SEARCH_TRIAL_PLAN_H_
#define CGRUN_SEARCH_TRIAL_PLAN_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "src/compile/compile.h"
#include "src/device/host_limits.h"
#include "src/search/trial_model.h"

namespace cgrun {

struct TrialPlan {
  int64_t arena = 0;             // bytes
  int64_t data = 0;              // decoded bytes, which trials share
  int64_t memory = 0;            // bytes of a process that runs it alone: arena, data and the rest
  int64_t arena_cap = 0;         // CompileOptions::arena_cap with which it was planned; 0: none
  int64_t epochs = 0;            // that it trains for
  double seconds_per_epoch = 0;  // by the cost model
  std::string refusal;           // says why it does not fit; "" if it fits
};

// All trials have this in common.
struct TrialPlace {
  std::string device;
  int threads = 1;
  std::optional<int64_t> cap;  // bytes of the search
  // Makes the options of compiling, but for the threads.
  std::function<CompileOptions(const ModelSpec& model)> options;
  TreeExpander expand = {};  // of model files
  // Returns a file of weights with which a new run begins, or "".
  std::function<std::string(const ModelSpec& model)> initial_weights = {};
};

CompileOptions OptionsOf(const TrialPlace& place, const ModelSpec& model, const TrialPlan& plan);

// The epochs that the model trains for: its own, or those of its steps.
int64_t EpochsOfModel(const ModelSpec& model, const ModelData& data);

// Two models with the same key have the same plan but for its epochs: they differ in rates, seeds,
// length and the contents of their data alone.
std::string PlanKeyOf(const ModelSpec& model, const ModelData& data);

// Plans training of a model. If it takes more than the cap, it is planned for a smaller arena, and
// refused if that does not suffice. Errors of the model go to `diagnostics`: then the result is
// empty.
std::optional<TrialPlan> PlanTrial(const ModelSpec& model, const ModelData& data,
                                   const TrialPlace& place, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_SEARCH_TRIAL_PLAN_H_
