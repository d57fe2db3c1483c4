// Reading and evaluating learning-rate schedules.
#include "src/train/rate_schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "src/ir/op_def.h"
#include "src/model/values.h"

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
      {"constant", Kind::kConstant, {"warmup"}},
      {"cosine", Kind::kCosine, {"warmup", "final"}},
      {"polynomial", Kind::kPolynomial, {"warmup", "final", "power"}},
      {"step", Kind::kStep, {"warmup", "every", "factor"}},
      {"exponential", Kind::kExponential, {"warmup", "factor"}},
  };
  return kinds;
}

double* Argument(RateSchedule& schedule, const std::string& name) {
  if (name == "warmup") return &schedule.warmup_epochs;
  if (name == "final") return &schedule.final_factor;
  if (name == "power") return &schedule.power;
  if (name == "every") return &schedule.every_epochs;
  return &schedule.factor;
}

void ReadArguments(const TreeNode& node, const ScheduleKind& kind, RateSchedule& schedule,
                   Diagnostics& diagnostics) {
  if (node.IsNull()) return;
  if (!node.IsMap()) {
    diagnostics.Error(node.mark, std::string("'") + kind.name +
                                     "' takes a map of its arguments, not " + Describe(node));
    return;
  }
  for (const TreeEntry& entry : node.entries) {
    const auto& known = kind.arguments;
    if (std::find(known.begin(), known.end(), entry.key) == known.end()) {
      diagnostics.Error(entry.key_mark,
                        std::string("'") + kind.name + "' has no argument '" + entry.key + "'",
                        SuggestName(entry.key, known));
      continue;
    }
    const auto value = ReadReal(entry.value, entry.key, diagnostics);
    if (!value) continue;
    const bool positive = entry.key == "every" || entry.key == "factor" || entry.key == "power";
    if (*value < 0 || (positive && *value == 0)) {
      diagnostics.Error(entry.value.mark,
                        "'" + entry.key + "' must be " + (positive ? "positive" : "at least 0"));
    }
    *Argument(schedule, entry.key) = *value;
  }
}

// `cosine`, or `{cosine: {warmup: 1}}`.
void ReadKind(const TreeNode& node, RateSchedule& schedule, Diagnostics& diagnostics) {
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
    if (one) ReadArguments(node.entries[0].value, kind, schedule, diagnostics);
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
  if (!path.backprop.value || !path.loss) return nullptr;
  if (path.optimizer) return &*path.optimizer;
  return model.train && model.train->optimizer ? &*model.train->optimizer : nullptr;
}

}  // namespace

double RateSchedule::RateAt(int64_t step) const {
  const double per_epoch = static_cast<double>(std::max<int64_t>(1, steps_per_epoch));
  const double warmup = warmup_epochs * per_epoch;
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
  }
  return learning_rate;
}

std::optional<RateSchedule> ReadRateSchedule(const OpSpec& optimizer, double default_rate,
                                             Diagnostics& diagnostics) {
  const int errors = diagnostics.error_count();
  RateSchedule schedule;
  schedule.learning_rate = default_rate;
  for (const Attribute& attribute : optimizer.attributes) {
    if (attribute.key == "lr") {
      schedule.learning_rate = ReadReal(attribute.value, "lr", diagnostics).value_or(default_rate);
    } else if (attribute.key == "schedule") {
      ReadKind(attribute.value, schedule, diagnostics);
    }
  }
  if (diagnostics.error_count() > errors) return std::nullopt;
  return schedule;
}

std::optional<std::vector<PathSchedule>> ReadRateSchedules(const ModelSpec& model,
                                                           Diagnostics& diagnostics) {
  std::vector<PathSchedule> schedules;
  for (const PathSpec& path : model.paths) {
    const OpSpec* optimizer = OptimizerOf(model, path);
    if (optimizer == nullptr) continue;  // the front end reports it
    const auto schedule = ReadRateSchedule(*optimizer, DefaultRate(*optimizer), diagnostics);
    if (!schedule) return std::nullopt;
    const bool needs_end = schedule->kind == RateSchedule::Kind::kCosine ||
                           schedule->kind == RateSchedule::Kind::kPolynomial;
    if (needs_end && model.train && model.train->seconds) {
      diagnostics.Error(model.train->seconds->mark,
                        "this schedule needs to know the last step, which `time` does not tell",
                        "give `epochs` or `steps`, or another schedule");
      return std::nullopt;
    }
    schedules.push_back({path.name.value, *schedule});
  }
  return schedules;
}

}  // namespace cgrun
