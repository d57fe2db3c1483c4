// cgrun bench.
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "src/cli/bench_view.h"
#include "src/cli/command.h"
#include "src/cli/console.h"
#include "src/cli/model_flags.h"
#include "src/io/read_file.h"

extern char** environ;

namespace cgrun {
namespace {

struct BenchFlags {
  BenchOptions options;
  bool passes = false;
  bool isolate = false;
  std::string only;  // the case of a process of --isolate
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
// and the most memory that was resident.
std::pair<int, int64_t> RunAgain(const std::vector<std::string>& arguments) {
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
  int status = 0;
  struct rusage use = {};
  while (wait4(child, &status, 0, &use) < 0 && errno == EINTR) {
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : kFailed, int64_t{use.ru_maxrss} * 1024};
}

// Each case in a process of its own, one after another. Its memory is the process's.
BenchResult RunIsolated(const std::vector<std::string>& arguments,
                        const std::vector<BenchCase>& cases, BenchResult result, BenchView& view) {
  for (size_t i = 0; i < cases.size(); ++i) {
    view.OnCase(cases[i].name, static_cast<int64_t>(i), static_cast<int64_t>(cases.size()));
    const TemporaryFile file;
    std::vector<std::string> again = arguments;
    again.insert(again.end(), {"--quiet", "--only", cases[i].name, "--json", file.path()});
    const auto [status, peak] = RunAgain(again);
    if (status != kDone) {
      throw UserError("case '" + cases[i].name + "' ended with status " + std::to_string(status),
                      "without --isolate, errors are told");
    }
    result.cases.push_back(CaseFromJson(ReadTextFile(file.path())));
    result.cases.back().peak_bytes = peak;
  }
  CompareLosses(result.cases, kComparedStepsAlone);
  return result;
}

// The arguments of this process without those that RunIsolated() sets.
std::vector<std::string> OwnArguments() {
  const std::string text = ReadTextFile("/proc/self/cmdline");
  std::vector<std::string> arguments;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\0', begin);
    arguments.push_back(text.substr(begin, end - begin));
    begin = end == std::string::npos ? text.size() : end + 1;
  }
  std::erase(arguments, "--isolate");
  std::erase(arguments, "--quiet");
  const auto json = std::find(arguments.begin(), arguments.end(), "--json");
  if (json != arguments.end()) {
    const bool file = json + 1 != arguments.end() && !(json + 1)->starts_with("-");
    arguments.erase(json, json + (file ? 2 : 1));
  }
  std::erase_if(arguments, [](const std::string& a) { return a.starts_with("--json="); });
  return arguments;
}

int Run(const ModelFlags& flags, BenchFlags bench, const ProfileFlags& profile) {
  const std::optional<ModelSpec> model = LoadModel(flags);
  if (!model) return kBadInput;
  KernelsOf(*model);  // says why there are none
  bench.options.device = DeviceOf(*model);
  const CompileOptions compile = CompileOptionsOf(flags, *model);
  std::vector<BenchCase> cases = bench.passes ? PassCases(compile) : StandardCases(compile);
  if (!bench.only.empty()) {
    std::erase_if(cases, [&](const BenchCase& one) { return one.name != bench.only; });
    if (cases.empty()) throw InputError("the benchmark has no case '" + bench.only + "'");
  }
  Diagnostics diagnostics;
  BenchView view(profile, compile.threads);
  bench.options.profile = profile.wanted();
  std::optional<BenchResult> result;
  if (bench.isolate) {
    result = RunIsolated(OwnArguments(), cases,
                         {model->name.value,
                          bench.options.device,
                          bench.options.infer,
                          compile.threads,
                          bench.options.steps,
                          bench.options.rounds,
                          {}},
                         view);
  } else {
    result = RunBench(*model, cases, bench.options, view, diagnostics);
  }
  view.Clear();
  PrintDiagnostics(diagnostics);
  if (!result) return kBadInput;
  PrintResult(BenchText(*result) + view.profiles(), BenchJson(*result));
  const bool sound = std::all_of(result->cases.begin(), result->cases.end(),
                                 [](const CaseResult& one) { return one.fault.empty(); });
  return sound ? kDone : kFailed;
}

}  // namespace

Command DefineBench(CLI::App& app) {
  auto flags = AddModelFlags(app);
  auto bench = std::make_shared<BenchFlags>();
  app.add_flag("--infer", bench->options.infer, "the forward path alone");
  app.add_flag("--passes", bench->passes, "what each pass gains: the graph without it");
  app.add_flag("--isolate", bench->isolate,
               "each case in a process of its own, whose memory is then what is shown");
  app.add_option("--rounds", bench->options.rounds, "rounds, in which the cases take turns")
      ->check(CLI::Range(1, 10000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--steps", bench->options.steps, "steps in a round (default: about 0.3 s of them)")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 30))
      ->type_name("N");
  app.add_option("--only", bench->only, "one case alone, by its name")->type_name("CASE");
  auto profile = AddProfileFlags(app);
  return [flags, bench, profile] { return Run(*flags, *bench, *profile); };
}

}  // namespace cgrun
