#include "src/groups/train_groups.h"

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "src/groups/group_bank.h"
#include "src/groups/group_index.h"
#include "src/groups/group_journal.h"
#include "src/io/checksum.h"
#include "src/model_data/data_findings.h"
#include "src/model_data/group_table.h"
#include "src/run/watched_number.h"

namespace cgrun {
namespace {

// While a run goes on, the weights of its groups lie in these files.
constexpr char kOpenBank[] = "/groups.weights", kOpenBestBank[] = "/groups-best.weights";

// Passes on what a group's training tells, and keeps its best weights.
class GroupTrainingObserver final : public RunObserver {
 public:
  GroupTrainingObserver(GroupObserver& observer, const GroupTable& table, int64_t group,
                        const Engine& engine, GroupBank* best)
      : observer_(observer), table_(table), group_(group), engine_(engine), best_(best) {}

  void OnStep(const StepReport& report) override {
    observer_.OnStep(group_, table_.count(), table_.names()[group_], report);
  }
  void OnBest() override {
    if (best_ == nullptr) return;
    best_->Put(group_, engine_);
    has_best_ = true;
  }
  bool has_best() const { return has_best_; }

 private:
  GroupObserver& observer_;
  const GroupTable& table_;
  const int64_t group_;
  const Engine& engine_;
  GroupBank* const best_;  // null where no `valid` tells which weights are the best
  bool has_best_ = false;
};

// Returns what is kept of a pass for each group.
PassResult MeansOf(const PassResult& pass) {
  PassResult means;
  means.split = pass.split;
  means.means = pass.means;
  means.samples = pass.samples;
  return means;
}

std::vector<PassResult> PassesOf(const TrainResult& trained) {
  std::vector<PassResult> passes;
  if (trained.last.train.measured()) passes.push_back(MeansOf(trained.last.train));
  for (const PassResult& pass : trained.last.evaluations) {
    if (pass.measured()) passes.push_back(MeansOf(pass));
  }
  return passes;
}

// One call of TrainGroups().
class GroupRun {
 public:
  GroupRun(Session& session, const ModelSpec& model, const GroupRunOptions& options,
           GroupObserver& observer, const RunSignals& signals)
      : session_(session),
        model_(model),
        folder_(options.folder),
        observer_(observer),
        signals_(signals),
        table_(*session.groups()),
        opener_(model, table_),
        last_(session.engine(), table_.count(), folder_ + kOpenBank),
        journal_(options.resume ? GroupJournal::GoOn(folder_, Head())
                                : GroupJournal::Begin(folder_, Head())),
        start_(std::chrono::steady_clock::now()) {
    if (!table_.valid_sizes().empty()) {
      best_.emplace(session.engine(), table_.count(), folder_ + kOpenBestBank);
    }
    ForgetDamaged();
    result_.of_before = std::ssize(journal_.groups());
  }

  GroupsResult Run() {
    observer_.OnBegin(result_.of_before, table_.count());
    for (int64_t group = 0; group < table_.count() && !result_.interrupted; ++group) {
      if (!journal_.groups().contains(group)) Train(group);
    }
    if (!result_.interrupted) WriteModels();
    Describe();
    return std::move(result_);
  }

 private:
  GroupJournalHead Head() const {
    return {model_.data->group_by->value, table_.count(), HashText(table_.Hash()),
            HashText(session_.engine().StateHash()), session_.weights_file()};
  }

  // A machine that stopped may have lost weights of groups that the journal has.
  void ForgetDamaged() {
    std::erase_if(journal_.groups(), [&](const auto& item) {
      const auto& [number, group] = item;
      if (!group.result.reason.empty()) return false;
      return last_.HashOf(number) != group.result.weights_hash ||
             (best_ && best_->HashOf(number) != group.best_hash);
    });
  }

  // Trains one group, and notes what came of it.
  void Train(int64_t group) {
    TrainedGroup trained;
    SafetensorsMetadata data;  // by which its rows are read
    trained.result.number = group;
    trained.result.name = table_.names()[group];
    trained.result.rows = table_.RowsOf(group);
    trained.result.reason = table_.ProblemOf(group);
    try {
      if (trained.result.reason.empty()) TrainModel(group, trained, data);
    } catch (const RunStopped&) {
      result_.interrupted = true;
    } catch (const UserError& error) {
      trained.result.reason = error.what();
    }
    if (result_.interrupted) return;
    observer_.OnGroup(trained.result, table_.count());
    journal_.Add(std::move(trained), data);
  }

