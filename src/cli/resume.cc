// Compares settings with those of a run.
#include "src/cli/resume.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <vector>

#include "src/base/shell_word.h"
#include "src/check/lint.h"
#include "src/cli/assigned_keys.h"
#include "src/cli/console.h"
#include "src/cli/group_runs.h"
#include "src/cli/model_differences.h"
#include "src/cli/weights_flag.h"
#include "src/data/options.h"
#include "src/groups/group_index.h"
#include "src/groups/group_journal.h"
#include "src/io/file_error.h"
#include "src/model/model_file.h"
#include "src/model_data/model_data.h"
#include "src/run/checkpoint.h"

namespace cgrun {
namespace {

constexpr char kResumeHelp[] = "--resume takes the folder of a run, such as runs/lenet";

bool IsLength(const std::string& key) {
  return key == "train.epochs" || key == "train.steps" || key == "train.time";
}

// Returns whether a key may change because it does not change a step's results.
bool MayChange(const std::string& key) {
  return IsLength(key) || key == "train.memory" || key == "train.swap";
}

// The place of a file says nothing of its content. Training data are compared by the identity that
// checkpoints keep, and the initial weights of a run are not read again.
bool IsMoved(const Difference& one, const ModelSpec& model) {
  if (one.before == kNoValue || one.now == kNoValue) return false;
  const std::vector<std::string> parts = PartsOfKey(one.key);
  if (parts.size() == 3 && parts[0] == "data") {
    const TreeNode* node = &model.tree;
    for (std::string part : {parts[0], parts[1], std::string("format")}) {
      node = StepInto(node, part);
    }
    return node != nullptr && IsPathOption(node->scalar, parts[2]);
  }
  const bool of_init = std::ranges::find(parts, "init") != parts.end() &&
                       std::ranges::find(parts, "file") != parts.end();
  return parts[0] == "weights" || of_init;
}

void TellOfMoved(const std::vector<Difference>& moved) {
  if (moved.empty()) return;
  std::vector<std::string> keys;
  for (const Difference& one : moved) keys.push_back(one.key);
  Tell("note: the run began with other paths: " + QuotedNames(keys));
  const auto is_valid = [](const Difference& one) { return one.key.starts_with("data.valid."); };
  if (std::ranges::none_of(moved, is_valid)) return;
  Tell(
      "note: the best value so far is of what was the 'valid' data then; nothing says whether they "
      "are the same");
}

bool IsEarlyStop(const std::string& key) { return key.starts_with("train.early_stop"); }

// "another 'train.batch': 20 → 32"; of several keys, a line for each of the first.
std::string Listed(const std::vector<Difference>& differences) {
  constexpr size_t kMost = 8;
  const auto change = [](const Difference& one) { return ": " + one.before + " → " + one.now; };
  if (differences.size() == 1) {
    return "another '" + differences[0].key + "'" + change(differences[0]);
  }
  std::string text = "other settings, then → now:";
  for (size_t i = 0; i < std::min(kMost, differences.size()); ++i) {
    text += "\n      " + differences[i].key + change(differences[i]);
  }
  if (differences.size() <= kMost) return text;
  return text + "\n      and " + std::to_string(differences.size() - kMost) + " more";
}

void CheckSettings(const ModelSpec& run, const ModelSpec& now, const std::string& folder) {
  std::vector<Difference> differences = DifferencesOf(run, now);
  const bool by_group = IsByGroup(run);
  std::erase_if(differences, [&](const Difference& one) {
    return MayChange(one.key) && !(by_group && IsLength(one.key));
  });
  const auto is_moved = [&](const Difference& one) { return IsMoved(one, now); };
  std::vector<Difference> moved;
  std::ranges::copy_if(differences, std::back_inserter(moved), is_moved);
  std::erase_if(differences, is_moved);
  if (differences.empty()) return TellOfMoved(moved);
  if (std::ranges::all_of(differences, IsEarlyStop, &Difference::key)) {
    throw InputError("the run in '" + folder + "' was started with " + Listed(differences),
                     "a resumed run stops by what it was started with; " + HelpWithStop(folder));
  }
  if (by_group) {
    throw InputError("the run in '" + folder + "' was started with " + Listed(differences),
                     "some of its groups are trained with that: a run by groups keeps all of its "
                     "settings, its length too; --out DIR begins another run");
  }
  throw InputError(
      "the run in '" + folder + "' was started with " + Listed(differences),
      "a resumed run keeps its settings; `train.epochs`, `train.steps`, `train.time`, "
      "`train.memory`, `train.swap` and the paths of data alone may change: `cgrun train "
      "--resume " +
          ShellWord(folder) +
          "`, without a model file, takes those of the folder; "
          "--weights starts a new run from its weights");
}

// "train.epochs" of "train.epochs=3".
std::string KeyOf(const std::string& set) { return set.substr(0, set.find('=')); }

// Returns the assignments of the run's command lines to the model file. A length that is given now
// replaces the run's.
std::vector<std::string> OverridesOf(const RunSettings& settings, const ModelFlags& now) {
  std::vector<std::string> overrides = settings.overrides;
  const std::vector<std::string> given = AssignmentsOf(now);
  const bool has_length = std::ranges::any_of(given, IsLength, KeyOf);
  if (has_length) std::erase_if(overrides, [](const auto& set) { return IsLength(KeyOf(set)); });
  return overrides;
}

// The model of a run, whose optimizers have all that they need. Prints errors; nothing after one.
std::optional<ModelSpec> LoadSettings(const ModelFlags& of_run) {
  std::optional<ModelSpec> run = LoadModel(of_run);
  if (!run) return std::nullopt;
  Diagnostics diagnostics;
  LintOptimizers(*run, CompileOptionsOf(of_run, *run).precision, diagnostics);
  if (!diagnostics.has_errors()) return run;
  PrintDiagnostics(diagnostics);
  return std::nullopt;
}

// Returns false if data are not where the run's own model file has them. The error names a way out.
bool FindData(const ModelSpec& model, const std::string& folder) {
  Diagnostics missing, told;
  CheckDataFiles(model, missing);
  for (const Diagnostic& item : missing.Sorted()) {
    const bool first = !told.has_errors();
    const std::string way =
        "where the data lie elsewhere now, a model file that names them goes before that of the "
        "run: `cgrun train MODEL.yaml --resume " +
        ShellWord(folder) + "`; so does `--set KEY=PATH`, with a whole path";
    told.Error(item.mark, item.message,
               item.help + (first ? (item.help.empty() ? "" : "; ") + way : ""));
  }
  PrintDiagnostics(told);
  return !told.has_errors();
}

// Throws InputError for a program, which holds no settings to compare but its model's.
void CheckIsModelFile(const std::string& model, const std::string& folder) {
  if (!IsProgramFile(model)) return;
  throw InputError("'" + model + "' is a compiled program, and a run is resumed without one",
                   "`cgrun train --resume " + ShellWord(folder) +
                       "` goes on by the model file in the run's folder, which it compiles again, "
                       "also of a run that a program began; `cgrun train " +
                       ShellWord(model) + " --weights " + ShellWord(folder) +
                       " --out DIR` begins a new run of the program with its weights");
}

// Throws InputError for what is in a run folder, or would be, in its place.
void CheckIsNoCheckpoint(const std::string& path) {
  const std::filesystem::path file(path);
  if (file.extension() != ".safetensors") return;
  const std::string run = file.has_parent_path() ? file.parent_path().string() : ".";
  std::error_code error;
  if (!std::filesystem::exists(run + "/model.yaml", error)) return;
  throw InputError("'" + path + "' is a checkpoint, and --resume takes the run folder",
                   "`--resume " + ShellWord(run) + "` goes on from the newest checkpoint in it");
}

// Returns whether something is at `path`. Throws UserError where the system does not let this user
// look.
bool IsThere(const std::string& path) {
  std::error_code error;
  const bool exists = std::filesystem::exists(path, error);
  if (error) ThrowSystemError("open", path, error.value());
  return exists;
}

// Throws InputError where no group of a run is left to be trained.
void CheckHasGroupsLeft(const std::string& folder) {
  if (GroupJournal::IsIn(folder)) return;
  std::error_code error;
  const bool ended = std::filesystem::exists(folder + "/" + kGroupIndex, error);
  throw InputError("the run in '" + folder + "' " +
                       (ended ? "is finished: all of its groups were trained"
                              : "cannot go on: it has no " + std::string(GroupJournal::kFileName)),
                   "`cgrun train MODEL --out DIR` begins another run");
}

}  // namespace

std::string HelpWithStop(const std::string& folder) {
  return "to train on, begin a new run with its weights, which may wait longer: `cgrun train " +
         ShellWord(folder + "/model.yaml") + " --weights " + ShellWord(folder) +
         " --out DIR --set train.early_stop.patience=N`";
}

std::optional<ResumedRun> FindResumedRun(const std::string& folder, const ModelFlags& flags) {
  CheckIsNoCheckpoint(folder);
  CheckIsModelFile(flags.model, folder);
  ModelFlags of_run;
  of_run.model = folder + "/model.yaml";
  std::error_code error;
  if (!IsThere(folder)) {
    throw InputError(SystemErrorText("open", folder, ENOENT), MissingHelp(folder, kResumeHelp));
  }
  if (!std::filesystem::is_directory(folder, error)) {
    throw InputError("'" + folder + "' is a file, not a folder", kResumeHelp);
  }
  if (!IsThere(of_run.model)) {
    throw InputError("the folder '" + folder + "' is not that of a run: it has no model.yaml",
                     kResumeHelp);
  }
  auto lock = std::make_unique<RunLock>(folder);
  std::optional<ModelSpec> run = LoadSettings(of_run);
  if (!run) {
    PrintError("the run in '" + folder +
                   "' cannot go on: its model.yaml is none that this version of cgrun reads",
               "another version has written it, or it was changed: mend there what is told above, "
               "or begin a new run with its weights: `cgrun train MODEL --weights " +
                   ShellWord(folder) + "`");
    return std::nullopt;
  }
  ModelFlags now = flags;
  if (now.model.empty()) {
    now.model = of_run.model;
  } else {
    now.of_run = OverridesOf(ReadRunSettings(folder), flags);
  }
  std::optional<ModelSpec> model = LoadModel(now);
  if (model && model->train && run->train && model->train->batch.value.automatic) {
    model = LoadWithBatch(now, run->train->batch.value.size);  // the one that was found then
  }
  if (!model) return std::nullopt;
  CheckSettings(*run, *model, folder);
  if (flags.model.empty() && !FindData(*model, folder)) return std::nullopt;
  std::string checkpoint;  // of a run by groups there is none
  if (IsByGroup(*model)) {
    CheckHasGroupsLeft(folder);
  } else {
    std::vector<std::string> damaged;
    checkpoint = NewestCheckpoint(folder, damaged);
    WarnOfDamaged(damaged, checkpoint);
  }
  RunSettings settings = ReadRunSettings(folder);
  settings.overrides = OverridesOf(settings, flags);
  return ResumedRun{std::move(lock), std::move(*model), std::move(*run), std::move(settings),
                    checkpoint};
}

}  // namespace cgrun
