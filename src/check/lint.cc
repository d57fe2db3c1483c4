// One look after the other; errors of an earlier one do not hide those of the graph.
#include "src/check/lint.h"

#include <algorithm>
#include <memory>

#include "src/data/sampler.h"
#include "src/device/device.h"
#include "src/fit/run_shape.h"
#include "src/frontend/frontend.h"
#include "src/lint/batch_lint.h"
#include "src/lint/label_check.h"
#include "src/lint/pixel_lint.h"
#include "src/lint/settings_lint.h"
#include "src/lint/unread.h"
#include "src/model/model_file.h"
#include "src/model_data/model_data.h"
#include "src/model_data/sample_order.h"
#include "src/run/accumulation.h"
#include "src/run/checkpoint.h"
#include "src/run/rate_schedule.h"
#include "src/run/watched_number.h"
#include "src/run/weight_names.h"
#include "src/run/weights.h"
#include "src/torch/weights_file.h"

namespace cgrun {
namespace {

constexpr int64_t kMostSamplesRead = 256;  // of a set
constexpr int64_t kMostUnreadable = 20;    // of them that are told

// Returns whether two paths learn each what the other leaves as it is, as those of a `gan` do:
// their losses do not say how good the model is, so that a test set would not either.
bool TrainsAgainstEachOther(const ModelSpec& model) {
  const auto shares = [](const PathSpec& a, const PathSpec& b) {
    return std::ranges::any_of(a.trains, [&](const MarkedText& name) {
      return std::ranges::find(b.trains, name.value, &MarkedText::value) != b.trains.end();
    });
  };
  for (const PathSpec& path : model.paths) {
    for (const PathSpec& other : model.paths) {
      const bool both = &path != &other && !path.trains.empty() && !other.trains.empty();
      if (both && !shares(path, other)) return true;
    }
  }
  return false;
}

// Marks the place where the file describes the set.
SourceMark MarkOfSet(const ModelSpec& model, const std::string& name) {
  if (!model.data) return {};
  const DataSection& data = *model.data;
  const auto& set = name == "train" ? data.train : name == "valid" ? data.valid : data.test;
  return set ? set->mark : data.mark;
}

// Reads samples all over a set: some formats find out only then what is wrong with one.
int64_t ReadSome(const ModelSpec& model, const std::string& name, const Dataset& dataset,
                 const std::vector<LabelUse>& uses, Diagnostics& diagnostics) {
  const SourceMark mark = MarkOfSet(model, name);
  Diagnostics reported;
  const std::vector<std::string> inputs = MatchInputs(model, dataset, {}, reported);
  std::vector<std::vector<std::byte>> fields;
  std::vector<std::span<std::byte>> spans;
  Batch batch;
  for (const DataField& field : dataset.fields()) {
    fields.emplace_back(static_cast<size_t>(field.bytes()));
  }
  for (std::vector<std::byte>& field : fields) spans.emplace_back(field);
  batch.fields.assign(spans.begin(), spans.end());
  batch.count = 1;
  const int64_t count = std::min(dataset.size(), kMostSamplesRead);
  int64_t unreadable = 0;
  for (int64_t i = 0; i < count; ++i) {
    const std::vector<int64_t> sample = {i * dataset.size() / count};
    batch.samples = sample;
    try {
      dataset.Read(sample[0], spans);
    } catch (const UserError& error) {
      if (++unreadable > kMostUnreadable) continue;
      diagnostics.Error(mark,
                        "sample " + std::to_string(sample[0]) + " of '" + name +
                            "' cannot be read: " + error.what(),
                        error.help());
      continue;
    }
    const std::string label =
        name == "train" ? DescribeBadLabel(batch, dataset, inputs, uses) : std::string();
    if (label.empty()) continue;
    diagnostics.Error(mark, label);
    break;
  }
  if (unreadable > kMostUnreadable) {
    diagnostics.Error(mark, "and " + CountText(unreadable - kMostUnreadable, "more sample") +
                                " of '" + name + "' cannot be read");
  }
  return count;
}

// Checks the graphs of all kinds, and the data with them.
void LintGraphs(const ModelSpec& model, const CompileOptions& options, LintReport& report,
                Diagnostics& diagnostics) {
  const ModelData& data = report.data;
  Kept kept;
  const EntryKind kind = model.train ? EntryKind::kTrain : EntryKind::kEval;
  const auto forward = BuildForward(model, {kind, options.precision}, diagnostics, &kept);
  if (!forward) return;
  WarnOfUnread(model, *forward, kept, options.precision, diagnostics);
  WarnOfSettings(model, *forward, diagnostics);
  CheckOneNumber(*forward, WatchedNames(model), diagnostics);
  const std::vector<LabelUse> uses = FindLabelUses(*forward);
  std::vector<LabelledSet> labelled;
  for (const auto& set : {data.train, data.valid, data.test}) {
    if (set) labelled.push_back({set.get(), MatchInputs(model, *set, {}, diagnostics)});
  }
  CheckLabels(labelled, uses, diagnostics);
  if (data.train) WarnOfSpareUnits(labelled[0], uses, diagnostics);
  if (diagnostics.has_errors()) return;
  const auto sets = {std::pair{"train", data.train}, {"valid", data.valid}, {"test", data.test}};
  for (const auto& [name, set] : sets) {
    if (set) report.samples_read += ReadSome(model, name, *set, uses, diagnostics);
  }
  WarnOfMissingRows(model, options.precision, diagnostics);
  if (!data.train) return;
  WarnOfSingleValues(model, *forward, data.train->size(), diagnostics);
  WarnOfPixels(model, *forward, *data.train, diagnostics);
}

void LintData(const ModelSpec& model, LintReport& report, Diagnostics& diagnostics) {
  report.data = OpenModelData(model, diagnostics);
  const ModelData& data = report.data;
  const SourceMark mark = model.data ? model.data->mark : SourceMark();
  if (diagnostics.has_errors()) return;
  if (data.train != nullptr) WarnOfLargeBatch(model, *data.train, diagnostics);
  if (model.train && !PredictsAlone(model)) CheckOrder(model, data, diagnostics);
  if (data.train == nullptr) {
    diagnostics.Warning(mark, "there is no training data in " + model.file_name,
                        "`cgrun train` needs `data: {train: …}`");
  } else if (data.test == nullptr && data.valid == nullptr && !TrainsAgainstEachOther(model) &&
             !PredictsAlone(model)) {
    diagnostics.Warning(mark, "there is no test data in " + model.file_name,
                        "`cgrun eval` needs `data: {test: …}`, or `data: {valid: {split: 0.1}}` "
                        "with `--split valid`");
  }
}

// Warns of a file without `train:` that has data for it. If there are none, an error has said so.
void WarnOfNoTraining(const ModelSpec& model, const LintReport& report, Diagnostics& diagnostics) {
  if (report.data.train == nullptr || PredictsAlone(model)) return;
  diagnostics.Warning({model.tree.mark.file},
                      "this file has no `train:`: it can be planned and evaluated, but not trained",
                      kTrainHelp);
}

// Checks the length of a run, its rate schedules, and the metric that chooses the best model.
void LintRun(const ModelSpec& model, const LintReport& report, Diagnostics& diagnostics) {
  if (!model.train) return WarnOfNoTraining(model, report, diagnostics);
  const auto schedules = ReadRateSchedules(model, diagnostics);
  const bool can_watch = CheckWatchedData(model, diagnostics);
  const ModelData& data = report.data;
  if (data.train == nullptr) return;  // it has been told
  const bool has_valid =
      data.valid != nullptr || model.data->valid;  // the data failed, as reported
  if (can_watch) ReadWatchedNumbers(model, has_valid, diagnostics);
  const int64_t batch = model.train->batch.value.size, samples = data.train->size();
  const Accumulation accumulation(model.train->accumulate.value, samples, batch,
                                  BatchCount(samples, batch));
  const int64_t per_epoch = accumulation.steps_per_epoch();
  const auto steps = TotalSteps(model, per_epoch, diagnostics);
  if (!steps || !schedules) return;
  WarnOfLongWarmups(*schedules, per_epoch, *steps, diagnostics);
}

// Checks the key `weights` as far as no graph is needed: whether its file is there.
void CheckWeightsFile(const ModelSpec& model, Diagnostics& diagnostics) {
  if (!model.weights) return;
  try {
    NewestWeightsOf(model, diagnostics);
  } catch (const UserError& error) {
    diagnostics.Error(model.weights->mark, error.what(), error.help());
  }
}

// The file that the key `weights` names, as runs load it.
void LintWeights(const ModelSpec& model, const std::vector<ImageState>& states,
                 Diagnostics& diagnostics) {
  if (!model.weights) return;
  std::string path, wrong;
  std::vector<TensorType> fitting, wanted;
  for (const ImageState& state : states) {
    if (!IsRunState(state.role)) wanted.push_back(state.type);
  }
  try {
    path = NewestWeightsOf(model, diagnostics);
    const std::unique_ptr<TensorFile> file = OpenWeightsFile(path);
    for (const TensorSpec& tensor : file->tensors()) {
      auto state = std::ranges::find(states, tensor.name, &ImageState::name);
      if (state == states.end()) {
        const auto name = Renamed(tensor.name, model.rename);
        state = std::ranges::find(states, name.value_or(""), &ImageState::name);
      }
      if (state == states.end() || IsRunState(state->role)) continue;
      const TensorType type{tensor.dtype, tensor.shape};
      if (type == state->type) {
        fitting.push_back(type);
        continue;
      }
      wrong += "\n      " + tensor.name + ": " + type.ToString() + " in the file, " +
               state->type.ToString() + " in the model";
    }
  } catch (const UserError& error) {
    diagnostics.Error(model.weights->mark, error.what(), error.help());
    return;
  }
  const std::string colon = wrong.empty() ? "" : ":";
  if (wanted.empty()) return;  // nothing of the model is in files
  if (fitting.empty() || FitByChance(fitting, wanted)) {
    diagnostics.Error(model.weights->mark,
                      (fitting.empty() ? "nothing in " : "hardly anything in ") + path +
                          " fits this model" + colon + wrong,
                      "give the weights of this model, or train from scratch without `weights`");
  } else if (!wrong.empty()) {
    diagnostics.Warning(model.weights->mark,
                        "some of " + path + " does not fit this model and is not loaded:" + wrong);
  }
}

// Compiles as `train` would.
void LintCompiled(const ModelSpec& model, const KernelLibrary& library,
                  const CompileOptions& options, LintReport& report, Diagnostics& diagnostics) {
  RunShape shape = ShapeOfRun(model, report.data);
  if (!model.train && !PredictsAlone(model)) {
    std::vector<int64_t> sizes;
    for (const auto& set : {report.data.valid, report.data.test}) {
      if (set) sizes.push_back(set->size());
    }
    if (sizes.empty()) sizes.push_back(1);
    shape.entries = TrainingEntries(1, {}, sizes);
  }
  auto compiled = Compile(model, shape.entries, library, options, diagnostics);
  if (!compiled) return;
  LintWeights(model, compiled->image.states, diagnostics);
  const RunMemory memory = MemoryOfRun(*compiled, shape, library);
  report.needed_bytes = memory.peak();
  report.free_bytes = LargestPeak(ReadHostLimits(), memory);
}

}  // namespace

LintReport Lint(const ModelSpec& model, const KernelLibrary& library, const CompileOptions& options,
                Diagnostics& diagnostics) {
  LintReport report;
  LintData(model, report, diagnostics);
  LintRun(model, report, diagnostics);
  LintGraphs(WithoutMisfits(model, report.data), options, report, diagnostics);
  if (diagnostics.has_errors()) {
    CheckWeightsFile(model, diagnostics);
  } else {
    LintCompiled(model, library, options, report, diagnostics);
  }
  return report;
}

void LintOptimizers(const ModelSpec& model, DType precision, Diagnostics& diagnostics) {
  if (!model.train) return;
  ReadRateSchedules(model, diagnostics);
  BuildForward(model, {EntryKind::kTrain, precision}, diagnostics);
}

void LintPartial(const ModelSpec& partial, Diagnostics& diagnostics) {
  if (!partial.tree.IsMap()) return;
  CheckModelData(partial, diagnostics);
  CheckWeightsFile(partial, diagnostics);
  const bool trains = partial.train.has_value();
  if (trains) ReadRateSchedules(partial, diagnostics);
  if (trains) CheckWatchedData(partial, diagnostics);
  BuildForward(partial, {trains ? EntryKind::kTrain : EntryKind::kEval, PrecisionOf(partial)},
               diagnostics);
}

}  // namespace cgrun
