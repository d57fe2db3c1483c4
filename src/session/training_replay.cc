// State, loader and rates as they were, batch by batch.
#include "src/session/training_replay.h"

namespace cgrun {

void TrainingReplay::Restart() {
  Engine& engine = *session_.engine_;
  engine.InitializeStates();
  if (!path_.empty()) {
    LoadWeights(engine, path_, WeightsScope::kRun);
  } else if (!session_.weights_file().empty()) {
    LoadWeights(engine, session_.weights_file(), WeightsScope::kModel);
  }
  place_ = from_;
  batch_ = nullptr;
}

bool TrainingReplay::Next() {
  Loader& loader = session_.train_->source->loader();
  if (batch_ == nullptr) {
    StartEpoch();
  } else {
    if (place_.epoch == last_.epoch && place_.batch == last_.batch) return false;
    place_.step += session_.accumulation_.PartOf(place_.batch, place_.step).updates;
    if (++place_.batch == session_.batches_per_epoch_) {
      ++place_.epoch;
      place_.batch = 0;
      StartEpoch();
    }
  }
  batch_ = loader.Next();
  return batch_ != nullptr;
}

void TrainingReplay::StartEpoch() {
  session_.train_->source->loader().StartEpoch(place_.epoch, place_.batch);
  if (place_.batch == 0) session_.recurrent_.ResetTraining(*session_.engine_);
}

int TrainingReplay::Feed() {
  session_.SetRates(place_.step);
  const StepPart part = session_.accumulation_.PartOf(place_.batch, place_.step);
  return session_.train_->runner->Feed(*batch_, part, session_.rates_);
}

}  // namespace cgrun
