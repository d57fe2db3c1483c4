// The batches since the last checkpoint run once more, with all that operators write looked at.
#include "src/session/divergence.h"

#include "src/lint/label_check.h"
#include "src/run/path_optimizer.h"
#include "src/session/non_finite_help.h"

namespace cgrun {

Divergence::Divergence(SessionParts& session, const TrainingPlace& place, size_t path_room)
    : session_(session), checkpoint_(session.options.checkpoint), from_(place) {
  checkpoint_.reserve(path_room);
}

void Divergence::RepeatFrom(const std::string& checkpoint, const TrainingPlace& place) {
  checkpoint_ = checkpoint;
  from_ = place;
}

void Divergence::CheckLosses(const Batch& batch, const TrainingPlace& place) {
  last_ = place;
  const Split& split = *session_.data.train;
  const std::string* diverged_path = split.runner->diverged_path();
  if (diverged_path == nullptr) return;
  const std::string label =
      DescribeBadLabel(batch, *split.dataset, split.inputs, session_.data.label_uses);
  const std::string path = *diverged_path;
  const std::string help = label.empty() ? DivergenceHelp(session_.model, path) : label;
  if (label.empty()) ThrowWhereItBegan(help);
  throw UserError("the loss of path '" + path + "' is not finite in step " +
                      std::to_string(place.step + 1) + " (epoch " +
                      std::to_string(place.epoch + 1) + ")",
                  help);
}

void Divergence::StateIsNotFinite(int64_t step) {
  if (!last_) return;
  const std::string help = DivergenceHelp(session_.model, "");
  ThrowWhereItBegan(help);
  throw UserError("the model's state is not finite after step " + std::to_string(step), help);
}

void Divergence::ThrowWhereItBegan(const std::string& help) {
  TrainingReplay replay(session_, checkpoint_, from_, *last_);
  const auto found = FindNonFinite(session_.engine(), replay);
  if (!found) return;
  throw NonFiniteError(
      *found, session_.model.tree.mark.file,
      NonFiniteHelp(session_.model, session_.options.compile.precision, *found, help));
}

}  // namespace cgrun
