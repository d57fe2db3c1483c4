// SearchResult: the trials of a search, as they were planned and as they ended.
#ifndef CGRUN_RESULTS_SEARCH_RESULT_H_
#define CGRUN_RESULTS_SEARCH_RESULT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cgrun {

enum class TrialState {
  kPlanned,  // it has not begun, or goes on
  kRefused,  // its plan does not fit into the memory
  kFailed,   // it ended with an error
  kStopped,  // others were better at a rung
  kDone,     // it has trained for all its epochs
};
// "planned", "refused", …
const char* Name(TrialState state);

struct TrialResult {
  int64_t number = 0;                 // from 1, in the order in which the trials were proposed
  std::vector<std::string> settings;  // of SearchResult::parameters; "" if one does not count
  TrialState state = TrialState::kPlanned;
  std::string reason;            // says why it was refused, or failed
  std::optional<double> value;   // the best of `curve`
  std::vector<double> curve;     // the metric of `valid` after each evaluation
  int64_t rung = -1;             // the last one that it has left, from 0
  int64_t epochs = 0;            // that it has trained for
  int64_t planned_epochs = 0;    // that it trains for if nothing stops it
  int64_t arena = 0;             // bytes
  int64_t memory = 0;            // bytes of a process that runs it
  double estimated_seconds = 0;  // of all its epochs, by the cost model
  double seconds = 0;            // of training and evaluation
  int64_t resident = 0;          // anonymous memory of the process after the trial, in bytes
  std::string weights;           // a hash of the weights that it ended with
  std::string folder;            // its run folder; "" if it is gone
};

struct RungResult {
  int64_t epochs = 0;
  int64_t trials = 0;
};

// A trial whose predictions are a part of an ensemble's.
struct EnsembleMember {
  int64_t trial = 0;
  int64_t picks = 0;  // its weight is these, divided by those of all members
};

// A trial that cannot be a member.
struct EnsembleRefusal {
  int64_t trial = 0;
  std::string reason;
};

// One half of the samples of `valid` chose the members, and the values are of the other half.
struct EnsembleResult {
  bool greedy = false;  // else the members are the best trials
  std::vector<EnsembleMember> members;
  std::vector<EnsembleRefusal> refused;
  double value = 0;              // of the search's metric
  int64_t best_trial = 0;        // the best trial that can be a member
  double alone = 0;              // its value on the same samples
  int64_t choosing_samples = 0;  // of `valid`, by which the members were chosen …
  int64_t samples = 0;           // … and those of the values
  std::string folder;            // "" if there is no ensemble
  std::string problem;           // says why there is none; "" if there is one
};

// Lists the members with their weights: "trial 7: 3/5, trial 2: 2/5".
std::string MembersText(const EnsembleResult& ensemble);

struct SearchResult {
  std::string name;
  std::string folder;
  std::string method;
  std::string metric;
  bool higher_is_better = false;
  std::vector<std::string> parameters;    // paths
  std::vector<RungResult> rungs;          // of successive halving; none without it
  std::vector<TrialResult> trials;        // the best first; those without a value last
  std::optional<int64_t> most_trials;     // by the budget and the space; nothing: time ends it
  std::optional<int64_t> configurations;  // in the space, if they can be counted
  int64_t heap = 0;                       // bytes that a process takes once for all its arenas
  int64_t data = 0;                       // bytes of decoded data, which all trials share
  int jobs = 1;                           // processes
  int threads = 1;                        // of each
  double seconds = 0;                     // of the whole search, parts before a resumption included
  bool interrupted = false;
  bool out_of_time = false;
  std::optional<EnsembleResult> ensemble;  // of a search that asks for one, and has ended
};

}  // namespace cgrun

#endif  // CGRUN_RESULTS_SEARCH_RESULT_H_
