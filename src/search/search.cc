// A search is proposals, plans, units of work and a table.
#include "src/search/search.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iterator>
#include <set>
#include <span>
#include <utility>

#include "src/base/check.h"
#include "src/io/checksum.h"
#include "src/model/model_file.h"
#include "src/search/executor.h"
#include "src/search/journal.h"
#include "src/search/make_ensemble.h"
#include "src/search/search_files.h"
#include "src/search/trial_list.h"
#include "src/search/trial_runner.h"

namespace cgrun {
namespace {

// Trials that are planned before the first one starts where nothing limits their number.
constexpr int64_t kPlannedAhead = 17;

// Settings that a search gives to all its trials.
std::vector<Assignment> CommonAssignments(const SearchSpec& search, const TrialPlace& place) {
  const MarkedText& metric = search.metric.name;
  std::vector<Assignment> common = {
      {"train.keep_best", TreeNode::Scalar(metric.value, metric.mark), metric.mark},
      {"device", TreeNode::Scalar(place.device), metric.mark}};
  if (search.stop) {
    const auto& [epochs, mark] = search.stop->max;
    common.push_back({"train.epochs", TreeNode::Scalar(std::to_string(epochs), mark), mark});
  }
  return common;
}

// One call of RunSearch().
class Search {
 public:
  Search(const SearchSpec& search, const SearchOptions& options, SearchObserver& observer,
         const RunSignals& signals, Diagnostics& diagnostics)
      : search_(search),
        options_(options),
        observer_(observer),
        signals_(signals),
        diagnostics_(diagnostics),
        space_(search.parameters),
        common_(CommonAssignments(search, options.place)),
        list_(search, space_, common_, options.place, data_),
        runner_(search, space_, common_, options.place, data_, options.folder),
        kept_(search.keep.value) {
    if (search.ensemble) kept_ = std::max(kept_, CandidatesOf(*search.ensemble));
  }

  std::optional<SearchResult> Run() {
    if (!CheckCount() || !PlanAhead()) return std::nullopt;
    Describe();
    observer_.OnPlanned(result_);
    if (options_.dry_run) return Ranked();
    OpenJournal();
    MakeProcesses();
    try {
      RunFirstRung();
      for (int64_t rung = 1; rung < std::ssize(list_.rungs()); ++rung) RunRung(rung);
    } catch (const RunStopped&) {
      result_.interrupted = true;
    }
    return Finished();
  }

 private:
  // A search has at least one trial, and a grid can be counted. Returns false after an error.
  bool CheckCount() {
    const SourceMark whole{search_.tree.mark.file};
    if (search_.method_id() == Method::kGrid && !list_.configurations()) {
      diagnostics_.Error(
          whole,
          "the grid has more than " + std::to_string(Space::kMostCounted) + " configurations",
          "`method: random` or `tpe` tries some of them");
    } else if (search_.ensemble && !search_.ensemble->greedy &&
               search_.ensemble->picks.value > list_.limit()) {
      diagnostics_.Error(search_.ensemble->picks.mark,
                         "the search has only " + CountText(list_.limit(), "trial") +
                             ", and 'top' "
                             "takes " +
                             std::to_string(search_.ensemble->picks.value),
                         "give a smaller number, or `ensemble: greedy`");
    } else if (list_.limit() == 0) {
      diagnostics_.Error(
          search_.budget.epochs->mark, "so few epochs are not enough for one trial with `stop`",
          "a trial that is never stopped has " + CountText(search_.stop->max.value, "epoch"));
    }
    return !diagnostics_.has_errors();
  }

  // Proposes and plans the trials that need no results. Returns false after an error.
  bool PlanAhead() {
    const int64_t most = list_.limit() == TrialList::kNoLimit ? kPlannedAhead : list_.limit();
    while (list_.HasNext() && list_.KnowsNext() && std::ssize(list_.trials()) < most) {
      list_.Next(diagnostics_);
      if (diagnostics_.has_errors()) return false;
    }
    ReportFaults(space_, list_.trials(), diagnostics_);
    return !diagnostics_.has_errors();
  }

