// All numbers of a model, and the one that is meant.
#include "src/run/watched_number.h"

#include <algorithm>
#include <limits>

#include "src/ir/op_def.h"
#include "src/model/key_synonyms.h"
#include "src/model/schema.h"
#include "src/run/rate_schedule.h"

namespace cgrun {
namespace {

struct Candidate {
  std::string path;
  WatchedNumber number;  // under its name in its path
};

// Returns whether an operator's number falls as the model gets better.
bool IsError(const std::string& op) {
  const std::optional<OpId> id = FindOp(op);
  if (!id) return false;
  const OpDef& def = GetOpDef(*id);
  return def.usage == Usage::kLoss || def.metric.smaller_is_better;
}

std::vector<Candidate> NumbersOf(const ModelSpec& model) {
  std::vector<Candidate> all;
  for (const PathSpec& path : model.paths) {
    if (!path.losses.empty()) all.push_back({path.name.value, {"loss", false}});
    for (const MetricSpec& metric : path.metrics) {
      all.push_back({path.name.value, {metric.name.value, !IsError(metric.op.target.value)}});
    }
  }
  return all;
}

// Returns the mark of the metric. If the metric is left out, returns the mark of its key, where it
// ought to stand.
SourceMark MarkOf(const ModelSpec& model, const MarkedText& metric, const char* key) {
  if (metric.mark.file != nullptr) return metric.mark;
  const TreeEntry* train = model.tree.Find("train");
  const TreeEntry* entry = train == nullptr ? nullptr : train->value.Find(key);
  return entry == nullptr ? model.train->mark : entry->key_mark;
}

void ReportNoValid(const ModelSpec& model, const MarkedText& metric, const char* key,
                   Diagnostics& diagnostics) {
  diagnostics.Error(MarkOf(model, metric, key),
                    "'" + std::string(key) + "' looks at the data of `valid`, which " +
                        model.file_name + " does not have",
                    "`data: {valid: {split: 0.1}}` takes a tenth of the training data");
}

// Returns whether validation data are there, if under another name, `val`, which is reported.
bool IsValidMeant(const ModelSpec& model) {
  const TreeEntry* data = model.tree.Find("data");
  if (data == nullptr || data->value.Find("valid") != nullptr) return true;
  for (const MapDoc& map : FormatReference()) {
    if (map.place == "data" && IsMeant(data->value, "valid", map.keys)) return true;
  }
  return false;
}

}  // namespace

double WatchedNumber::In(const std::vector<NamedNumber>& means) const {
  for (const NamedNumber& mean : means) {
    if (mean.name == name) return mean.value;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

std::optional<WatchedNumber> FindWatchedNumber(const ModelSpec& model, const MarkedText& name,
                                               Diagnostics& diagnostics) {
  const std::vector<Candidate> all = NumbersOf(model);
  const auto count = [&](const std::string& plain) {
    return std::count_if(all.begin(), all.end(),
                         [&](const Candidate& c) { return c.number.name == plain; });
  };
  std::vector<std::string> known;
  for (const Candidate& candidate : all) {
    const std::string& plain = candidate.number.name;
    const std::string qualified = candidate.path + "." + plain;
    const bool alone = count(plain) == 1;
    known.push_back(alone ? plain : qualified);
    if (name.value != qualified && !(alone && name.value == plain)) continue;
    return WatchedNumber{known.back(), candidate.number.higher_is_better};
  }
  const bool several = count(name.value) > 1;
  diagnostics.Error(name.mark,
                    several ? "several paths have '" + name.value + "'"
                            : "there is no loss or metric '" + name.value + "'",
                    SuggestMetric(name.value, known));
  return std::nullopt;
}

void CheckOneNumber(const Graph& forward, const std::vector<MarkedText>& names,
                    Diagnostics& diagnostics) {
  for (const Output& output : forward.outputs) {
    if (!output.metric) continue;
    const auto& [op, attributes] = *output.metric;
    const auto shown = ShownBy(op, attributes, forward.values[output.value].type);
    if (!shown || shown->rank() == 0) continue;
    const std::string qualified = forward.paths[output.path].name + "." + output.name;
    const bool can_be_one = GetOpDef(op).schema->Find("average") != nullptr;
    for (const MarkedText& name : names) {
      if (name.value != output.name && name.value != qualified) continue;
      diagnostics.Error(name.mark,
                        "'" + name.value + "' is a " + (shown->rank() == 1 ? "list" : "table") +
                            ": what a run goes by is one number",
                        can_be_one
                            ? "`average: macro` of '" + output.name + "' makes one number of it"
                            : "for example `loss` or `accuracy`");
    }
  }
}

std::vector<MarkedText> WatchedNames(const ModelSpec& model) {
  std::vector<MarkedText> names;
  if (!model.train) return names;
  if (model.train->early_stop) names.push_back(model.train->early_stop->metric);
  if (model.train->keep_best) names.push_back(*model.train->keep_best);
  Diagnostics reported;  // of the same schedules
  const auto schedules = ReadRateSchedules(model, reported);
  if (!schedules) return names;
  for (const auto& [path, schedule, optimizer] : *schedules) {
    if (schedule.watches()) names.push_back({schedule.metric, schedule.metric_mark});
  }
  return names;
}

bool CheckWatchedData(const ModelSpec& model, Diagnostics& diagnostics) {
  const bool trains = model.train && model.data && model.data->train;
  if (!trains || IsValidMeant(model)) return true;
  const TrainSpec& train = *model.train;
  if (train.early_stop) ReportNoValid(model, train.early_stop->metric, "early_stop", diagnostics);
  if (train.keep_best) ReportNoValid(model, *train.keep_best, "keep_best", diagnostics);
  return !train.early_stop && !train.keep_best;
}

WatchedNumbers ReadWatchedNumbers(const ModelSpec& model, bool has_valid,
                                  Diagnostics& diagnostics) {
  WatchedNumbers numbers;
  if (!model.train) return numbers;
  const auto find = [&](const MarkedText& name, const char* key) -> std::optional<WatchedNumber> {
    if (has_valid) return FindWatchedNumber(model, name, diagnostics);
    ReportNoValid(model, name, key, diagnostics);
    return std::nullopt;
  };
  const TrainSpec& train = *model.train;
  if (train.early_stop) numbers.stopping = find(train.early_stop->metric, "early_stop");
  if (train.keep_best) numbers.kept = find(*train.keep_best, "keep_best");
  return numbers;
}

}  // namespace cgrun
