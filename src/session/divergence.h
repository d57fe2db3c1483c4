// Divergence: ends a training run whose losses or state are not finite, with the operator that made
// the first such number.
#ifndef CGRUN_SESSION_DIVERGENCE_H_
#define CGRUN_SESSION_DIVERGENCE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "src/session/training_replay.h"

namespace cgrun {

class Divergence {
 public:
  // `place`: where the run stands. A search begins at the session's checkpoint, or at its start.
  // `session` outlives this. `path_room`: characters of the longest path that RepeatFrom() takes.
  Divergence(SessionParts& session, const TrainingPlace& place, size_t path_room);

  // From now on the search begins with this checkpoint, which was written at `place`.
  void RepeatFrom(const std::string& checkpoint, const TrainingPlace& place);
  // The batch at `place` has run. Throws UserError if one of its losses is not finite.
  void CheckLosses(const Batch& batch, const TrainingPlace& place);
  // The state is not finite after `step`. Throws UserError if a batch of this session has run.
  void StateIsNotFinite(int64_t step);

 private:
  // Does the batches since the checkpoint again. Throws UserError unless all stays finite.
  void ThrowWhereItBegan(const std::string& help);

  SessionParts& session_;
  std::string checkpoint_;  // "": the search begins where the session began
  TrainingPlace from_;
  std::optional<TrainingPlace> last_;  // of the last batch
};

}  // namespace cgrun

#endif  // CGRUN_SESSION_DIVERGENCE_H_
