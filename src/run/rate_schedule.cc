// Reading and evaluating learning-rate schedules.
#include "src/run/rate_schedule.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>
#include <set>
#include <string>
#include <vector>

#include "src/base/name_notes.h"
#include "src/base/synonyms.h"
#include "src/ir/op_def.h"
#include "src/ir/range_text.h"
#include "src/model/named_form.h"
#include "src/model/values.h"
#include "src/run/path_optimizer.h"
#include "src/run/watched_number.h"

namespace cgrun {
namespace {

constexpr double kNoBound = std::numeric_limits<double>::infinity();

using Kind = RateSchedule::Kind;
using Argument = ScheduleArgument;

std::vector<ScheduleKind> MakeKinds() {
  const Argument warmup = {"warmup", "epochs in which the rate rises",
                           &RateSchedule::warmup_epochs};
  const Argument warmup_steps = {"warmup_steps",
                                 "steps in which the rate rises",
                                 &RateSchedule::warmup_steps,
                                 0,
                                 kNoBound,
                                 false,
                                 true};
  const Argument final = {"final", "the last rate, as a part of the first",
                          &RateSchedule::final_factor};
  const Argument factor = {"factor", "what the rate is multiplied by each time",
                           &RateSchedule::factor, kAboveZero};
  std::vector<ScheduleKind> kinds = {
      {"constant", "the rate stays as it is", Kind::kConstant, {}},
      {"cosine", "along half a cosine, to the end of the run", Kind::kCosine, {final}},
      {"polynomial",
       "along a power of what is left of the run",
       Kind::kPolynomial,
       {final, {"power", "1: a straight line", &RateSchedule::power, kAboveZero}}},
      {"step",
       "a factor every few epochs",
       Kind::kStep,
       {{"every", "epochs between two steps: `schedule: {step: {every: 10, factor: 0.1}}`",
         &RateSchedule::every_epochs, kAboveZero, kNoBound, true},
        factor}},
      {"exponential",
       "a factor an epoch, a part of it each step",
       Kind::kExponential,
       {{"factor", "what an epoch multiplies the rate by: `schedule: {exponential: {factor: 0.9}}`",
         &RateSchedule::factor, kAboveZero, kNoBound, true}}},
      {"plateau",
       "a factor where evaluations make no progress",
       Kind::kPlateau,
       {{"factor", factor.doc, &RateSchedule::factor, kAboveZero, kBelowOne},
        {"patience", "evaluations without progress that change nothing", &RateSchedule::patience, 0,
         kNoBound, false, true},
        {"min", "the least rate, as a part of the first", &RateSchedule::least_factor, 0, 1},
        {"threshold", "what counts as progress, as a part of the best so far",
         &RateSchedule::threshold},
        {"metric", "the number that is looked at", nullptr}}},
  };
  for (ScheduleKind& kind : kinds) {
    kind.arguments.insert(kind.arguments.begin(), {warmup, warmup_steps});
  }
  return kinds;
}

// PyTorch and Keras have these names for schedules and their arguments.
constexpr Synonym kKindSynonyms[] = {
    {"steplr", "step"},
    {"multistep", "step"},
    {"multisteplr", "step"},
    {"stepdecay", "step"},
    {"piecewise", "step"},
    {"exponentiallr", "exponential"},
    {"exponentialdecay", "exponential"},
    {"cosineannealing", "cosine"},
    {"cosineannealinglr", "cosine"},
    {"cosinedecay", "cosine"},
    {"linear", "polynomial"},
    {"linearlr", "polynomial"},
    {"poly", "polynomial"},
    {"polynomiallr", "polynomial"},
    {"polynomialdecay", "polynomial"},
    {"reducelronplateau", "plateau"},
    {"reduceonplateau", "plateau"},
    {"none", "constant"},
    {"fixed", "constant"},
};

constexpr Synonym kArgumentSynonyms[] = {
    {"stepsize", "every"},
    {"period", "every"},
    {"epochs", "every"},
    {"decaysteps", "every"},
    {"gamma", "factor"},
    {"decayrate", "factor"},
    {"decay", "factor"},
    {"rate", "factor"},
    {"etamin", "final"},
    {"endlr", "final"},
    {"end", "final"},
    {"alpha", "final"},
    {"minlr", "min"},
    {"monitor", "metric"},
    {"mindelta", "threshold"},
    {"warmupepochs", "warmup"},
    {"warmuplength", "warmup"},
    {"warmupiters", "warmup_steps"},
    {"numwarmupsteps", "warmup_steps"},
};

constexpr NameNote kArgumentNotes[] = {
    {"milestones", "every",
     "steps are equally far apart: `every: 10` drops the rate every 10 epochs"},
    {"tmax", "final", "leave it out: the curve ends with the run"},
    {"totalsteps", "", "leave it out: the curve ends with the run"},
    {"totaliters", "", "leave it out: the curve ends with the run"},
    {"mode", "patience", "leave it out: it is known whether a metric gets better by rising"},
    {"verbose", "", "leave it out: metrics.csv has the rate of each step"},
    {"lastepoch", "", "leave it out: a resumed run goes on where it was"},
};

// The number that `plateau` looks at.
void ReadMetric(const ModelSpec& model, const TreeNode& node, RateSchedule& schedule,
                Diagnostics& diagnostics) {
  const auto name = ReadText(node, "metric", diagnostics);
  if (!name) return;
  if (const auto number = FindWatchedNumber(model, {*name, node.mark}, diagnostics)) {
    schedule.metric = number->name;
    schedule.metric_mark = node.mark;
    schedule.higher_is_better = number->higher_is_better;
  }
}

// One argument, which is a number.
void ReadNumber(const TreeEntry& entry, const Argument& argument, RateSchedule& schedule,
                Diagnostics& diagnostics) {
  const auto value = ReadReal(entry.value, entry.key, diagnostics);
  if (!value) return;
  if (*value < argument.least || *value > argument.most) {
    diagnostics.Error(entry.value.mark, "'" + entry.key + "' must be " +
                                            RangeText(argument.least, argument.most) + ", not " +
                                            Describe(entry.value));
  } else if (argument.whole && *value != std::floor(*value)) {
    diagnostics.Error(entry.value.mark, "'" + entry.key + "' must be a whole number");
  }
  if (argument.name.starts_with("warmup")) schedule.warmup_mark = entry.value.mark;
  schedule.*argument.number = *value;
}

void ReportUnknown(const TreeEntry& entry, const ScheduleKind& kind, Diagnostics& diagnostics) {
  std::vector<std::string> known;
  for (const Argument& argument : kind.arguments) known.push_back(argument.name);
  std::string help = NoteOn(entry.key, known, kArgumentNotes);
  if (help.empty()) help = SuggestSynonym(entry.key, known, kArgumentSynonyms);
  diagnostics.Error(entry.key_mark, "'" + kind.name + "' has no argument '" + entry.key + "'",
                    help);
}

// Returns whether a key of the map is another program's name of the argument, so that it was told
// of.
bool IsMeant(const TreeNode& node, const std::string& argument) {
  return std::ranges::any_of(node.entries, [&](const TreeEntry& entry) {
    return !MeantName(entry.key, {&argument, 1}, kArgumentSynonyms).empty() ||
           !NoteOn(entry.key, {&argument, 1}, kArgumentNotes).empty();
  });
}

// `node`: the map of the arguments, or the name of the schedule where it has none.
void ReadArguments(const ModelSpec& model, const TreeNode& node, const ScheduleKind& kind,
                   const SourceMark& mark, RateSchedule& schedule, Diagnostics& diagnostics) {
  const std::vector<Argument>& arguments = kind.arguments;
  for (const TreeEntry& entry : node.entries) {
    const auto argument = std::ranges::find(arguments, entry.key, &Argument::name);
    if (argument == arguments.end()) {
      ReportUnknown(entry, kind, diagnostics);
    } else if (argument->number == nullptr) {
      ReadMetric(model, entry.value, schedule, diagnostics);
    } else {
      ReadNumber(entry, *argument, schedule, diagnostics);
    }
  }
  for (const Argument& argument : arguments) {
    if (!argument.required || IsMeant(node, argument.name)) continue;
    diagnostics.Error(mark, "'" + kind.name + "' needs '" + argument.name + "'",
                      argument.name + ": " + argument.doc);
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

// `{type: step, every: 10}`, of which it tells, as `{step: {every: 10}}`; all else as it is.
TreeNode WithKindFirst(const TreeNode& node, Diagnostics& diagnostics) {
  const auto form = FindNamedForm(node);
  if (!form) return node;
  std::vector<std::string> names;
  for (const ScheduleKind& kind : ScheduleKinds()) names.push_back(kind.name);
  const std::string& theirs = form->named_by.value.scalar;
  const std::string ours = OurName(theirs, names, kKindSynonyms);
  const std::string kind = ours.empty() ? theirs : ours;
  std::vector<std::string> arguments;
  for (const ScheduleKind& known : ScheduleKinds()) {
    for (const Argument& argument : known.arguments) {
      if (known.name == kind) arguments.push_back(argument.name);
    }
  }
  const TreeNode rest = WithOurKeys(form->rest, arguments, kArgumentSynonyms);
  diagnostics.Error(form->named_by.key_mark, "a schedule has no key '" + form->named_by.key + "'",
                    "write `schedule: " + WithKindAsKey(kind, rest) + "`");
  return TreeNode::Map({{kind, form->named_by.value.mark, rest}}, node.mark);
}

// Returns the text that replaces `{step: 10}` or `{step: [10, 20]}`.
std::string HelpWithArguments(const ScheduleKind& kind, const TreeNode& given) {
  const auto required = std::ranges::find_if(kind.arguments, &Argument::required);
  if (required == kind.arguments.end()) return "such as `{" + kind.name + ": {warmup: 1}}`";
  if (!given.IsScalar()) return required->name + ": " + required->doc;
  return "write `schedule: {" + kind.name + ": {" + required->name + ": " + given.scalar + "}}`";
}

// Reads `cosine`, or `{cosine: {warmup: 1}}`.
void ReadKind(const ModelSpec& model, const TreeNode& written, RateSchedule& schedule,
              Diagnostics& diagnostics) {
  const TreeNode node = WithKindFirst(written, diagnostics);
  const bool one = node.IsMap() && node.entries.size() == 1;
  if (!node.IsScalar() && !one) {
    diagnostics.Error(node.mark, "'schedule' must name one schedule, not " + Describe(node),
                      "for example `schedule: {cosine: {warmup: 1}}`");
    return;
  }
  const std::string& name = one ? node.entries[0].key : node.scalar;
  const SourceMark& mark = one ? node.entries[0].key_mark : node.mark;
  const TreeNode arguments = one ? node.entries[0].value : TreeNode();
  std::vector<std::string> names;
  for (const ScheduleKind& kind : ScheduleKinds()) {
    names.push_back(kind.name);
    if (name != kind.name) continue;
    schedule.kind = kind.kind;
    const int errors = diagnostics.error_count();
    if (arguments.IsNull() || arguments.IsMap()) {
      ReadArguments(model, arguments, kind, mark, schedule, diagnostics);
    } else {
      diagnostics.Error(
          arguments.mark,
          "'" + kind.name + "' takes a map of its arguments, not " + Describe(arguments),
          HelpWithArguments(kind, arguments));
    }
    if (schedule.watches() && diagnostics.error_count() == errors) {
      CheckPlateau(model, mark, schedule, diagnostics);
    }
    return;
  }
  diagnostics.Error(mark, "there is no schedule '" + name + "'",
                    SuggestSynonym(name, names, kKindSynonyms));
}

// The rate that an optimizer has when the file gives none.
double DefaultRate(const OpSpec& optimizer) {
  const std::optional<OpId> op = FindOp(optimizer.target.value);
  if (!op) return 0.01;  // the front end reports it
  const AttributeSchema& schema = *GetOpDef(*op).schema;
  const AttributeField* field = schema.Find("lr");
  return field == nullptr ? 0.01 : std::get<double>(field->get(schema.defaults()));
}

// Returns how often `step` steps hold a period, which may be a fraction. For example, 0.4 epochs of
// 5 steps are 2 steps, and 6 steps hold three of them. Rounding must not change that: 0.4 in binary
// is a little more, and 6 / 5 / 0.4 is a little less than 3.
double PeriodsIn(double steps, double period) {
  constexpr double kRounding = 4 * std::numeric_limits<double>::epsilon();
  return std::floor(steps / period * (1 + kRounding));
}

}  // namespace

const std::vector<ScheduleKind>& ScheduleKinds() {
  static const std::vector<ScheduleKind> kinds = MakeKinds();
  return kinds;
}

double RateSchedule::WarmupSteps() const {
  if (warmup_steps > 0) return warmup_steps;
  return warmup_epochs * static_cast<double>(std::max<int64_t>(1, steps_per_epoch));
}

double RateSchedule::RateAt(int64_t step) const {
  const double per_epoch = static_cast<double>(std::max<int64_t>(1, steps_per_epoch));
  const double warmup = WarmupSteps();
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
      return learning_rate * std::pow(factor, PeriodsIn(s, per_epoch * every_epochs));
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
  Diagnostics reported;  // of the rate: by the front end, which reads all attributes
  for (const Attribute& attribute : optimizer.attributes) {
    if (attribute.key == "lr") {
      schedule.learning_rate = ReadReal(attribute.value, "lr", reported).value_or(default_rate);
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
    const std::optional<PathOptimizer> found = OptimizerOf(model, path);
    if (!found) continue;  // the front end reports it
    const OpSpec& optimizer = *found->op;
    const auto schedule = ReadRateSchedule(model, optimizer, DefaultRate(optimizer), diagnostics);
    if (!schedule) continue;
    const bool needs_end = schedule->kind == RateSchedule::Kind::kCosine ||
                           schedule->kind == RateSchedule::Kind::kPolynomial;
    if (needs_end && model.train && model.train->seconds) {
      diagnostics.Error(model.train->seconds->mark,
                        "this schedule needs to know the last step, which `time` does not tell",
                        "give `epochs` or `steps`, or another schedule");
      continue;
    }
    schedules.push_back({path.name.value, *schedule, optimizer.mark});
  }
  if (diagnostics.error_count() > errors) return std::nullopt;
  return schedules;
}

std::vector<std::string> RateNames(const std::vector<PathSchedule>& paths) {
  const bool shared = std::ranges::all_of(paths, [&](const PathSchedule& path) {
    return path.optimizer.ToString() == paths[0].optimizer.ToString();
  });
  if (shared) return {"learning_rate"};
  std::vector<std::string> names;
  for (const PathSchedule& path : paths) names.push_back("learning_rate." + path.path);
  return names;
}

std::vector<RateJump> FindRateJumps(const std::vector<PathSchedule>& paths,
                                    const std::vector<RateSchedule>& schedules,
                                    int64_t steps_before, int64_t step) {
  constexpr double kLeast = 1e-3;  // as a part of the schedule's `lr`
  std::vector<RateJump> jumps;
  for (size_t i = 0; i < schedules.size(); ++i) {
    RateSchedule former = schedules[i];
    former.total_steps = steps_before;
    const double expected = former.RateAt(step), now = schedules[i].RateAt(step);
    if (std::abs(now - expected) <= kLeast * former.learning_rate) continue;
    jumps.push_back({paths[i].path, former.RateAt(step - 1), now});
  }
  return jumps;
}

namespace {

void WarnOfLongWarmup(const RateSchedule& schedule, int64_t steps_per_epoch, int64_t total_steps,
                      Diagnostics& diagnostics) {
  RateSchedule of_run = schedule;
  of_run.steps_per_epoch = steps_per_epoch;
  if (total_steps == 0 || of_run.WarmupSteps() <= static_cast<double>(total_steps)) return;
  char text[160];
  std::snprintf(
      text, sizeof(text),
      "the warm-up takes %.0f steps, and the run has %lld: the rate rises to its end, and "
      "gets to %.4g where `lr` is %.4g",
      of_run.WarmupSteps(), static_cast<long long>(total_steps), of_run.RateAt(total_steps - 1),
      schedule.learning_rate);
  diagnostics.Warning(schedule.warmup_mark, text,
                      "an epoch has " + CountText(steps_per_epoch, "step") +
                          "; `warmup` counts epochs, `warmup_steps` steps");
}

}  // namespace

void WarnOfLongWarmups(const std::vector<PathSchedule>& paths, int64_t steps_per_epoch,
                       int64_t total_steps, Diagnostics& diagnostics) {
  std::set<std::string> told;  // the optimizers, by their places
  for (const PathSchedule& of_path : paths) {
    if (!told.insert(of_path.optimizer.ToString()).second) continue;
    WarnOfLongWarmup(of_path.schedule, steps_per_epoch, total_steps, diagnostics);
  }
}

}  // namespace cgrun
