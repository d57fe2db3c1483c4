// Unit: the smallest piece of a search's work, which is a trial on one rung. Units and their
// results are sent to other processes and kept in the journal, so both have a form as JSON.
#ifndef CGRUN_SEARCH_UNIT_H_
#define CGRUN_SEARCH_UNIT_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "src/search/space.h"
#include "src/search/trial_plan.h"

namespace cgrun {

struct Unit {
  int64_t trial = 0;  // from 0
  int64_t rung = 0;   // from 0
  Configuration settings;
  TrialPlan plan;
  int64_t until_epoch = 0;  // in which it ends; 0: where the model ends
  int64_t from_step = 0;    // of the checkpoint from which it goes on; 0: it begins
};

struct UnitResult {
  int64_t trial = 0;
  int64_t rung = 0;
  std::string failure;        // "" if it ended well
  bool interrupted = false;   // it is to be done again
  std::vector<double> curve;  // the metric of `valid` after each evaluation of this unit
  int64_t epochs = 0;         // of the trial so far
  int64_t step = 0;           // likewise
  bool is_over = false;       // the trial has no further epoch
  std::string weights;        // a hash
  double seconds = 0;
  int64_t resident = 0;  // anonymous memory of the process, after the unit, in bytes
};

// The library calls these.
void to_json(nlohmann::json& json, const Unit& unit);
void from_json(const nlohmann::json& json, Unit& unit);
void to_json(nlohmann::json& json, const UnitResult& result);
void from_json(const nlohmann::json& json, UnitResult& result);

}  // namespace cgrun

#endif  // CGRUN_SEARCH_UNIT_H_