  void Describe() {
    result_.name = search_.name;
    result_.folder = options_.folder;
    result_.method = search_.method.value;
    result_.metric = search_.metric.name.value;
    result_.higher_is_better = list_.higher_is_better();
    result_.configurations = list_.configurations();
    if (list_.limit() < TrialList::kNoLimit) result_.most_trials = list_.limit();
    result_.threads = options_.place.threads;
    for (size_t i = 0; i < space_.size(); ++i) {
      result_.parameters.push_back(space_[i].path.value);
    }
    for (const Rung& rung : list_.rungs()) result_.rungs.push_back({rung.epochs, rung.trials});
    int64_t largest = 0;
    for (const Trial& trial : list_.trials()) {
      if (!trial.can_run) continue;
      result_.heap = std::max(result_.heap, trial.plan.arena);
      result_.data = std::max(result_.data, trial.plan.data);
      largest = std::max(largest, trial.plan.memory);
    }
    result_.jobs = JobsWithin(largest);
    for (const Trial& trial : list_.trials()) result_.trials.push_back(trial.result);
  }

  // As many processes as are asked for, or as there are processors for, but no more than fit under
  // the cap.
  int JobsWithin(int64_t largest) const {
    if (!KindOfDevice(options_.place.device).on_host) return 1;
    int64_t jobs = options_.jobs > 0 ? options_.jobs : HostThreads() / options_.place.threads;
    jobs = std::min(jobs, list_.limit());
    if (search_.method_id() == Method::kTpe) jobs = std::min(jobs, kLag);
    if (options_.place.cap && largest > 0) jobs = std::min(jobs, *options_.place.cap / largest);
    return static_cast<int>(std::max<int64_t>(1, jobs));
  }

  void OpenJournal() {
    const std::string fingerprint =
        FingerprintOf(search_, options_.arguments, options_.place.expand);
    if (options_.resume) {
      const JournalHead head = Journal::ReadHead(options_.folder);
      if (head.fingerprint != fingerprint) RefuseJournal(head);
      journal_.emplace(Journal::GoOn(options_.folder));
    } else {
      const std::string file = std::filesystem::absolute(search_.file_name).lexically_normal();
      journal_.emplace(Journal::Begin(options_.folder, {file, fingerprint, options_.arguments}));
    }
  }

  [[noreturn]] void RefuseJournal(const JournalHead& head) const {
    throw InputError("the journal in '" + options_.folder + "' is of another search: " +
                         head.search + " or a model that it names has changed since",
                     "begin a new search in another folder: `--out DIR`");
  }

  void MakeProcesses() {
    if (result_.jobs > 1) executor_ = MakeWorkers(runner_, result_.jobs, result_.heap, signals_);
    if (executor_) return;
    result_.jobs = 1;
    if (result_.heap > 0) runner_.KeepHeap(result_.heap);
    executor_ = MakeExecutor(runner_, signals_);
  }

  void RunFirstRung() {
    size_t next = 0;
    const auto next_unit = [&]() -> const Trial* {
      while (true) {
        if (next == list_.trials().size()) {
          if (!list_.HasNext() || !list_.KnowsNext()) return nullptr;
          if (list_.Next(diagnostics_) == nullptr) return nullptr;
        }
        const Trial& trial = list_.trials()[next++];
        if (trial.can_run) return &trial;
        observer_.OnTrial(result_, trial.result);
      }
    };
    RunUnits(0, next_unit);
  }

  void RunRung(int64_t rung) {
    std::vector<Standing> standings;
    for (const Trial& trial : list_.trials()) {
      if (const auto standing = list_.StandingOf(trial, rung - 1)) standings.push_back(*standing);
    }
    const auto promoted = Promoted(standings, list_.rungs()[static_cast<size_t>(rung)].trials);
    for (Trial& trial : list_.trials()) {
      if (std::ssize(trial.units) < rung || trial.result.state == TrialState::kFailed) continue;
      const bool goes_on = std::ranges::count(promoted, trial.result.number - 1) > 0;
      trial.result.state = goes_on ? TrialState::kPlanned : TrialState::kStopped;
    }
    RemoveLosers();
    size_t next = 0;
    RunUnits(rung, [&]() -> const Trial* {
      if (next == promoted.size()) return nullptr;
      return &list_.trials()[static_cast<size_t>(promoted[next++])];
    });
  }

