#include "src/groups/evaluate_groups.h"

#include <chrono>
#include <utility>

#include "src/model_data/group_table.h"

namespace cgrun {
namespace {

// One call of EvaluateGroups().
class GroupEvaluation {
 public:
  GroupEvaluation(Session& session, const ModelSpec& model, const GroupModels& models,
                  const std::string& split, GroupObserver& observer)
      : session_(session),
        models_(models),
        split_(split),
        observer_(observer),
        table_(*session.groups()),
        opener_(model, table_),
        places_(models.index.Names()) {}

  std::vector<GroupResult> Run() {
    std::vector<GroupResult> results;
    for (int64_t group = 0; group < table_.count(); ++group) {
      GroupResult result;
      result.number = group;
      result.name = table_.names()[group];
      result.rows = table_.RowsOf(group);
      result.reason = Measure(group, result);
      observer_.OnGroup(result, table_.count());
      results.push_back(std::move(result));
    }
    return results;
  }

 private:
  // Returns why there is no measurement; "" where there is one.
  std::string Measure(int64_t group, GroupResult& result) {
    const auto place = places_.Find(table_.names()[group]);
    if (!place) return "the run has no model of this group";
    const GroupEntry& entry = models_.index.entries[static_cast<size_t>(*place)];
    if (!entry.has_model()) return "it has no model: " + entry.reason;
    if (!table_.ProblemOf(group).empty()) return table_.ProblemOf(group);
    const DataFindings kept = entry.Findings();
    Diagnostics diagnostics;
    const ModelData data = opener_.Open(group, &kept, diagnostics);
    if (diagnostics.has_errors()) return FirstError(diagnostics);
    const auto& set = split_ == "train" ? data.train : split_ == "valid" ? data.valid : data.test;
    if (set == nullptr) return "it has no rows in '" + split_ + "'";
    if (!session_.TakeGroup(data, diagnostics)) return FirstError(diagnostics);
    models_.bank.Get(*place, session_.engine());
    RunObserver unseen;
    PassResult pass = session_.Evaluate(split_, unseen);
    pass.tables.clear();
    result.passes.push_back(std::move(pass));
    return "";
  }

  Session& session_;
  const GroupModels& models_;
  const std::string& split_;
  GroupObserver& observer_;
  const GroupTable& table_;
  const GroupOpener opener_;
  const GroupNames places_;  // in the bank
};

}  // namespace

GroupsResult EvaluateGroups(Session& session, const ModelSpec& model, const GroupModels& models,
                            const std::string& split, GroupObserver& observer) {
  const auto start = std::chrono::steady_clock::now();
  GroupsResult result;
  result.model = model.name.value;
  result.folder = models.folder;
  result.column = models.index.column;
  result.device = session.engine().model().device;
  result.weights = models.file;
  result.batch = session.batch();
  result.groups = GroupEvaluation(session, model, models, split, observer).Run();
  result.weights_bytes = models.bank.bytes();
  result.graph_analyses = session.graph_analyses();
  ChooseMetric(model, result);
  RankGroups(result);
  result.memory = session.MeasureMemory();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace cgrun
