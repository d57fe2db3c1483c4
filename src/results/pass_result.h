// PassResult holds the losses, metrics and times of a pass over data.
#ifndef CGRUN_RESULTS_PASS_RESULT_H_
#define CGRUN_RESULTS_PASS_RESULT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cgrun {

struct NamedNumber {
  std::string name;
  double value = 0;
  bool approximate = false;  // see IsApproximate()
};

// A metric of more than one number: a list, or a table of rows.
struct NamedTable {
  std::string name;
  std::vector<double> values;  // row by row
  int64_t columns = 0;         // of a table; 0: a list
  bool counts = false;         // whole numbers
  std::string_view caption;    // "a row a label, …"
};

struct PassResult {
  std::string split;  // "train", "valid", "test"
  std::vector<NamedNumber> means;
  std::vector<NamedTable> tables;
  int64_t samples = 0;
  // The samples that `seconds` were spent on. If a run was resumed within the pass, these are the
  // samples since the resumption.
  int64_t timed_samples = 0;
  double seconds = 0;                      // without evaluations and checkpoints within the pass
  double stall_seconds = 0;                // waiting for the loader
  std::optional<double> class_share = {};  // LargestClassShare() of an evaluated split

  // Without samples there are no means, and reports leave the pass out.
  bool measured() const { return samples > 0; }
};

struct StepReport {
  int64_t epoch = 0;  // from 0
  int64_t batch = 0;  // batches done in this pass
  int64_t batches = 0;
  int64_t step = 0;           // steps done
  int64_t total_steps = 0;    // 0 where time ends the run
  int64_t samples = 0;        // in this pass, so far
  double seconds = 0;         // as of PassResult, so far, since the run was resumed
  int64_t timed_samples = 0;  // samples in `seconds`
  int64_t timed_steps = 0;    // steps in `seconds`
  const std::vector<NamedNumber>* means = nullptr;  // of this pass, so far
};

struct EpochReport {
  int64_t epoch = 0;
  int64_t step = 0;
  // The rates of the last step: "learning_rate". If paths have their own optimizers, each path has
  // its rate, "learning_rate.PATH".
  std::vector<NamedNumber> rates;
  PassResult train;
  std::vector<PassResult> evaluations;
};

// Sees a run. Its methods must not allocate.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void OnStep(const StepReport&) {}
  virtual void OnEvaluationStep(const StepReport&) {}
  virtual void OnEpoch(const EpochReport&) {}
  // The evaluation that has just ended is the best so far, and the engine has its weights.
  virtual void OnBest() {}
};

}  // namespace cgrun

#endif  // CGRUN_RESULTS_PASS_RESULT_H_