  // Runs the units of a rung, whose trials `next` gives, in that order. A trial that is not known
  // yet is asked for again when a unit has ended.
  void RunUnits(int64_t rung, const std::function<const Trial*()>& next) {
    while (true) {
      const Trial* trial = nullptr;
      if (executor_->running() < executor_->jobs() && !IsOver()) trial = next();
      if (trial != nullptr) {
        Begin(UnitOf(*trial, rung));
      } else if (executor_->running() > 0) {
        Take(executor_->Wait());
      } else {
        return;
      }
    }
  }

  // Returns whether no other unit may begin.
  bool IsOver() {
    if (signals_.stop != nullptr && *signals_.stop != 0) result_.interrupted = true;
    const auto& seconds = search_.budget.seconds;
    if (seconds && Seconds() >= seconds->value) result_.out_of_time = true;
    return result_.interrupted || result_.out_of_time;
  }

  double Seconds() const {
    const auto here = std::chrono::steady_clock::now() - start_;
    return journal_->seconds_before() + std::chrono::duration<double>(here).count();
  }

  Unit UnitOf(const Trial& trial, int64_t rung) const {
    Unit unit;
    unit.trial = trial.result.number - 1;
    unit.rung = rung;
    unit.settings = trial.settings;
    unit.plan = trial.plan;
    if (!list_.rungs().empty()) unit.until_epoch = list_.rungs()[static_cast<size_t>(rung)].epochs;
    if (rung > 0) unit.from_step = trial.units.back().step;
    return unit;
  }

  // A unit that the journal has is done.
  void Begin(const Unit& unit) {
    const UnitResult* const known = journal_->Find(unit.trial, unit.rung);
    known != nullptr ? Note(*known) : executor_->Start(unit);
  }

  void Take(const UnitResult& unit) {
    if (unit.interrupted && unit.failure.empty()) {
      result_.interrupted = true;
      return;
    }
    has_lost_ |= unit.interrupted;
    if (!unit.interrupted) journal_->Add(unit, Seconds());
    Note(unit);
  }

  void Note(const UnitResult& unit) {
    Trial& trial = list_.trials()[static_cast<size_t>(unit.trial)];
    TrialResult& result = trial.result;
    trial.units.push_back(unit);
    result.rung = unit.rung;
    result.epochs = unit.epochs;
    result.seconds += unit.seconds;
    result.resident = unit.resident;
    result.weights = unit.weights;
    result.reason = unit.failure;
    for (const double value : unit.curve) {
      result.curve.push_back(value);
      if (std::isnan(value)) continue;
      const bool better = result.value && (list_.higher_is_better() ? value > *result.value
                                                                    : value < *result.value);
      if (!result.value || better) result.value = value;
    }
    if (!result.value && result.reason.empty()) {
      result.reason = "'" + search_.metric.name.value + "' was never a number";
    }
    const bool is_last = unit.rung + 1 >= std::ssize(list_.rungs());
    if (!result.reason.empty()) {
      result.state = TrialState::kFailed;
    } else if (is_last) {
      result.state = TrialState::kDone;
    }
    if (list_.rungs().empty()) RemoveLosers();
    observer_.OnTrial(result_, result);
  }

  static bool IsRanked(const Trial& trial) {
    return trial.result.value && trial.result.state != TrialState::kFailed;
  }

  // The trials, the best first. A trial that has left a later rung goes before those that have not.
  std::vector<const Trial*> Ranking() const {
    std::vector<const Trial*> ranking;
    for (const Trial& trial : list_.trials()) ranking.push_back(&trial);
    std::ranges::stable_sort(ranking, [&](const Trial* a, const Trial* b) {
      if (IsRanked(*a) != IsRanked(*b)) return IsRanked(*a);
      if (!IsRanked(*a)) return false;
      if (a->result.rung != b->result.rung) return a->result.rung > b->result.rung;
      if (list_.higher_is_better()) return *a->result.value > *b->result.value;
      return *a->result.value < *b->result.value;
    });
    return ranking;
  }

