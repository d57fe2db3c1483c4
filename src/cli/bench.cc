// cgrun bench.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "src/bench/idle_passes.h"
#include "src/bench/pass_gains.h"
#include "src/cli/bench_dry_run.h"
#include "src/cli/bench_folder.h"
#include "src/cli/bench_view.h"
#include "src/cli/command.h"
#include "src/cli/console.h"
#include "src/cli/debug_flags.h"
#include "src/cli/group_runs.h"
#include "src/cli/host_cap.h"
#include "src/cli/memory_cap.h"
#include "src/cli/model_flags.h"
#include "src/cli/signals.h"
#include "src/device/no_room.h"
#include "src/fit/run_shape.h"
#include "src/io/read_file.h"
#include "src/lint/bf16_speed.h"
#include "src/report/table.h"

extern char** environ;

namespace cgrun {
namespace {

struct BenchFlags {
  BenchOptions options;
  bool passes = false;
  bool isolate = false;
  std::string out;     // a folder for the result; "": none
  bool force = false;  // replaces the files of a former benchmark there
  std::string only;    // the case of a process of --isolate
};

// A file in the folder for temporary files; removed in the end.
class TemporaryFile {
 public:
  TemporaryFile() {
    std::string name = (std::filesystem::temp_directory_path() / "cgrun-bench-XXXXXX").string();
    const int file = mkstemp(name.data());
    if (file < 0) throw UserError("cannot make " + name + ": " + std::strerror(errno));
    close(file);
    path_ = name;
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Runs this program again with other arguments, its output thrown away. Returns its exit status
// and the most memory that was resident. `file`: what it writes.
std::pair<int, int64_t> RunAgain(const std::vector<std::string>& arguments,
                                 const std::string& file) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw UserError(std::string("cannot start a process: ") + std::strerror(error));
  const EndsWithProgram ends(child, file);
  int status = 0;
  struct rusage use = {};
  while (wait4(child, &status, 0, &use) < 0 && errno == EINTR) {
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : kFailed, int64_t{use.ru_maxrss} * 1024};
}

// One case in a process of its own, which leaves JSON unless it fails. Its memory is the process's.
// Throws NoRoom if it does not fit: all else that is wrong with the user's input has been found
// before.
BenchResult RunAlone(std::vector<std::string> arguments, const std::string& name, int rounds,
                     int64_t steps) {
  const TemporaryFile file;
  arguments.insert(arguments.end(), {"--quiet", "--only", name, "--json", file.path()});
  if (rounds > 0) arguments.insert(arguments.end(), {"--rounds", std::to_string(rounds)});
  if (steps > 0) arguments.insert(arguments.end(), {"--steps", std::to_string(steps)});
  const auto [status, peak] = RunAgain(arguments, file.path());
  const std::string json = ReadTextFile(file.path());
  if (json.empty() && status == kBadInput) {
    throw NoRoom("it does not fit, as its process has said",
                 "a smaller batch (--batch N) needs less");
  }
  if (json.empty()) {
    throw UserError("case '" + name + "' ended with status " + std::to_string(status),
                    "it has said why; `--only CASE` runs another one alone");
  }
  BenchResult result = CaseFromJson(json);
  result.cases[0].peak_bytes = peak;
  return result;
}

// Each case in a process of its own, one after another. The first settles the number of rounds
// and of steps, of which the medians then are. Throws NoRoom if none fits.
BenchResult RunIsolated(const std::vector<std::string>& arguments,
                        const std::vector<BenchCase>& cases, BenchResult result, BenchView& view) {
  for (size_t i = 0; i < cases.size(); ++i) {
    view.OnCase(cases[i].name, static_cast<int64_t>(i), static_cast<int64_t>(cases.size()));
    try {
      BenchResult alone = RunAlone(arguments, cases[i].name, result.rounds, result.steps_per_round);
      result.rounds = alone.rounds;
      result.steps_per_round = alone.steps_per_round;
      result.cases.push_back(std::move(alone.cases[0]));
    } catch (const NoRoom& error) {
      result.left_out.push_back({cases[i].name, error.what()});
      if (result.left_out.size() == cases.size()) throw;
    }
  }
  for (size_t i = 1; i < result.cases.size(); ++i) {
    CaseResult& one = result.cases[i];
    const std::vector<double>& baseline = result.cases[0].round_seconds;
    if (baseline.empty() || one.round_seconds.empty()) continue;
    one.speedup = SpeedupApart(one.round_seconds, baseline);
  }
  CompareLosses(result.cases, kComparedStepsAlone);
  return result;
}

// Removes a flag that has a value: `--only X` and `--only=X`.
void EraseOption(std::vector<std::string>& arguments, const std::string& flag) {
  std::erase_if(arguments, [&](const std::string& a) { return a.starts_with(flag + "="); });
  const auto at = std::find(arguments.begin(), arguments.end(), flag);
  if (at == arguments.end()) return;
  arguments.erase(at, at + std::min<std::ptrdiff_t>(2, arguments.end() - at));
}

// Removes `--json`, `--json FILE` and `--json=FILE`; what follows the first may be the model.
void EraseJson(std::vector<std::string>& arguments, const std::string& model) {
  std::erase_if(arguments, [](const std::string& a) { return a.starts_with("--json="); });
  const auto at = std::find(arguments.begin(), arguments.end(), "--json");
  if (at == arguments.end()) return;
  const auto next = at + 1;
  const bool has_file =
      next != arguments.end() && *next != model && (*next == "-" || !next->starts_with('-'));
  arguments.erase(at, at + (has_file ? 2 : 1));
}

// The arguments of this process without those that RunAlone() sets.
std::vector<std::string> OwnArguments(const std::string& model) {
  const std::string text = ReadTextFile("/proc/self/cmdline");
  std::vector<std::string> arguments;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\0', begin);
    arguments.push_back(text.substr(begin, end - begin));
    begin = end == std::string::npos ? text.size() : end + 1;
  }
  std::erase(arguments, "--isolate");
  std::erase(arguments, "--tune");  // that has been done
  std::erase(arguments, "--quiet");
  std::erase(arguments, "--force");
  EraseJson(arguments, model);
  EraseOption(arguments, "--out");
  EraseOption(arguments, "--only");
  EraseOption(arguments, "--rounds");
  EraseOption(arguments, "--steps");
  return arguments;
}

// Names have commas in them.
std::string CaseList(const std::vector<std::string>& names) {
  std::string list = "its cases are";
  for (const std::string& name : names) list += (name == names[0] ? " '" : ", '") + name + "'";
  return list;
}

// Returns whether a benchmark has such a case where memory is no matter.
bool IsStandard(const std::string& name, const CompileOptions& compile, const ModelFlags& flags) {
  return std::ranges::count(StandardCases(compile, !flags.order.empty()), name, &BenchCase::name) >
         0;
}

// `capped`: the same options under the cap of the model, if it has one that matters; with
// `capped_alone` other cases do not fit into memory.
std::vector<BenchCase> CasesOf(const ModelFlags& flags, const BenchFlags& bench,
                               const CompileOptions& compile, const CompileOptions& capped,
                               bool capped_alone, const std::vector<std::string>& idle_passes) {
  std::vector<BenchCase> cases = capped_alone   ? std::vector<BenchCase>()
                                 : bench.passes ? PassCases(compile, idle_passes)
                                                : StandardCases(compile, !flags.order.empty());
  if (capped.arena_cap > 0 || !capped.streams)
    cases.push_back({"graph, memory, capped", Mode::kGraph, capped});
  if (bench.options.profile) {
    cases.push_back(cases.back());
    cases.back().name += ", profiled";
    cases.back().profiled = true;
  }
  if (bench.only.empty()) return cases;
  std::vector<std::string> names;
  for (const BenchCase& one : cases) names.push_back(one.name);
  std::erase_if(cases, [&](const BenchCase& one) { return one.name != bench.only; });
  if (!cases.empty()) return cases;
  if (capped_alone && IsStandard(bench.only, compile, flags)) {
    throw NoRoom("case '" + bench.only +
                     "' is not run: without a cap, graph mode does not fit into memory, and eager "
                     "mode mostly takes more",
                 CaseList(names));
  }
  const std::string nearest = NearestName(bench.only, names);
  throw InputError("the benchmark has no case '" + bench.only + "'",
                   nearest.empty() ? CaseList(names) : "did you mean '" + nearest + "'?");
}

// In this process all cases are in memory at once. Throws NoRoom if their arenas alone are too
// much; a dry run says so.
void CheckTogether(const FittedHere& fitted, size_t cases, bool dry_run) {
  if (!fitted.most || !fitted.run.memory || cases < 2) return;
  const RunMemory& memory = *fitted.run.memory;
  const int64_t bytes = memory.base + static_cast<int64_t>(cases) * memory.arena;
  if (bytes <= *fitted.most) return;
  const std::string text =
      fmt::format("{} cases take more than {} together, and {} is what this process may take",
                  cases, FormatBytes(bytes), FormatBytes(*fitted.most));
  const std::string help =
      "`--isolate` runs each in a process of its own, and `--only CASE` one alone";
  if (!dry_run) throw NoRoom(text, help);
  Tell("note: " + text + ": " + help);
}

// The times of a debugging run say nothing: one round of one step is enough.
void PrepareToDebug(DebugRun* debug, BenchFlags& bench) {
  if (bench.isolate) {
    throw InputError(
        "a debugging run checks the cases in this process, and --isolate runs them in "
        "others",
        "leave out --isolate");
  }
  bench.options.debug = debug;
  if (bench.options.rounds == 0) bench.options.rounds = 1;
  if (bench.options.steps == 0) bench.options.steps = 1;
  if (!bench.only.starts_with("eager")) {
    Tell("note: the times of graph cases are those of a debugging run");
  }
}

int Run(const ModelFlags& given, const RunFlags& run_flags, BenchFlags bench,
        const ProfileFlags& profile) {
  const ModelFlags flags = WithHostMemory(given);
  RefuseHostMemory(flags, "bench");
  const bool dry_run = bench.options.dry_run;
  if (!bench.out.empty()) CheckBenchFolder(bench.out, bench.force);
  std::optional<ModelSpec> model = LoadModelOrProgram(flags);
  if (!model) return kBadInput;
  RefuseGroups(*model, "`cgrun bench`");
  KernelsOf(*model);  // says why there are none
  bench.options.device = DeviceOf(*model);
  const CompileOptions compile = CompileOptionsOf(flags, *model, dry_run);
  bench.options.profile = profile.wanted();
  const std::unique_ptr<DebugRun> debug =
      MakeDebugRun(run_flags, bench.options.device, profile.wanted());
  if (debug) PrepareToDebug(debug.get(), bench);
  Diagnostics diagnostics;
  CompileOptions capped = compile;
  if (!FitMemory(flags, *model, capped).fits) return kBadInput;
  const FittedHere fitted = FitHere(*model, capped);
  if (!fitted.run.fits) return kBadInput;
  const bool capped_alone = capped.arena_cap > 0 && !model->train->memory;
  if (capped_alone) Tell("the other cases do not fit into memory, and are left out");
  const bool is_told = Quiet() && !bench.only.empty();  // by the process that has started this one
  if (!is_told) WarnOfSlowBF16(*model, KernelsOf(*model), diagnostics);
  BenchView view(profile, compile.threads);
  std::vector<std::string> idle_passes;
  if (bench.passes && bench.only.empty()) {  // a case that is asked for is run
    view.OnCase("looking for passes that change nothing", 0, 0);
    idle_passes =
        FindIdlePasses(*model, BenchEntry(*model, bench.options.infer), KernelsOf(*model), compile);
  }
  const std::vector<BenchCase> cases =
      CasesOf(flags, bench, compile, capped, capped_alone, idle_passes);
  view.OnStart(cases);
  std::optional<BenchResult> result;
  if (bench.isolate && !dry_run) {
    result = RunIsolated(OwnArguments(flags.model), cases,
                         {.model = model->name.value,
                          .device = bench.options.device,
                          .infer = bench.options.infer || PredictsAlone(*model),
                          .threads = compile.threads,
                          .steps_per_round = bench.options.steps,
                          .rounds = bench.options.rounds,
                          .isolated = true,
                          .cases = {}},
                         view);
  } else {
    if (!bench.isolate) CheckTogether(fitted, cases.size(), dry_run);
    result = RunBench(*model, cases, bench.options, view, diagnostics);
  }
  view.Clear();
  PrintDiagnostics(diagnostics);
  if (!result) return kBadInput;
  result->idle_passes = idle_passes;
  result->pass_gains = PassGainsOf(*result);
  if (dry_run) {
    PrintResult(BenchDryRunText(*result, cases), BenchDryRunJson(*result, cases));
    return kDone;
  }
  const std::string text = BenchText(*result) + view.profiles(),
                    json = BenchJson(*result, view.profile_objects());
  if (!bench.out.empty()) WriteBenchFolder(bench.out, text, json);
  PrintResult(text, json);
  const bool is_clean = TellDebugRun(debug.get());
  const bool sound =
      is_clean && std::all_of(result->cases.begin(), result->cases.end(),
                              [](const CaseResult& one) { return one.fault.empty(); });
  return sound ? kDone : kFailed;
}

}  // namespace

Command DefineBench(const Verb& verb) {
  auto flags = AddModelFlags(verb, CapFlag::kKept);
  auto bench = std::make_shared<BenchFlags>();
  auto run_flags = AddRunFlagsOfAnyMode(verb);
  AddDebugFlags(verb, run_flags);
  TakeOnnx(verb, flags, ", compiled program (.cgb)");
  verb.Get("--limit-batches").Describe("use at most N different batches, in turn");
  verb.Add("--out", bench->out, "write bench.txt and bench.json to this folder").Value("DIR");
  verb.AddSwitch("--force", bench->force, "replace what a former benchmark left in that folder");
  verb.AddSwitch("--infer", bench->options.infer, "measure the forward path only");
  verb.AddSwitch("--passes", bench->passes,
                 "measure what each pass and decision gains, by leaving it out");
  const Flag isolate =
      verb.AddSwitch("--isolate", bench->isolate,
                     "run each case in a process of its own, and show the memory of that process");
  verb.Add("--rounds", bench->options.rounds,
           "the number of rounds, in which the cases take turns (default: about 2 s for each case)")
      .Between(1, 10000)
      .Value("N");
  verb.Add("--steps", bench->options.steps,
           "the number of steps in a round (default: about 0.1 s of them)")
      .Between(int64_t{1}, int64_t{1} << 30)
      .Value("N");
  verb.Add("--only", bench->only, "run only one case, by its name").Value("CASE");
  verb.Get("--order").Describe(
      "the only order in which graph mode runs (default: serial, bfs and memory)");
  auto profile = AddProfileFlags(verb);
  isolate.NotWith(verb.Get("--profile")).NotWith(verb.Get("--verbose"));
  return [flags, run_flags, bench, profile] {
    bench->options.limit_batches = run_flags->limit_batches;
    bench->options.dry_run = run_flags->dry_run;
    return Run(*flags, *run_flags, *bench, *profile);
  };
}

}  // namespace cgrun
