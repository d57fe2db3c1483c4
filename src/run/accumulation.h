// Accumulation: which batches make one step where gradients are accumulated (`train: {accumulate:
// k}`), and what each of them counts for.
#ifndef CGRUN_RUN_ACCUMULATION_H_
#define CGRUN_RUN_ACCUMULATION_H_

#include <algorithm>
#include <cstdint>

namespace cgrun {

// A batch as part of a step. Without accumulation a step is one batch, which is the default.
struct StepPart {
  int64_t step = 0;      // steps, which are updates, done before this one
  int64_t batch = 0;     // a number that no other batch of the run has: random numbers depend on it
  bool updates = true;   // the last batch of its step; the others only add up gradients
  bool goes_on = false;  // there were batches of this step before
  double weight = 1;     // its part of the step's samples

  static StepPart Whole(int64_t step) { return {step, step, true, false, 1}; }
};

// A step is `per_step` batches, the last one of a pass what is left of it. A batch weighs as its
// real samples do among those of its step: so the sum of the gradients is that of one large batch.
class Accumulation {
 public:
  Accumulation() = default;
  // `batches` are run in a pass over `samples` samples; each has `batch` of them, or what is left.
  // No step has more batches than a pass.
  Accumulation(int64_t per_step, int64_t samples, int64_t batch, int64_t batches)
      : per_step_(std::clamp<int64_t>(batches, 1, per_step)),
        samples_(samples),
        batch_(batch),
        batches_(batches) {}

  int64_t steps_per_epoch() const { return (batches_ + per_step_ - 1) / per_step_; }
  // Returns whether a step ends before batch `index` of a pass.
  bool BeginsStep(int64_t index) const { return index % per_step_ == 0; }
  // Returns the part that batch `index` of a pass has in its step, after `step` steps of the run.
  StepPart PartOf(int64_t index, int64_t step) const;

 private:
  // Counts the samples in the first `batches` batches of a pass.
  int64_t SamplesIn(int64_t batches) const;

  int64_t per_step_ = 1;
  int64_t samples_ = 1;
  int64_t batch_ = 1;
  int64_t batches_ = 1;
};

}  // namespace cgrun

#endif  // CGRUN_RUN_ACCUMULATION_H_