  // Removes the run folders of trials that neither go on nor are among the best.
  void RemoveLosers() {
    int64_t rank = 0;
    for (const Trial* trial : Ranking()) {
      const TrialState state = trial->result.state;
      const bool is_kept = IsRanked(*trial) && rank++ < kept_;
      const bool has_ended = state != TrialState::kPlanned && state != TrialState::kRefused;
      const int64_t number = trial->result.number;
      if (is_kept || !has_ended || !removed_.insert(number).second) continue;
      RemoveRunFolder(TrialFolder(options_.folder, number - 1));
    }
  }

  SearchResult Ranked() {
    result_.trials.clear();
    for (const Trial* trial : Ranking()) {
      result_.trials.push_back(trial->result);
      const std::string folder = TrialFolder(options_.folder, trial->result.number - 1);
      std::error_code error;
      if (std::filesystem::exists(folder, error)) result_.trials.back().folder = folder;
    }
    return std::move(result_);
  }

  // The members run in this process, which needs the heap no more.
  void AddEnsemble() {
    EnsembleRequest request{*search_.ensemble,
                            search_.metric.name.value,
                            list_.higher_is_better(),
                            options_.folder,
                            {}};
    const int64_t most = CandidatesOf(*search_.ensemble);
    for (const Trial* trial : Ranking()) {
      if (!IsRanked(*trial) || std::ssize(request.candidates) == most) break;
      const int64_t number = trial->result.number;
      const std::string folder = TrialFolder(options_.folder, number - 1);
      request.candidates.push_back({number, folder, trial->result.weights});
    }
    observer_.OnEnsemble(std::ssize(request.candidates));
    runner_.FreeHeap();
    try {
      result_.ensemble = MakeEnsemble(request, options_.place, data_, signals_);
    } catch (const RunStopped&) {
      result_.interrupted = true;
    }
  }

  SearchResult Finished() {
    executor_.reset();
    if (search_.ensemble && !result_.interrupted) AddEnsemble();
    result_.seconds = Seconds();
    // A trial that was lost is run again by a resumed search, whose ensemble may have others.
    if (!has_lost_) kept_ = search_.keep.value;
    if (!result_.interrupted) RemoveLosers();
    SearchResult result = Ranked();
    WriteTables(result);
    if (!result.interrupted) CopyBest(result);
    return result;
  }

  const SearchSpec& search_;
  const SearchOptions& options_;
  SearchObserver& observer_;
  const RunSignals signals_;
  Diagnostics& diagnostics_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const Space space_;
  const std::vector<Assignment> common_;
  SharedData data_;
  TrialList list_;
  TrialRunner runner_;
  std::optional<Journal> journal_;
  std::unique_ptr<Executor> executor_;
  std::set<int64_t> removed_;  // numbers of trials whose run folders are gone
  int64_t kept_ = 0;           // best trials whose run folders stay until the end
  bool has_lost_ = false;      // the system has ended the process of a trial
  SearchResult result_;
};

}  // namespace

std::string FingerprintOf(const SearchSpec& search, const std::string& arguments,
                          const TreeExpander& expand) {
  std::string text = ToYaml(search.tree) + arguments;
  for (const std::string& file : ModelFilesOf(search)) {
    Diagnostics reported;  // the trials report them
    const auto model = LoadModelFile(file, {}, reported, {}, nullptr, expand);
    if (model) text += ToYaml(ResolvedTree(*model));
  }
  return HashText(HashBytes(std::as_bytes(std::span(text))));
}

std::optional<SearchResult> RunSearch(const SearchSpec& search, const SearchOptions& options,
                                      SearchObserver& observer, const RunSignals& signals,
                                      Diagnostics& diagnostics) {
  return Search(search, options, observer, signals, diagnostics).Run();
}

}  // namespace cgrun
