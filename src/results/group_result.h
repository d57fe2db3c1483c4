// GroupsResult: the models of the groups of a table, as they were trained or measured.
#ifndef CGRUN_RESULTS_GROUP_RESULT_H_
#define CGRUN_RESULTS_GROUP_RESULT_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "src/results/memory_use.h"
#include "src/results/pass_result.h"

namespace cgrun {

struct GroupResult {
  int64_t number = 0;  // from 0, in the order of the training table
  std::string name;    // the value of the column
  int64_t rows = 0;    // of the training table
  std::string reason;  // why there is no model, or no measurement; "" where there is one
  int64_t epochs = 0;
  int64_t steps = 0;
  std::vector<PassResult> passes;  // those of `train`, `valid` and `test` that were measured
  uint64_t weights_hash = 0;       // of the last weights

  // The pass of that split, or null.
  const PassResult* Find(const std::string& split) const;
};

struct GroupsResult {
  std::string model;  // its name
  std::string folder;
  std::string column;  // that names the groups
  std::string device;
  std::string weights;  // the file that was measured; "" of a training
  int64_t batch = 0;
  // Names the loss or metric of a split that ranks the groups; "" where nothing was measured.
  std::string split;
  std::string metric;
  bool higher_is_better = false;
  std::vector<GroupResult> groups;
  int64_t of_before = 0;      // groups that a part of the run before this one has trained
  int64_t weights_bytes = 0;  // of all models together
  int64_t graph_analyses = 0;
  double seconds = 0;
  bool interrupted = false;
  MemoryUse memory;

  // The number that a group is ranked by; nothing where it has none.
  std::optional<double> ValueOf(const GroupResult& group) const;
  int64_t CountWithout() const;  // groups without a model or a measurement
};

// Puts the worst groups first, and those without a value last.
void RankGroups(GroupsResult& result);

// Returns the means over all groups, weighted by their samples: a pass for each split that was
// measured. Numbers that are not finite make a mean that is not.
std::vector<PassResult> MeansOfGroups(const GroupsResult& result);

// The library calls these. A number that is not finite is null there, and NaN when it is read.
void to_json(nlohmann::json& json, const GroupResult& group);
void from_json(const nlohmann::json& json, GroupResult& group);

}  // namespace cgrun

#endif  // CGRUN_RESULTS_GROUP_RESULT_H_
