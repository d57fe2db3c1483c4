// DueWork: whether a run is to be evaluated, and a checkpoint to be written, where it stands.
#ifndef CGRUN_SESSION_DUE_WORK_H_
#define CGRUN_SESSION_DUE_WORK_H_

#include <csignal>
#include <cstdint>
#include <optional>

#include "src/model/model_spec.h"

namespace cgrun {

// Decides when evaluations and checkpoints are due. It reads the keys `eval_every` and
// `checkpoint_every` of `train`, and a signal that asks for a checkpoint. It also knows what was
// done before. Steps are those done.
class DueWork {
 public:
  // `asked`: set by a signal; may be null.
  DueWork(const TrainSpec& spec, const volatile std::sig_atomic_t* asked)
      : spec_(spec), asked_(asked) {}

  // Between two steps of an epoch.
  bool Evaluation(int64_t step) const { return IsMultiple(step, spec_.eval_every); }
  bool Checkpoint(int64_t step) const {
    return IsMultiple(step, spec_.checkpoint_every) || (asked_ != nullptr && *asked_ != 0);
  }
  // These two say what is due at the end of an epoch.
  bool EvaluationAtEnd(int64_t step) const { return !spec_.eval_every || Evaluation(step); }
  bool CheckpointAtEnd(int64_t step) const { return !spec_.checkpoint_every || Checkpoint(step); }

  void Evaluated(int64_t step) { evaluated_ = step; }
  void Written(int64_t step) { written_ = step; }
  bool is_evaluated(int64_t step) const { return evaluated_ == step; }
  bool is_written(int64_t step) const { return written_ == step; }

 private:
  static bool IsMultiple(int64_t step, const std::optional<Marked<int64_t>>& every) {
    return every && step % every->value == 0;
  }

  const TrainSpec& spec_;
  const volatile std::sig_atomic_t* asked_;
  int64_t evaluated_ = -1;  // the step after which the last evaluation was …
  int64_t written_ = -1;    // … and the last checkpoint
};

}  // namespace cgrun

#endif  // CGRUN_SESSION_DUE_WORK_H_
