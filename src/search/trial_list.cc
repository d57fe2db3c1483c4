#include "src/search/trial_list.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "src/run/watched_number.h"
#include "src/search/tpe.h"

namespace cgrun {
namespace {

int64_t LimitOf(const SearchSpec& search, std::optional<int64_t> configurations) {
  const BudgetSpec& budget = search.budget;
  int64_t limit = configurations.value_or(TrialList::kNoLimit);
  if (budget.trials) limit = std::min(limit, budget.trials->value);
  if (search.stop && budget.epochs) {
    const int64_t within = TrialsWithin(*search.stop, budget.epochs->value);
    limit = std::min({limit, within, Space::kMostCounted});
  }
  return limit;
}

std::string FirstError(const Diagnostics& diagnostics) {
  for (const Diagnostic& item : diagnostics.Sorted()) {
    if (item.severity == Severity::kError) return item.message;
  }
  return "";
}

void Append(const Diagnostics& from, Diagnostics& to) {
  for (const Diagnostic& item : from.Sorted()) {
    if (item.severity == Severity::kError) to.Error(item.mark, item.message, item.help);
  }
}

void ReportNoValid(const SearchSpec& search, const ModelSpec& model, Diagnostics& diagnostics) {
  diagnostics.Error(
      search.metric.name.mark,
      "trials are compared by the data of `valid`, which " + model.file_name + " does not have",
      "`data: {valid: {split: 0.1}}` in that file takes a tenth of the training data");
}

}  // namespace

TrialList::TrialList(const SearchSpec& search, const Space& space,
                     const std::vector<Assignment>& common, const TrialPlace& place,
                     SharedData& data)
    : search_(search),
      space_(space),
      common_(common),
      place_(place),
      data_(data),
      proposals_(space, search.method_id(), static_cast<uint64_t>(search.seed.value)),
      limit_(LimitOf(search, proposals_.count())) {
  if (search.stop && limit_ < kNoLimit) rungs_ = RungsOf(*search.stop, limit_);
}

// The first proposals of `tpe` are random.
bool TrialList::NeedsResults() const {
  return search_.method_id() == Method::kTpe &&
         std::ssize(trials_) - kLag + 1 >= static_cast<int64_t>(TreeParzen::kLeastKnown);
}

bool TrialList::KnowsNext() const {
  if (!NeedsResults()) return true;
  const auto end = trials_.begin() + (std::ssize(trials_) - kLag + 1);
  return std::all_of(trials_.begin(), end, [&](const Trial& trial) {
    return !trial.can_run || StandingOf(trial, 0).has_value();
  });
}

std::optional<Standing> TrialList::StandingOf(const Trial& trial, int64_t rung) const {
  if (rung >= std::ssize(trial.units)) return std::nullopt;
  Standing standing{trial.result.number - 1, std::nullopt};
  if (trial.result.value && trial.result.state != TrialState::kFailed) {
    standing.loss = higher_is_better_ ? -*trial.result.value : *trial.result.value;
  }
  return standing;
}

// Uses only the results of the first rung, which all trials reach. Later results depend on the
// other trials.
std::vector<PastTrial> TrialList::Known() const {
  std::vector<PastTrial> known;
  if (!NeedsResults()) return known;
  for (int64_t i = 0; i <= std::ssize(trials_) - kLag; ++i) {
    const Trial& trial = trials_[static_cast<size_t>(i)];
    PastTrial past{trial.settings, std::nullopt};
    if (const auto standing = StandingOf(trial, 0)) {
      past.loss = standing->loss.value_or(std::numeric_limits<double>::infinity());
    }
    known.push_back(std::move(past));
  }
  return known;
}

Trial* TrialList::Next(Diagnostics& diagnostics) {
  auto settings = proposals_.Next(Known());
  is_exhausted_ = !settings;
  if (!settings) return nullptr;
  Trial trial;
  trial.settings = std::move(*settings);
  trial.result.number = std::ssize(trials_) + 1;
  for (size_t i = 0; i < space_.size(); ++i) {
    const auto& setting = trial.settings[i];
    trial.result.settings.push_back(setting ? space_.TextOf(i, *setting) : "");
  }
  Plan(trial, diagnostics);
  const auto& most = search_.budget.epochs;
  if (!search_.stop && most && epochs_ + trial.plan.epochs > most->value) {
    is_exhausted_ = true;
    return nullptr;
  }
  epochs_ += trial.can_run ? trial.plan.epochs : 0;
  trials_.push_back(std::move(trial));
  return &trials_.back();
}

// Returns whether the search can compare such models.
bool TrialList::CheckModel(const ModelSpec& model, Diagnostics& diagnostics) {
  const int errors = diagnostics.error_count();
  if (!model.data || !model.data->valid) ReportNoValid(search_, model, diagnostics);
  const auto metric = FindWatchedNumber(model, search_.metric.name, diagnostics);
  if (!metric) return false;
  higher_is_better_ = metric->higher_is_better;
  const auto& goal = search_.metric.goal;
  if (goal && (goal->value == "max") != metric->higher_is_better) {
    diagnostics.Error(goal->mark,
                      "'" + metric->name + "' is better where it is " +
                          (metric->higher_is_better ? "higher" : "lower"),
                      metric->higher_is_better ? "write `goal: max`" : "write `goal: min`");
  }
  if (search_.stop && model.train && !model.train->epochs) {
    diagnostics.Error(search_.stop->max.mark, "'stop' counts epochs, and the model has none");
  }
  return diagnostics.error_count() == errors;
}

void TrialList::Plan(Trial& trial, Diagnostics& diagnostics) {
  Diagnostics fault;
  const auto model = ModelOf(search_, space_, trial.settings, common_, place_.expand, fault);
  std::optional<TrialPlan> plan;
  if (model && CheckModel(*model, diagnostics)) {
    if (const auto data = data_.Open(*model, diagnostics)) {
      plan = PlanOf(*model, *data, fault);
    }
  }
  if (plan) return TakePlan(trial, *plan);
  trial.can_run = false;
  trial.result.state = TrialState::kRefused;
  trial.result.reason = FirstError(fault);
  if (fault.has_errors()) trial.fault = std::move(fault);
}

// Most trials of a search have the plan of another one.
std::optional<TrialPlan> TrialList::PlanOf(const ModelSpec& model, const ModelData& data,
                                           Diagnostics& diagnostics) {
  const std::string key = PlanKeyOf(model, data);
  const auto found = plans_.find(key);
  if (found == plans_.end()) {
    const auto plan = PlanTrial(model, data, place_, diagnostics);
    if (plan) plans_.emplace(key, *plan);
    return plan;
  }
  TrialPlan plan = found->second;
  plan.epochs = EpochsOfModel(model, data);
  return plan;
}

void TrialList::TakePlan(Trial& trial, const TrialPlan& plan) const {
  trial.plan = plan;
  TrialResult& result = trial.result;
  result.arena = plan.arena;
  result.memory = plan.memory;
  result.planned_epochs = plan.epochs;
  result.estimated_seconds = plan.seconds_per_epoch * static_cast<double>(plan.epochs);
  result.reason = plan.refusal;
  trial.can_run = plan.refusal.empty();
  if (!trial.can_run) result.state = TrialState::kRefused;
}

namespace {

// Reports the fault of the first trial that `has_value`, if all such trials have one.
template <class HasValue>
void ReportFaultOf(const std::vector<Trial>& trials, const HasValue& has_value,
                   const std::string& note, Diagnostics& diagnostics) {
  const Trial* first = nullptr;
  for (const Trial& trial : trials) {
    if (!has_value(trial)) continue;
    if (!trial.fault) return;
    if (first == nullptr) first = &trial;
  }
  if (first == nullptr) return;
  const Diagnostics::Note of_value(diagnostics, note);
  Append(*first->fault, diagnostics);
}

}  // namespace

void ReportFaults(const Space& space, const std::vector<Trial>& trials, Diagnostics& diagnostics) {
  ReportFaultOf(
      trials, [](const Trial&) { return true; }, "no trial can be built", diagnostics);
  if (diagnostics.has_errors()) return;
  for (size_t i = 0; i < space.size(); ++i) {
    const SearchParameter& parameter = space[i];
    for (size_t choice = 0; choice < parameter.values.size(); ++choice) {
      const auto has_value = [&](const Trial& trial) {
        return trial.settings[i] && trial.settings[i]->choice == choice;
      };
      const std::string note = parameter.values[choice].mark.ToString() + " gives '" +
                               parameter.path.value + "' the value " +
                               space.TextOf(i, {choice, 0}) + ", with which no trial can be built";
      ReportFaultOf(trials, has_value, note, diagnostics);
    }
  }
}

}  // namespace cgrun
