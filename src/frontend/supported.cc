// Keys of the format that this version reads but does not carry out: they are errors, never
// ignored.
#include "src/frontend/frontend.h"

namespace cgrun {
namespace {

class SupportChecker {
 public:
  SupportChecker(const ModelSpec& model, Diagnostics& diagnostics)
      : model_(model), diagnostics_(diagnostics) {}

  void Run() {
    CheckTop();
    if (model_.train) CheckTrain(*model_.train);
  }

 private:
  void Refuse(const SourceMark& mark, const std::string& key) {
    diagnostics_.Error(mark, "this version does not carry out '" + key + "' yet",
                       "take it out; nothing in a model file is ignored in silence");
  }
  template <class T>
  void RefuseIfGiven(const std::optional<T>& value, const std::string& key) {
    if (value) Refuse(value->mark, key);
  }

  void CheckTop() {
    if (model_.gan) Refuse(model_.gan->mark, "gan");
    RefuseIfGiven(model_.weights, "weights");
    if (!model_.plugins.empty()) Refuse(model_.plugins[0].mark, "plugins");
    if (!model_.keep.empty()) Refuse(model_.keep[0].mark, "keep");
    if (!model_.update.empty()) Refuse(model_.update[0].value.mark, "update");
  }

  void CheckTrain(const TrainSpec& train) {
    if (train.batch.value.automatic) Refuse(train.batch.mark, "batch: auto");
    RefuseIfGiven(train.memory, "memory");
    const std::string& precision = train.precision.value;
    if (precision != "f32" && precision != "f64") {
      Refuse(train.precision.mark, "precision: " + precision);
    }
    if (train.accumulate.value != 1) Refuse(train.accumulate.mark, "accumulate");
    if (train.clip) Refuse(train.clip->norm ? train.clip->norm->mark : train.mark, "clip");
    RefuseIfGiven(train.eval_every, "eval_every");
    RefuseIfGiven(train.checkpoint_every, "checkpoint_every");
    RefuseIfGiven(train.keep_last, "keep_last");
    if (train.early_stop) Refuse(train.early_stop->metric.mark, "early_stop");
    RefuseIfGiven(train.keep_best, "keep_best");
    if (!train.sequence.empty()) Refuse(train.sequence[0].path.mark, "sequence");
  }

  const ModelSpec& model_;
  Diagnostics& diagnostics_;
};

}  // namespace

void CheckSupported(const ModelSpec& model, Diagnostics& diagnostics) {
  SupportChecker(model, diagnostics).Run();
}

}  // namespace cgrun
