// TrainingReplay runs the batches of a training once more, from its last checkpoint or its start.
#ifndef CGRUN_SESSION_TRAINING_REPLAY_H_
#define CGRUN_SESSION_TRAINING_REPLAY_H_

#include <string>

#include "src/run/find_non_finite.h"
#include "src/session/session_parts.h"

namespace cgrun {

// A place in a run: `batch` of pass `epoch` comes next, after `step` steps. All count from 0.
struct TrainingPlace {
  int64_t epoch = 0;
  int64_t batch = 0;
  int64_t step = 0;
};

class TrainingReplay final : public Replay {
 public:
  // Begins at the checkpoint at `path`, which was written at `from`. Without a path it begins at
  // the state that the session began with. The batch at `last` is the last one. The replay uses the
  // session's loader, rates and state, and leaves them as they are after that batch.
  TrainingReplay(SessionParts& session, std::string path, const TrainingPlace& from,
                 const TrainingPlace& last)
      : session_(session), path_(std::move(path)), from_(from), last_(last) {}

  void Restart() override;
  bool Next() override;
  int Feed() override;
  int64_t step() const override { return place_.step + 1; }

 private:
  void StartEpoch();

  SessionParts& session_;
  std::string path_;
  TrainingPlace from_;
  TrainingPlace last_;
  TrainingPlace place_;  // of the current batch
  const Batch* batch_ = nullptr;
};

}  // namespace cgrun

#endif  // CGRUN_SESSION_TRAINING_REPLAY_H_
