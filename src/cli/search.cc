// cgrun search.
#include "src/search/search.h"

#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "src/base/json_text.h"
#include "src/base/shell_word.h"
#include "src/cli/command.h"
#include "src/cli/console.h"
#include "src/cli/model_flags.h"
#include "src/cli/onnx_networks.h"
#include "src/cli/signals.h"
#include "src/io/atomic_file.h"
#include "src/model/model_file.h"
#include "src/model/values.h"
#include "src/report/search_page.h"
#include "src/report/search_report.h"
#include "src/report/table.h"
#include "src/run/run_lock.h"
#include "src/search/journal.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

constexpr size_t kRowsOnTerminal = 20;  // of the table on a terminal

struct SearchFlags {
  std::string search;
  std::string out;
  std::string resume;
  std::string memory;
  std::string device;
  int jobs = 0;
  bool force = false;
  bool dry_run = false;
};

// Says how many of the trials are planned before the first one starts.
std::string PlannedText(const SearchResult& result) {
  const int64_t planned = std::ssize(result.trials);
  std::string text = CountText(planned, "trial is planned", "trials are planned");
  if (result.most_trials == planned) return text;
  return text + ", others as they are proposed" +
         (result.most_trials ? fmt::format(", up to {}", *result.most_trials) : "");
}

// Tells of the plan, and of each trial that ends.
class SearchView final : public SearchObserver {
 public:
  void OnPlanned(const SearchResult& result) override {
    if (Quiet()) return;
    if (const std::string rungs = RungsText(result); !rungs.empty()) Tell("rungs: " + rungs);
    Tell(fmt::format("heap: {} in {} of {} each, beside {} of data; {}", FormatBytes(result.heap),
                     CountText(result.jobs, "process", "processes"),
                     CountText(result.threads, "thread"), FormatBytes(result.data),
                     PlannedText(result)));
  }
  void OnTrial(const SearchResult& result, const TrialResult& trial) override {
    std::string line = fmt::format("trial {}", trial.number);
    if (trial.rung > 0) line += fmt::format(", rung {}", trial.rung + 1);
    if (!trial.reason.empty()) {
      Tell(line + ": " + Name(trial.state) + ": " + trial.reason);
      return;
    }
    line += fmt::format(": {} {:.6g} after {}", result.metric, trial.value.value_or(0),
                        FormatCount(trial.epochs, "epoch"));
    for (size_t i = 0; i < trial.settings.size(); ++i) {
      if (!trial.settings[i].empty()) {
        line += "  " + result.parameters[i] + " " + trial.settings[i];
      }
    }
    Tell(line);
  }
  void OnEnsemble(int64_t candidates) override {
    if (!Quiet()) Tell("ensemble: of " + CountText(candidates, "candidate"));
  }
};

// The flags that decide about trials, in one line. A search goes on with those that it began with.
std::string ArgumentsOf(const SearchFlags& flags) {
  return JsonText(nlohmann::json{{"memory", flags.memory}, {"device", flags.device}});
}

// Takes the search file and the flags of the search in a folder.
void TakeSearch(SearchFlags& flags) {
  const JournalHead head = Journal::ReadHead(flags.resume);
  if (flags.search.empty()) flags.search = head.search;
  const nlohmann::json arguments = TryParseJson(head.arguments);
  if (!arguments.is_object()) return;
  if (flags.memory.empty()) flags.memory = arguments.value("memory", "");
  if (flags.device.empty()) flags.device = arguments.value("device", "");
}

std::optional<int64_t> CapOf(const SearchFlags& flags) {
  if (flags.memory.empty()) return std::nullopt;
  const auto bytes = ParseBytes(flags.memory);
  if (!bytes) {
    throw InputError("--memory must be bytes, not '" + flags.memory + "'", "such as 2GiB");
  }
  return bytes;
}

// The device that the first model names, or that the command line gives. Errors of the model go to
// `diagnostics`.
std::string DeviceOf(const SearchSpec& search, const SearchFlags& flags, Diagnostics& diagnostics) {
  std::vector<std::string> overrides;
  if (!flags.device.empty()) overrides.push_back("device=" + flags.device);
  const std::string file = ResolvePath(search.file_name, search.models[0].value);
  std::error_code error;
  if (!fs::exists(file, error)) {
    diagnostics.Error(search.models[0].mark, "there is no file '" + file + "'",
                      "a path of a search file begins in the folder of that file");
    return "";
  }
  const auto model =
      LoadModelFile(file, overrides, diagnostics, {}, nullptr, OnnxNetworkExpander());
  if (!model) return "";
  return std::string(KernelsOf(*model).name());
}

