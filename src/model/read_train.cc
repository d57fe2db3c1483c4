// `train:`: how long, in which portions, by which rule.
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/synonyms.h"
#include "src/model/fields.h"
#include "src/model/read_sections.h"
#include "src/model/types.h"

namespace cgrun {
namespace {

void ReadBatch(const TreeEntry& entry, TrainSpec& train, const Reader& reader) {
  if (entry.value.IsScalar() && entry.value.scalar == "auto") {
    train.batch = {{true, BatchSize().size}, entry.value.mark};
  } else if (entry.value.IsScalar() && IsIdentifier(entry.value.scalar)) {
    reader.diagnostics.Error(
        entry.value.mark,
        "'" + entry.key + "' must be an integer or auto, not " + Describe(entry.value));
  } else if (const auto size = ReadInteger(entry.value, entry.key, reader.diagnostics, 1)) {
    train.batch = {{false, *size}, entry.value.mark};
  }
}

// A name that the format does not know leads to those that this version carries out.
void ReadPrecision(const TreeEntry& entry, TrainSpec& train, const Reader& reader) {
  constexpr std::string_view kHalves[] = {"float16", "fp16", "half", "16", "amp", "mixed"};
  const std::string plain = PlainName(entry.value.IsScalar() ? entry.value.scalar : "");
  if (std::ranges::find(kHalves, plain) != std::end(kHalves)) {
    reader.diagnostics.Error(
        entry.value.mark,
        "'" + entry.key + "' must be f32, f64 or bf16, not " + Describe(entry.value),
        "write `precision: bf16`: 16 bits, with the range of f32");
    return;
  }
  std::vector<std::string> choices = Choices(kPrecisionType);
  if (std::ranges::find(choices, entry.value.scalar) == choices.end()) {
    choices = {"f32", "f64", "bf16", "tf32"};
  }
  Put<&TrainSpec::precision>(ReadChoice(entry.value, entry.key, choices, reader.diagnostics), entry,
                             train);
}

void ReadTrainOptimizer(const TreeEntry& entry, TrainSpec& train, const Reader& reader) {
  train.optimizer = ReadOptimizer(entry, reader);
}

constexpr Key<ClipSpec> kClipKeys[] = {
    {{"norm", kPositiveRealType, "", "the largest norm of all gradients together", "rule"},
     ReadPositiveField<&ClipSpec::norm>},
    {{"value", kPositiveRealType, "", "the largest absolute value of an element", "rule"},
     ReadPositiveField<&ClipSpec::value>},
};

void ReadClip(const TreeEntry& entry, TrainSpec& train, const Reader& reader) {
  ClipSpec clip;
  if (!entry.value.IsMap()) {
    const bool listed = entry.value.items.size() == 1;  // `[1.0]`
    const std::string& given = listed ? entry.value.items[0].scalar : entry.value.scalar;
    const std::string norm = ParseReal(given).value_or(0) > 0 ? given : "1";
    reader.diagnostics.Error(
        entry.value.mark, "'" + entry.key + "' must be a map, not " + Describe(entry.value),
        "write `clip: {norm: " + norm +
            "}`, the largest norm of all gradients together; `{value: …}` bounds each element");
    return;
  }
  ReadMap<ClipSpec>(entry.value, entry.key, entry.key_mark, kClipKeys, clip, reader);
  if (entry.value.IsMap() && entry.value.entries.empty()) {
    reader.diagnostics.Error(entry.key_mark, "'clip' needs 'norm' or 'value'");
  }
  train.clip = std::move(clip);
}

constexpr Key<EarlyStopSpec> kEarlyStopKeys[] = {
    {{"metric", kTextType, kRequired, "a metric of a path, or `loss`"},
     ReadTextField<&EarlyStopSpec::metric>},
    {{"patience", kPositiveType, kRequired, "this many evaluations without progress are the end"},
     ReadIntegerField<&EarlyStopSpec::patience, 1>},
};

void ReadEarlyStop(const TreeEntry& entry, TrainSpec& train, const Reader& reader) {
  EarlyStopSpec stop;
  if (!entry.value.IsMap()) {
    const std::string& given = entry.value.scalar;
    const bool is_metric = IsIdentifier(given) && given != "true" && given != "True";
    reader.diagnostics.Error(entry.value.mark,
                             "'" + entry.key + "' must be a map, not " + Describe(entry.value),
                             "write `early_stop: {metric: " + (is_metric ? given : "loss") +
                                 ", patience: " + (ParseReal(given) ? given : "3") +
                                 "}`: a metric of `valid`, and evaluations without progress");
    train.early_stop = std::move(stop);
    return;
  }
  ReadMap<EarlyStopSpec>(entry.value, entry.key, entry.key_mark, kEarlyStopKeys, stop, reader);
  train.early_stop = std::move(stop);
}

// Reads `name`, or `{name: count}`. A step that cannot be read stands in the sequence without a
// name.
void ReadStep(const TreeNode& node, TrainSpec& train, const Reader& reader) {
  StepSpec& step = train.sequence.emplace_back();
  if (node.IsScalar()) {
    step.path = ReadName(node, "sequence", reader).value_or(MarkedText());
    return;
  }
  if (!node.IsMap() || node.entries.size() != 1) {
    reader.diagnostics.Error(node.mark, "an item of 'sequence' cannot be " + Describe(node),
                             "an item is `PATH` or `{PATH: COUNT}`");
    return;
  }
  const TreeEntry& entry = node.entries.front();
  step.path = ReadNewName(entry, reader).value_or(MarkedText());
  step.count = ReadInteger(entry.value, entry.key, reader.diagnostics, 1).value_or(1);
}

void ReadSequence(const TreeEntry& entry, TrainSpec& train, const Reader& reader) {
  if (!reader.CheckSequence(entry.value, entry.key)) {
    train.sequence.emplace_back();
    return;
  }
  if (entry.value.items.empty()) {
    reader.diagnostics.Error(entry.value.mark, "'sequence' names no path",
                             "remove it: then all paths run once, in the file's order");
  }
  for (const TreeNode& item : entry.value.items) ReadStep(item, train, reader);
}

constexpr Key<TrainSpec> kTrainKeys[] = {
    {{"epochs", kPositiveType, "",
      "passes over the training data; 1 where none of the three is given", "length"},
     ReadIntegerField<&TrainSpec::epochs, 1>},
    {{"steps", kPositiveType, "", "or: updates", "length"}, ReadIntegerField<&TrainSpec::steps, 1>},
    {{"time", kDurationType, "", "or: how long", "length"}, ReadSecondsField<&TrainSpec::seconds>},
    {{"batch", kBatchType, "32", "samples of a step; `auto`: the most that `memory` allows"},
     ReadBatch},
    {{"memory", kBytesType, "", "the cap on what the run takes"},
     ReadBytesField<&TrainSpec::memory>},
    {{"swap", kSwapType, "",
      "where `memory` may put a file that tensors are swapped to; `host`, on `cuda`: the host's "
      "memory; without it none are"},
     ReadTextField<&TrainSpec::swap>},
    {{"precision", kPrecisionType, "f32",
      "of what is computed; bf16: of activations and their gradients, all else is f32; tf32, on "
      "`cuda`: f32, products of factors that are rounded to TF32"},
     ReadPrecision},
    {{"optimizer", kOptimizerType, "", "the rule by which parameters change"}, ReadTrainOptimizer},
    {{"accumulate", kPositiveType, "1", "batches whose gradients make one update"},
     ReadIntegerField<&TrainSpec::accumulate, 1>},
    {{"clip", kMapType, "", "a bound on gradients"}, ReadClip},
    {{"eval_every", kPositiveType, "", "steps between evaluations; without it once an epoch"},
     ReadIntegerField<&TrainSpec::eval_every, 1>},
    {{"checkpoint_every", kPositiveType, "", "steps between checkpoints; without it one an epoch"},
     ReadIntegerField<&TrainSpec::checkpoint_every, 1>},
    {{"keep_last", kPositiveType, "",
      "checkpoints that are kept, the newest; without it three, and that of step 0"},
     ReadIntegerField<&TrainSpec::keep_last, 1>},
    {{"early_stop", kMapType, "", "when to end before the time"}, ReadEarlyStop},
    {{"keep_best", kTextType, "",
      "the metric of `valid` by which best.safetensors is kept; without it that of `early_stop`, "
      "else the loss"},
     ReadTextField<&TrainSpec::keep_best>},
    {{"seed", kCountType, "0", "of all random numbers"}, ReadIntegerField<&TrainSpec::seed, 0>},
    {{"shuffle", kBooleanType, "",
      "an order of the samples for each epoch, by the seed; without it true, but for models with "
      "`update`, whose samples continue each other"},
     ReadBooleanField<&TrainSpec::shuffle>},
    {{"order", kOrderType, "memory", "in which the operators run"},
     ReadChoiceField<&TrainSpec::order, kOrderType>},
    {{"sequence", kSequenceType, "",
      "the paths of a step; without it all, once, in the file's order"},
     ReadSequence},
};

}  // namespace

void ReadTrain(const TreeEntry& entry, ModelSpec& model, const Reader& reader) {
  TrainSpec train;
  train.mark = entry.key_mark;
  ReadMap<TrainSpec>(entry.value, entry.key, entry.key_mark, kTrainKeys, train, reader);
  model.train = std::move(train);
}

std::vector<MapDoc> TrainDocs() {
  return {
      {"train", "How the model is trained.", Docs<TrainSpec>(kTrainKeys)},
      {"train.clip", "A bound on gradients; one of the two.", Docs<ClipSpec>(kClipKeys)},
      {"train.early_stop", "When to end before the time.", Docs<EarlyStopSpec>(kEarlyStopKeys)}};
}

}  // namespace cgrun
