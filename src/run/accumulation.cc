// Finds the place of a batch in its step.
#include "src/run/accumulation.h"

#include <algorithm>

namespace cgrun {

int64_t Accumulation::SamplesIn(int64_t batches) const {
  return std::min(samples_, batches * batch_);
}

StepPart Accumulation::PartOf(int64_t index, int64_t step) const {
  const int64_t place = index % per_step_;
  const int64_t first = index - place;
  const int64_t end = std::min(first + per_step_, batches_);
  const auto count = [&](int64_t from, int64_t to) {
    return static_cast<double>(SamplesIn(to) - SamplesIn(from));
  };
  StepPart part;
  part.step = step;
  part.batch = step * per_step_ + place;
  part.updates = index + 1 == end;
  part.goes_on = place > 0;
  part.weight = count(index, index + 1) / count(first, end);
  return part;
}

}  // namespace cgrun
