#include "src/cli/group_runs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "src/base/json_text.h"
#include "src/base/shell_word.h"
#include "src/cli/command.h"
#include "src/cli/console.h"
#include "src/cli/run_split.h"
#include "src/cli/run_view.h"
#include "src/cli/signals.h"
#include "src/fit/run_shape.h"
#include "src/groups/evaluate_groups.h"
#include "src/io/atomic_file.h"
#include "src/report/epoch_lines.h"
#include "src/report/group_report.h"
#include "src/report/run_summary.h"
#include "src/report/table.h"
#include "src/run/run_folder.h"

namespace cgrun {
namespace {

constexpr char kTable[] = "/groups.csv";

void WriteText(const std::string& path, const std::string& text) {
  WriteFileAtomically(path, std::as_bytes(std::span(text)));
}

// A line behind the table.
std::string TrainedText(const GroupsResult& result) {
  const int64_t models = std::ssize(result.groups) - result.CountWithout();
  return fmt::format("{} in {}, {} of weights in {}\n", FormatCount(models, "model"),
                     FormatSeconds(result.seconds), FormatBytes(result.weights_bytes),
                     result.folder);
}

// Trains, and tells a signal that ends the run how it goes on.
GroupsResult TrainWatched(Session& session, const ModelSpec& model, const GroupRunOptions& options,
                          GroupView& view) {
  const std::string resume = Quiet() ? "" : "cgrun train --resume " + ShellWord(options.folder);
  try {
    GroupsResult result = TrainGroups(session, model, options, view, WatchSignals(resume));
    RunHasEnded();
    return result;
  } catch (const UserError& error) {
    RunHasEnded();
    WriteFailure(options.folder, error);
    throw;
  }
}

// A run by groups goes on from the last group that was trained, whatever these keys say.
void TellOfCheckpoints(const TrainSpec& train) {
  if (!train.checkpoint_every && !train.keep_last) return;
  Tell(std::string("note: `") + (train.checkpoint_every ? "checkpoint_every" : "keep_last") +
       "` has no effect: a run by groups keeps each group that is trained, and no checkpoints");
}

int ShowDryRunByGroups(const ModelSpec& model, const Session& session) {
  const EngineModel& engine = session.engine().model();
  TextTable table({Align::kLeft, Align::kLeft});
  table.Add({"model",
             fmt::format("{} on {}, batch {}", model.name.value, engine.device, session.batch())});
  table.Add({"groups", GroupsOf(session)});
  table.Add({"entry points", FormatCount(std::ssize(engine.entries))});
  table.Add({"memory", PlannedText(session.memory())});
  const nlohmann::ordered_json json = {{"model", model.name.value},
                                       {"device", engine.device},
                                       {"dry_run", true},
                                       {"batch", session.batch()},
                                       {"groups", session.groups()->count()},
                                       {"planned_peak_bytes", session.memory().planned()}};
  PrintResult(table.ToString() + "Everything is ready; nothing was run (--dry-run).\n",
              JsonText(json, 2) + "\n");
  return kDone;
}

}  // namespace

bool IsByGroup(const ModelSpec& model) { return model.data && model.data->group_by.has_value(); }

void RefuseGroups(const ModelSpec& model, const std::string& what) {
  if (!IsByGroup(model)) return;
  throw InputError(what + " takes no model whose data have `group_by`",
                   "train, eval, predict, plan and check do; `--set data.group_by=null` makes one "
                   "model of all rows");
}

void CheckGroupRun(const ModelSpec& model, const RunFlags& run_flags, bool profiles) {
  if (!IsByGroup(model)) return;
  const auto refuse = [](const std::string& what) {
    throw InputError(what + " is not for a model whose data have `group_by`",
                     "leave it out, or train one group alone: a table with its rows, without "
                     "`group_by`");
  };
  if (ModeOf(run_flags) == Mode::kEager) refuse("--mode eager");
  if (profiles) refuse("--profile");
  if (run_flags.debug_sets || run_flags.debug_sync) refuse("a debugging flag");
  if (!model.keep.empty()) refuse("`keep`");
  if (model.train && model.train->seconds) refuse("`time`");
}

GroupView::GroupView()
    : progress_(stderr, IsTerminal(STDERR_FILENO), ColorOnStderr()),
      start_(std::chrono::steady_clock::now()) {}

void GroupView::OnBegin(int64_t done, int64_t count) {
  if (done > 0)
    Tell(fmt::format("resumed: {} of {} were trained", done, FormatCount(count, "group")));
}

double GroupView::Eta(int64_t count) const {
  if (done_ == 0) return -1;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
  return passed.count() / static_cast<double>(done_) * static_cast<double>(count - done_);
}

void GroupView::OnStep(int64_t number, int64_t count, const std::string& name,
                       const StepReport& report) {
  if (Quiet()) return;
  char label[64], columns[128] = "", value[32];
  std::snprintf(label, sizeof(label), "group %lld/%lld", static_cast<long long>(number + 1),
                static_cast<long long>(count));
  if (!report.means->empty()) {
    const NamedNumber& mean = report.means->front();
    FormatMetric(mean.value, value, sizeof(value));
    std::snprintf(columns, sizeof(columns), "%.40s\t%.40s %s", name.c_str(), mean.name.c_str(),
                  value);
  }
  progress_.Show({label, number, count, -1, Eta(count), columns});
}

void GroupView::OnGroup(const GroupResult& group, int64_t count) {
  ++done_;
  if (Quiet()) return;
  char label[64];
  std::snprintf(label, sizeof(label), "group %lld/%lld", static_cast<long long>(group.number + 1),
                static_cast<long long>(count));
  progress_.Show({label, group.number + 1, count, -1, Eta(count), ""});
}

std::string GroupsOf(const Session& session) {
  return GroupsMemoryText(session.groups()->count(),
                          GroupWeightsBytes(session.program()->image().states, session.groups()));
}

int TrainByGroups(Session& session, const ModelSpec& model, const GroupRunOptions& options) {
  TellOfCheckpoints(*model.train);
  if (options.dry_run) return ShowDryRunByGroups(model, session);
  PrintMemory(session);
  Tell("groups: " + GroupsOf(session));
  GroupView view;
  const GroupsResult result = TrainWatched(session, model, options, view);
  view.Clear();
  const std::string table = options.folder + kTable;
  WriteText(table, GroupsCsv(result));
  const std::string json = GroupsJson(result);
  WriteSummary(options.folder, json);
  PrintResult(GroupsText(result, table) + TrainedText(result), json);
  if (result.interrupted) {
    Tell(fmt::format("interrupted after {} of {}; go on with: cgrun train --resume {}",
                     std::ssize(result.groups), FormatCount(session.groups()->count(), "group"),
                     ShellWord(options.folder)));
    return kInterrupted;
  }
  if (result.CountWithout() < std::ssize(result.groups)) return kDone;
  PrintError("no group has a model", "the table says why; " + table + " has all groups");
  return kFailed;
}

std::string GroupFolder(const ModelSpec& model, const std::string& weights) {
  return weights.empty() ? "runs/" + model.name.value : weights;
}

int EvaluateByGroups(const ModelFlags& flags, const RunFlags& run_flags, ModelSpec& model,
                     const std::string& weights, const std::string& split) {
  const GroupModels models = OpenGroupModels(GroupFolder(model, weights));
  TakeSplitOfRun(flags, models.file, split, model);
  SessionOptions options;
  options.device = DeviceOf(model);
  options.compile = CompileOptionsOf(flags, model, run_flags.dry_run);
  options.dry_run = run_flags.dry_run;
  options.limit_batches = run_flags.limit_batches;
  options.evaluate = {split};
  if (flags.memory.empty()) options.cap = DataCap::kNone;
  Diagnostics diagnostics;
  Session session(model, options, /*train=*/false, diagnostics);
  PrintBriefly(diagnostics);
  if (!session.ready()) return kBadInput;
  TellNotes(session.data_notes());
  if (run_flags.dry_run) return ShowDryRunByGroups(model, session);
  GroupView view;
  const GroupsResult result = EvaluateGroups(session, model, models, split, view);
  view.Clear();
  const int64_t measured = std::ssize(result.groups) - result.CountWithout();
  PrintResult(GroupsText(result, "") + fmt::format("{} of '{}' by {} in {}\n",
                                                   FormatCount(measured, "group"), split,
                                                   models.file, FormatSeconds(result.seconds)),
              GroupsJson(result));
  if (measured > 0) return kDone;
  PrintError("no group was measured", "the table says why");
  return kFailed;
}

}  // namespace cgrun
