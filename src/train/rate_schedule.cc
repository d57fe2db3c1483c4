// Reading and evaluating learning-rate schedules.
#include "src/train/rate_schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "src/ir/op_def.h"
#include "src/model/values.h"
#include "src/train/watched_number.h"

namespace cgrun {
namespace {

struct ScheduleKind {
  const char* name;
  RateSchedule::Kind kind;
  std::vector<std::string> arguments;
};

const std::vector<ScheduleKind>& Kinds() {
  using Kind = RateSchedule::Kind;
  static const std::vector<ScheduleKind> kinds = {
      {"constant", Kind::kConstant, {}},
      {"cosine", Kind::kCosine, {"final"}},
      {"polynomial", Kind::kPolynomial, {"final", "power"}},
      {"step", Kind::kStep, {"every", "factor"}},
      {"exponential", Kind::kExponential, {"factor"}},
      {"plateau", Kind::kPlateau, {"factor", "patience", "min", "threshold", "metric"}},
  };
  return kinds;
}

double* Argument(RateSchedule& schedule, const std::string& name) {
  if (name == "warmup") return &schedule.warmup_epochs;
  if (name == "warmup_steps") return &schedule.warmup_steps;
  if (name == "patience") return &schedule.patience;
  if (name == "min") return &schedule.least_factor;
  if (name == "threshold") return &schedule.threshold;
  if (name == "final") return &schedule.final_factor;
  if (name == "power") return &schedule.power;
  if (name == "every") return &schedule.every_epochs;
  return &schedule.factor;
}

// The number that `plateau` looks at.
void ReadMetric(const ModelSpec& model, const TreeNode& node, RateSchedule& schedule,
                Diagnostics& diagnostics) {
  const auto name = ReadText(node, "metric", diagnostics);
  if (!name) return;
  if (const auto number = FindWatchedNumber(model, {*name, node.mark}, diagnostics)) {
    schedule.metric = number->name;
    schedule.higher_is_better = number->higher_is_better;
  }
}

// One argument, which is a number.
void ReadNumber(const TreeEntry& entry, RateSchedule& schedule, Diagnostics& diagnostics) {
  const auto value = ReadReal(entry.value, entry.key, diagnostics);
  if (!value) return;
  const bool positive = entry.key == "every" || entry.key == "factor" || entry.key == "power";
  const bool whole = entry.key == "patience" || entry.key == "warmup_steps";
  if (*value < 0 || (positive && *value == 0)) {
    diagnostics.Error(entry.value.mark,
                      "'" + entry.key + "' must be " + (positive ? "positive" : "at least 0"));
  } else if (whole && *value != std::floor(*value)) {
    diagnostics.Error(entry.value.mark, "'" + entry.key + "' must be a whole number");
  } else if (schedule.kind == RateSchedule::Kind::kPlateau && entry.key == "factor" &&
             *value >= 1) {
    diagnostics.Error(entry.value.mark, "'factor' of a plateau must be below 1");
  }
  *Argument(schedule, entry.key) = *value;
}

void ReadArguments(const ModelSpec& model, const TreeNode& node, const ScheduleKind& kind,
                   RateSchedule& schedule, Diagnostics& diagnostics) {
  if (node.IsNull()) return;
  if (!node.IsMap()) {
    diagnostics.Error(node.mark, std::string("'") + kind.name +
                                     "' takes a map of its arguments, not " + Describe(node));
    return;
  }
  for (const TreeEntry& entry : node.entries) {
    std::vector<std::string> known = {"warmup", "warmup_steps"};
    known.insert(known.end(), kind.arguments.begin(), kind.arguments.end());
    if (std::find(known.begin(), known.end(), entry.key) == known.end()) {
      diagnostics.Error(entry.key_mark,
                        std::string("'") + kind.name + "' has no argument '" + entry.key + "'",
                        SuggestName(entry.key, known));
      continue;
    }
    if (entry.key == "metric") {
      ReadMetric(model, entry.value, schedule, diagnostics);
    } else {
      ReadNumber(entry, schedule, diagnostics);
    }
  }
  if (const TreeEntry* steps = node.Find("warmup_steps"); steps && node.Find("warmup")) {
    diagnostics.Error(steps->key_mark, "'warmup' and 'warmup_steps' exclude each other");
  }
}

// Its metric is looked up also where the file gives none, for there must be a `valid`.
void CheckPlateau(const ModelSpec& model, const SourceMark& mark, RateSchedule& schedule,
                  Diagnostics& diagnostics) {
  if (model.data && !model.data->valid) {
    diagnostics.Error(mark, "'plateau' looks at validation data, and there is none",
                      "give `data: {valid: {split: 0.1}}`");
  }
  if (const auto number = FindWatchedNumber(model, {schedule.metric, mark}, diagnostics)) {
    schedule.metric = number->name;
  }
}

// `cosine`, or `{cosine: {warmup: 1}}`.
void ReadKind(const ModelSpec& model, const TreeNode& node, RateSchedule& schedule,
              Diagnostics& diagnostics) {
  const bool one = node.IsMap() && node.entries.size() == 1;
  if (!node.IsScalar() && !one) {
    diagnostics.Error(node.mark, "'schedule' must name one schedule, not " + Describe(node),
                      "for example `schedule: {cosine: {warmup: 1}}`");
    return;
  }
  const std::string& name = one ? node.entries[0].key : node.scalar;
  std::vector<std::string> names;
  for (const ScheduleKind& kind : Kinds()) {
    names.emplace_back(kind.name);
    if (name != kind.name) continue;
    schedule.kind = kind.kind;
    const int errors = diagnostics.error_count();
    if (one) ReadArguments(model, node.entries[0].value, kind, schedule, diagnostics);
    if (schedule.watches() && diagnostics.error_count() == errors) {
      CheckPlateau(model, one ? node.entries[0].key_mark : node.mark, schedule, diagnostics);
    }
    return;
  }
  diagnostics.Error(one ? node.entries[0].key_mark : node.mark,
                    "there is no schedule '" + name + "'", SuggestName(name, names));
}

// The rate that an optimizer has when the file gives none.
double DefaultRate(const OpSpec& optimizer) {
  const std::optional<OpId> op = FindOp(optimizer.target.value);
  if (!op) return 0.01;  // the front end reports it
  const AttributeSchema& schema = *GetOpDef(*op).schema;
  const AttributeField* field = schema.Find("lr");
  return field == nullptr ? 0.01 : std::get<double>(field->get(schema.defaults()));
}

const OpSpec* OptimizerOf(const ModelSpec& model, const PathSpec& path) {
  if (!path.backprop.value || path.losses.empty()) return nullptr;
  if (path.optimizer) return &*path.optimizer;
  return model.train && model.train->optimizer ? &*model.train->optimizer : nullptr;
}

}  // namespace

double RateSchedule::RateAt(int64_t step) const {
  const double per_epoch = static_cast<double>(std::max<int64_t>(1, steps_per_epoch));
  const double warmup = warmup_steps > 0 ? warmup_steps : warmup_epochs * per_epoch;
  const double s = static_cast<double>(step);
  if (s < warmup) return learning_rate * (s + 1) / warmup;
  const double span = std::max(1.0, static_cast<double>(total_steps) - warmup);
  const double t = std::min(1.0, (s - warmup) / span);
  switch (kind) {
    case Kind::kConstant:
      return learning_rate;
    case Kind::kCosine:
      return learning_rate *
             (final_factor + (1 - final_factor) * (1 + std::cos(std::numbers::pi * t)) / 2);
    case Kind::kPolynomial:
      return learning_rate * (final_factor + (1 - final_factor) * std::pow(1 - t, power));
    case Kind::kStep:
      return learning_rate * std::pow(factor, std::floor(s / per_epoch / every_epochs));
    case Kind::kExponential:
      return learning_rate * std::pow(factor, s / per_epoch);
    case Kind::kPlateau:
      return learning_rate * std::max(least_factor, std::pow(factor, DropsBefore(step)));
  }
  return learning_rate;
}

double RateSchedule::DropsBefore(int64_t step) const {
  const auto end = drops_.begin() + static_cast<std::ptrdiff_t>(drop_count_);
  return older_drops_ +
         static_cast<double>(std::upper_bound(drops_.begin(), end, step) - drops_.begin());
}

void RateSchedule::Observe(int64_t step, double value) {
  const double margin = best_ && std::isfinite(*best_) ? threshold * std::abs(*best_) : 0;
  const bool better =
      !best_ || (higher_is_better ? value > *best_ + margin : value < *best_ - margin);
  if (better && !std::isnan(value)) {
    best_ = value;
    without_progress_ = 0;
  } else if (++without_progress_ > patience) {
    without_progress_ = 0;
    if (drop_count_ == kDrops) {
      std::rotate(drops_.begin(), drops_.begin() + 1, drops_.end());
      --drop_count_;
      ++older_drops_;
    }
    drops_[drop_count_++] = step;
  }
}

std::array<double, 3> RateSchedule::State() const {
  const double none = std::numeric_limits<double>::quiet_NaN();
  return {best_.value_or(none), without_progress_, older_drops_ + static_cast<double>(drop_count_)};
}

void RateSchedule::Restore(const std::array<double, 3>& state) {
  best_.reset();
  if (!std::isnan(state[0])) best_ = state[0];
  without_progress_ = state[1];
  older_drops_ = state[2];
  drop_count_ = 0;
}

std::optional<RateSchedule> ReadRateSchedule(const ModelSpec& model, const OpSpec& optimizer,
                                             double default_rate, Diagnostics& diagnostics) {
  const int errors = diagnostics.error_count();
  RateSchedule schedule;
  schedule.learning_rate = default_rate;
  for (const Attribute& attribute : optimizer.attributes) {
    if (attribute.key == "lr") {
      schedule.learning_rate = ReadReal(attribute.value, "lr", diagnostics).value_or(default_rate);
    } else if (attribute.key == "schedule") {
      ReadKind(model, attribute.value, schedule, diagnostics);
    }
  }
  if (diagnostics.error_count() > errors) return std::nullopt;
  return schedule;
}

std::optional<std::vector<PathSchedule>> ReadRateSchedules(const ModelSpec& model,
                                                           Diagnostics& diagnostics) {
  std::vector<PathSchedule> schedules;
  const int errors = diagnostics.error_count();
  for (const PathSpec& path : model.paths) {
    const OpSpec* optimizer = OptimizerOf(model, path);
    if (optimizer == nullptr) continue;  // the front end reports it
    const auto schedule = ReadRateSchedule(model, *optimizer, DefaultRate(*optimizer), diagnostics);
    if (!schedule) continue;
    const bool needs_end = schedule->kind == RateSchedule::Kind::kCosine ||
                           schedule->kind == RateSchedule::Kind::kPolynomial;
    if (needs_end && model.train && model.train->seconds) {
      diagnostics.Error(model.train->seconds->mark,
                        "this schedule needs to know the last step, which `time` does not tell",
                        "give `epochs` or `steps`, or another schedule");
      continue;
    }
    schedules.push_back({path.name.value, *schedule});
  }
  if (diagnostics.error_count() > errors) return std::nullopt;
  return schedules;
}

}  // namespace cgrun