  void TrainModel(int64_t group, TrainedGroup& trained, SafetensorsMetadata& data) {
    Diagnostics diagnostics;
    const ModelData sets = opener_.Open(group, nullptr, diagnostics);
    if (diagnostics.has_errors() || !session_.TakeGroup(sets, diagnostics)) {
      trained.result.reason = FirstError(diagnostics);
      return;
    }
    const Engine& engine = session_.engine();
    GroupTrainingObserver observer(observer_, table_, group, engine, best_ ? &*best_ : nullptr);
    const TrainResult result = session_.Train("", observer, signals_);
    result_.interrupted = result.interrupted;
    if (result.interrupted) return;
    last_.Put(group, engine);
    if (best_ && !observer.has_best()) best_->Copy(group, last_);
    if (best_) trained.best_hash = best_->HashOf(group);
    data = FindingsMetadata(FindingsOf(*sets.train));
    data.merge(ClassMetadata(session_.class_names()));
    trained.result.epochs = result.epochs;
    trained.result.steps = result.steps;
    trained.result.passes = PassesOf(result);
    trained.result.weights_hash = result.weights_hash;
  }

  // The data of the first group that has a model.
  SafetensorsMetadata SharedData() {
    for (const auto& [number, group] : journal_.groups()) {
      if (group.result.reason.empty()) return journal_.DataOf(group);
    }
    return {};
  }

  void WriteIndex() {
    GroupIndexWriter writer(folder_, model_.data->group_by->value, SharedData());
    for (const auto& [number, group] : journal_.groups()) {
      writer.Add({group.result.name, group.result.reason, journal_.DataOf(group)});
    }
    writer.Commit();
  }

  // The index comes last: a folder that has one has the weights, too.
  void WriteModels() {
    last_.Write(folder_ + "/" + kGroupWeights);
    if (best_) best_->Write(folder_ + "/" + kBestGroupWeights);
    WriteIndex();
    GroupJournal::Remove(folder_);
    std::error_code error;
    for (const char* bank : {kOpenBank, kOpenBestBank}) {
      std::filesystem::remove(folder_ + bank, error);
    }
  }

  void Describe() {
    result_.model = model_.name.value;
    result_.folder = folder_;
    result_.column = model_.data->group_by->value;
    result_.device = session_.engine().model().device;
    result_.batch = session_.batch();
    result_.weights_bytes = last_.bytes() + (best_ ? best_->bytes() : 0);
    result_.graph_analyses = session_.graph_analyses();
    for (auto& [group, trained] : journal_.groups()) {
      result_.groups.push_back(std::move(trained.result));
    }
    ChooseMetric(model_, result_);
    RankGroups(result_);
    result_.memory = session_.MeasureMemory();
    result_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  Session& session_;
  const ModelSpec& model_;
  const std::string folder_;
  GroupObserver& observer_;
  const RunSignals signals_;
  const GroupTable& table_;
  const GroupOpener opener_;
  GroupBank last_;
  std::optional<GroupBank> best_;
  GroupJournal journal_;
  std::chrono::steady_clock::time_point start_;
  GroupsResult result_;
};

}  // namespace

GroupsResult TrainGroups(Session& session, const ModelSpec& model, const GroupRunOptions& options,
                         GroupObserver& observer, const RunSignals& signals) {
  return GroupRun(session, model, options, observer, signals).Run();
}

// `valid` comes first, as it does where the best weights are chosen.
void ChooseMetric(const ModelSpec& model, GroupsResult& result) {
  for (const char* split : {"train", "test", "valid"}) {
    for (const GroupResult& group : result.groups) {
      const PassResult* const pass = group.Find(split);
      if (pass == nullptr || pass->means.empty()) continue;
      result.split = split;
      result.metric = pass->means[0].name;
      break;
    }
  }
  Diagnostics reported;
  const WatchedNumbers watched = ReadWatchedNumbers(model, /*has_valid=*/true, reported);
  const auto& wanted = watched.kept ? watched.kept : watched.stopping;
  if (!wanted) return;
  result.metric = wanted->name;
  result.higher_is_better = wanted->higher_is_better;
}

std::string InitialWeightsOf(const std::string& folder) {
  return GroupJournal::ReadHead(folder).weights;
}

}  // namespace cgrun