// Makes the folder of a new search. Throws InputError for one that holds something.
void MakeSearchFolder(const SearchFlags& flags) {
  std::error_code error;
  const bool has_search = fs::exists(flags.out + "/" + Journal::kFileName, error);
  if (has_search && !flags.force) {
    throw InputError("'" + flags.out + "' holds a search",
                     "`cgrun search --resume " + ShellWord(flags.out) +
                         "` goes on with it; --force replaces it; --out DIR takes another folder");
  }
  if (has_search) {
    RunLock::CheckFree(flags.out);
    for (const char* name : {"trials", "best", "ensemble"})
      fs::remove_all(flags.out + "/" + name, error);
    for (const char* name : {Journal::kFileName, "results.csv", "times.csv", "report.html"}) {
      fs::remove(flags.out + "/" + name, error);
    }
  } else if (fs::exists(flags.out, error) && !fs::is_empty(flags.out, error)) {
    throw InputError("'" + flags.out + "' is not empty, and no search has made it",
                     "--out DIR takes another folder");
  }
  fs::create_directories(flags.out, error);
  if (error) throw UserError("cannot make the folder '" + flags.out + "': " + error.message());
}

SearchOptions OptionsOf(const SearchFlags& flags, const SearchSpec& search) {
  SearchOptions options;
  options.folder = flags.out;
  options.resume = !flags.resume.empty();
  options.dry_run = flags.dry_run;
  options.arguments = ArgumentsOf(flags);
  options.jobs = flags.jobs;
  options.place.threads = static_cast<int>(search.threads.value);
  options.place.cap = CapOf(flags);
  options.place.options = [](const ModelSpec& model) {
    return CompileOptionsOf(ModelFlags(), model, /*is_dry_run=*/true);
  };
  options.place.expand = OnnxNetworkExpander();
  options.place.initial_weights =
      [files = std::map<std::string, std::string>()](const ModelSpec& model) mutable {
        const TreeEntry* networks = model.tree.Find("networks");
        if (networks == nullptr) return std::string();
        const auto [file, is_new] = files.try_emplace(ToYaml(networks->value));
        if (is_new) file->second = NetworkWeights(model);
        return file->second;
      };
  return options;
}

int Report(const SearchResult& result, const SearchSpec& search) {
  const std::string page = SearchPageHtml(result, search.tree.mark.file->text);
  WriteFileAtomically(result.folder + "/report.html", std::as_bytes(std::span(page)));
  std::string text = RankedTrials(result, kRowsOnTerminal) + "\n";
  if (result.out_of_time) text += "The time of the budget is over.\n";
  text += result.interrupted
              ? "Interrupted; go on with: cgrun search --resume " + ShellWord(result.folder) + "\n"
              : BestTrialText(result) + EnsembleText(result);
  PrintResult(text, SearchJson(result));
  if (result.interrupted) return kInterrupted;
  if (!BestTrialText(result).empty() || result.out_of_time) return kDone;
  PrintError("no trial has given a value of '" + result.metric + "'", "the table says why");
  return kFailed;
}

int Run(SearchFlags flags) {
  if (flags.search.empty() && flags.resume.empty()) {
    throw InputError("`cgrun search` needs a search file",
                     "cgrun search SEARCH.yaml, or cgrun search --resume DIR");
  }
  if (!flags.resume.empty()) TakeSearch(flags);
  Diagnostics diagnostics;
  const auto search = ReadSearchFile(flags.search, diagnostics);
  SearchOptions options;
  if (search) {
    if (!flags.resume.empty()) flags.out = flags.resume;
    if (flags.out.empty()) flags.out = "searches/" + search->name;
    options = OptionsOf(flags, *search);
    options.place.device = DeviceOf(*search, flags, diagnostics);
  }
  if (diagnostics.has_errors()) {
    PrintDiagnostics(diagnostics);
    return kBadInput;
  }
  std::optional<RunLock> lock;
  if (!flags.dry_run) {
    if (flags.resume.empty()) MakeSearchFolder(flags);
    lock.emplace(flags.out);
  }
  SearchView view;
  const std::string resume = "cgrun search --resume " + ShellWord(flags.out);
  const auto result = RunSearch(*search, options, view, WatchSignals(resume), diagnostics);
  RunHasEnded();
  PrintDiagnostics(diagnostics);
  if (!result) return kBadInput;
  if (!flags.dry_run) return Report(*result, *search);
  PrintResult(PlannedTrials(*result), SearchJson(*result));
  return kDone;
}

}  // namespace

Command DefineSearch(const Verb& verb) {
  auto flags = std::make_shared<SearchFlags>();
  verb.Add("SEARCH", flags->search, "search file (.yaml)").Required(false);
  const Flag out =
      verb.Add("--out", flags->out, "the folder of the search (default: searches/<file>)")
          .Value("DIR");
  const Flag force =
      verb.AddSwitch("--force", flags->force, "replace a former search in the folder");
  verb.Add("--resume", flags->resume, "go on with the search of a folder")
      .Value("DIR")
      .NotWith(out)
      .NotWith(force);
  verb.Add("--jobs", flags->jobs,
           "trials beside each other, each in a process (default: as many as there are processors "
           "for)")
      .Value("N")
      .Between(1, 64);
  verb.Add("--memory", flags->memory,
           "the most memory of the search; a trial that cannot fit is refused by its plan")
      .Value("SIZE");
  verb.Add("--device", flags->device, "the device of all trials").Value("NAME");
  verb.AddSwitch("--dry-run", flags->dry_run,
                 "list the trials with their planned memory and estimated times, and run none");
  return [flags] { return Run(*flags); };
}

}  // namespace cgrun
