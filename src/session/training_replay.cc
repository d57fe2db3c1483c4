// State, loader and rates as they were, batch by batch.
#include "src/session/training_replay.h"

#include "src/run/weights.h"

namespace cgrun {

void TrainingReplay::Restart() {
  Engine& engine = session_.engine();
  engine.InitializeStates();
  const std::string& initial = session_.model.initial_weights;
  if (!initial.empty()) LoadWeights(engine, initial, WeightsScope::kModel);
  if (!path_.empty()) {
    LoadWeights(engine, path_, WeightsScope::kRun);
  } else if (!session_.weights_file.empty()) {
    LoadWeights(engine, session_.weights_file, WeightsScope::kModel, session_.model.rename);
  }
  place_ = from_;
  batch_ = nullptr;
}

bool TrainingReplay::Next() {
  Loader& loader = session_.data.train->source->loader();
  if (batch_ == nullptr) {
    StartEpoch();
  } else {
    if (place_.epoch == last_.epoch && place_.batch == last_.batch) return false;
    place_.step += session_.length.accumulation.PartOf(place_.batch, place_.step).updates;
    if (++place_.batch == session_.length.batches_per_epoch) {
      ++place_.epoch;
      place_.batch = 0;
      StartEpoch();
    }
  }
  batch_ = loader.Next();
  return batch_ != nullptr;
}

void TrainingReplay::StartEpoch() {
  session_.data.train->source->loader().StartEpoch(place_.epoch, place_.batch);
  if (place_.batch == 0) session_.recurrent.ResetTraining(session_.engine());
}

int TrainingReplay::Feed() {
  session_.rates.Set(place_.step);
  const StepPart part = session_.length.accumulation.PartOf(place_.batch, place_.step);
  return session_.data.train->runner->Feed(*batch_, part, session_.rates.feeds());
}

}  // namespace cgrun
