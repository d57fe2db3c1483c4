// Flags become overrides of the model file, so that a run's resolved file holds them.
#include "src/cli/model_flags.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <ranges>
#include <utility>

#include "src/base/shell_word.h"
#include "src/check/lint.h"
#include "src/cli/console.h"
#include "src/cli/model_argument.h"
#include "src/cli/onnx_model.h"
#include "src/cli/onnx_networks.h"
#include "src/cli/program_argument.h"
#include "src/cli/take_tuning.h"
#include "src/device/device.h"
#include "src/fit/packing_files.h"
#include "src/fit/run_shape.h"
#include "src/frontend/frontend.h"
#include "src/model/model_file.h"
#include "src/packing/planner.h"
#include "src/passes/decisions.h"
#include "src/plan/schedule.h"
#include "src/program/serialize.h"
#include "src/report/terminal.h"
#include "src/run/run_folder.h"

namespace cgrun {
namespace {

// The flags as assignments, and what the user typed for them; those of --set come last.
struct Overrides {
  // `each_kept`: what --keep names has an assignment each, so that an error names the one that is
  // wrong. Assignments that are written down have all of them in one.
  explicit Overrides(const ModelFlags& flags, bool each_kept)
      : assignments(flags.of_run), typed(flags.of_run.size()) {
    Add("device", "--device", flags.device);
    Add("train.batch", "--batch", flags.batch);
    Add("train.memory", flags.memory_flag, flags.memory);
    AddSwap(flags.swap);
    Add("train.order", "--order", flags.order);
    Add("zones", "--zones", flags.zones);
    Add("train.precision", "--precision", flags.precision);
    Add("train.seed", "--seed", flags.seed);
    AddKeep(flags.keep, each_kept);
    assignments.insert(assignments.end(), flags.set.begin(), flags.set.end());
  }

  void Add(const std::string& key, const std::string& flag, const std::string& value) {
    if (value.empty()) return;
    assignments.push_back(key + "=" + value);
    typed.push_back(flag + " " + value);
  }

  // A folder of the command line, so that it is relative to where that was typed.
  void AddSwap(const std::string& place) {
    const bool is_folder = !place.empty() && place != kSwapToHost;
    if (!is_folder) return Add("train.swap", "--swap", place);
    assignments.push_back("train.swap=" + std::filesystem::absolute(place).string());
    typed.push_back("--swap " + place);
  }

  void AddKeep(const std::vector<std::string>& names, bool each) {
    if (names.empty()) return;
    assignments.push_back(fmt::format("keep=[{}]", fmt::join(names, ", ")));
    typed.push_back(fmt::format("--keep {}", fmt::join(names, " --keep ")));
    const bool is_plain = std::ranges::all_of(names, [](const std::string& name) {
      return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
        return std::isalnum(c) != 0 ||
               std::string_view("_.-[]()").find(c) != std::string_view::npos;
      });
    });
    if (!each || names.size() == 1 || !is_plain) return;
    for (size_t i = 0; i < names.size(); ++i) {
      assignments.push_back("keep[" + std::to_string(i) + "]=" + names[i]);
      typed.push_back("--keep " + names[i]);
    }
  }

  std::vector<std::string> assignments;
  std::vector<std::string> typed;
};

void CheckKnown(const std::string& what, const std::string& name,
                const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  throw InputError("there is no " + what + " '" + name + "'", SuggestName(name, known));
}

// Throws for an unknown pass. The help lists all passes beside the one that is meant, so that the
// user sees which there are to leave out.
void CheckPass(const std::string& name, const std::vector<std::string>& known) {
  if (std::ranges::find(known, name) != known.end()) return;
  std::string help = SuggestName(name, known);
  if (!NearestName(name, known).empty()) {
    help += " The passes, in their order:";
    for (const std::string& pass : known) help += (pass == known[0] ? " " : ", ") + pass;
  }
  throw InputError("there is no pass '" + name + "'", help);
}

// "reference, blas, cpu, cuda[:N] or auto"
std::string DeviceHelp() {
  const auto text = [](const DeviceKind& kind) {
    return fmt::format("{}{}", kind.name, kind.on_host ? "" : "[:N]");
  };
  return fmt::format(
      "{} or auto; for plan, also a .json that `cgrun devices --json` wrote on another machine",
      fmt::join(DeviceKinds() | std::views::transform(text), ", "));
}

// Libraries wait for ever for threads that they do not get.
void CheckThreads(int threads) {
  if (threads <= omp_get_thread_limit()) return;
  const std::string limit = std::to_string(omp_get_thread_limit());
  throw InputError("--threads " + std::to_string(threads) + " is more than the " + limit +
                       " that OMP_THREAD_LIMIT allows",
                   "unset OMP_THREAD_LIMIT, or take `--threads " + limit + "`");
}

PassOptions PassOptionsOf(const ModelFlags& flags) {
  const std::vector<std::string> known = PassAndDecisionNames();
  for (const std::string& name : flags.disabled_passes) CheckPass(name, known);
  std::vector<std::string> rewrites = known;
  for (const Decision& decision : Decisions()) {
    std::erase(rewrites, decision.name);
    if (flags.stop_after_pass != decision.name &&
        std::ranges::find(flags.dump_after, decision.name) == flags.dump_after.end()) {
      continue;
    }
    const std::string name(decision.name);
    const bool is_selection = decision.phase == DecisionPhase::kSelection;
    throw InputError("'" + name + "' is a decision of " +
                         (is_selection ? "the kernels' selection" : "the plan") +
                         ", not a pass, and leaves no graph",
                     "`--disable-pass " + name + "` switches it off");
  }
  for (const std::string& name : flags.dump_after) CheckPass(name, rewrites);
  if (!flags.stop_after_pass.empty()) CheckPass(flags.stop_after_pass, rewrites);
  PassOptions options;
  options.disabled = flags.disabled_passes;
  options.stop_after = flags.stop_after_pass;
  if (!flags.dump_after.empty()) {
    options.observe = [dump = flags.dump_after](std::string_view pass, const Graph& graph) {
      if (std::find(dump.begin(), dump.end(), pass) == dump.end()) return;
      PrintText(stderr, "--- after " + std::string(pass) + "\n" + ToString(graph));
    };
  }
  return options;
}

// Joins names as the name of a flag's value: completion offers the words between the bars.
std::string OneOf(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, "|"));
}

// Puts the flags behind the first `before` into a list of their own, so that --help begins with
// those of the verb.
void GroupFlags(const Verb& verb, size_t before) {
  const std::vector<Flag> flags = verb.flags();
  for (size_t i = before; i < flags.size(); ++i) {
    flags[i].Under("Options of the model, the device and the plan");
  }
}

// The kernels of the model's device; null after an error, which says why there are none.
const KernelLibrary* FindKernels(const ModelSpec& model, Diagnostics& diagnostics) {
  const std::string device = DeviceOf(model);
  if (const KernelLibrary* library = FindKernelLibrary(device)) return library;
  std::string message =
      "there are no kernels for device '" + device + "': " + DescribeKernels(device);
  std::string help = "try --device " + std::string(FastestHostDevice());
  try {
    OpenDevice(device);
  } catch (const UserError& error) {  // says why it cannot be had
    message = error.what();
    help = error.help();
  }
  diagnostics.Error(model.device.mark, message, help);
  return nullptr;
}

// Returns the model, or nothing after all errors of its file are printed. These include a device
// that cannot be had. If that is the only fault, KernelsOf() reports it, since some verbs need no
// device.
std::optional<ModelSpec> Checked(std::optional<ModelSpec> model, const ModelSpec& partial,
                                 Diagnostics& diagnostics) {
  if (!model) LintPartial(partial, diagnostics);
  if (!model) FindKernels(partial, diagnostics);
  PrintDiagnostics(diagnostics);
  return diagnostics.has_errors() ? std::nullopt : std::move(model);
}

}  // namespace

std::vector<std::string> AssignmentsOf(const ModelFlags& flags) {
  return Overrides(flags, /*each_kept=*/false).assignments;
}

std::shared_ptr<ModelFlags> AddModelFlags(const Verb& verb, CapFlag cap) {
  auto flags = std::make_shared<ModelFlags>();
  verb.Add("MODEL", flags->model, "model file (.yaml)").Required();
  const size_t before = verb.flags().size();
  verb.Add("--device", flags->device, DeviceHelp()).Value("DEVICE");
  verb.Add("--batch", flags->batch,
           "the number of samples in a batch; auto: the largest batch that fits into memory in "
           "training, or under --memory")
      .Value("N|auto");
  if (cap == CapFlag::kKept) {
    verb.Add("--memory", flags->memory,
             "the most memory that training may take, such as 1.5GiB, without the code of the "
             "program and its libraries; if a run needs more, tensors are recomputed, with the "
             "same bits (default: the least of free memory, control group and ulimit -v)")
        .Value("SIZE");
    verb.Add("--host-memory", flags->host_memory,
             "a cap on the host's memory when --memory caps that of a device; on a device of the "
             "host, the smaller of the two counts")
        .Value("SIZE");
    verb.Add("--swap", flags->swap,
             "a folder for a file of swapped tensors; --memory swaps a tensor where that costs "
             "less time than recomputing it; host: on cuda, swap to the host's memory (default: no "
             "swapping)")
        .Value("DIR");
  }
  verb.Add("--order", flags->order, "the order of operators").Value(OneOf(OrderNames()));
  verb.Add("--planner", flags->planner, "the memory planner; portfolio takes the best plan of all")
      .Value("PLANNER");
  verb.Add("--zones", flags->zones,
           "shared: memory zones may use each other's addresses; separate: each zone has its own "
           "(default: shared)")
      .Value("shared|separate");
  verb.Add("--precision", flags->precision, "the number type of the computation")
      .Value("f32|f64|bf16|tf32");
  verb.Add("--seed", flags->seed, "the seed of initial values, shuffling and dropout").Value("N");
  verb.Add("--threads", flags->threads,
           "the number of threads that kernels use (default: as many as processors, quota and "
           "OMP_NUM_THREADS allow)")
      .Between(1, kMostThreads)
      .Value("N");
  verb.AddSwitch(
      "--tune", flags->tune,
      "measure the kernels that the model can choose from, and remember their times; later runs on "
      "this machine choose by them, unless the environment has CGRUN_TUNING=none");
  verb.Add("--keep", flags->keep,
           "write a value of the last batch, a parameter or `grad(NAME)` to NAME.npy")
      .Value("NAME")
      .Repeated();
  verb.Add("--set", flags->set, "override a key of the file: --set train.epochs=2")
      .Value("KEY=VALUE")
      .Repeated();
  verb.Add("--disable-pass", flags->disabled_passes,
           "skip a pass or a decision; `plan --passes` lists them")
      .Value("PASS")
      .Repeated();
  verb.Add("--stop-after-pass", flags->stop_after_pass, "run no pass after this one").Value("PASS");
  verb.Add("--dump-after", flags->dump_after, "print the graph after a pass")
      .Value("PASS")
      .Repeated();
  GroupFlags(verb, before);
  return flags;
}

namespace {

void AddLimitFlags(const Verb& verb, RunFlags& flags) {
  verb.Add("--limit-batches", flags.limit_batches, "use at most N batches in each pass over data")
      .Between(int64_t{1}, std::numeric_limits<int64_t>::max())
      .Value("N");
  verb.AddSwitch("--dry-run", flags.dry_run,
                 "prepare everything and say what the run takes; run and write nothing");
}

}  // namespace

std::shared_ptr<RunFlags> AddRunFlags(const Verb& verb) {
  auto flags = std::make_shared<RunFlags>();
  verb.Add("--mode", flags->mode,
           "graph: compile and plan before the first step; eager: run operator by operator, as "
           "eager frameworks do, without passes or a plan")
      .OneOf({"graph", "eager"});
  AddLimitFlags(verb, *flags);
  return flags;
}

std::shared_ptr<RunFlags> AddRunFlagsOfAnyMode(const Verb& verb) {
  auto flags = std::make_shared<RunFlags>();
  AddLimitFlags(verb, *flags);
  return flags;
}

Mode ModeOf(const RunFlags& flags) {
  return flags.mode == Name(Mode::kEager) ? Mode::kEager : Mode::kGraph;
}

namespace {

// Returns false after an error, which is printed.
bool CheckArgument(const std::string& path, Diagnostics& diagnostics) {
  try {
    CheckModelArgument(path);
    return true;
  } catch (const InputError& error) {
    const auto file = std::make_shared<const SourceFile>(SourceFile{path, ""});
    diagnostics.Error({file}, error.what(), error.help());
    PrintFileError(path, error.what(), error.help());
    return false;
  }
}

// The file that a path leads to, where that is a link: what lies beside it is not beside the link.
std::string BehindLinks(const std::filesystem::path& path) {
  constexpr int kMostLinks = 40;  // as the system itself
  std::filesystem::path file = path;
  std::error_code error;
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(file, error); ++i) {
    const std::filesystem::path target = std::filesystem::read_symlink(file, error);
    if (error) break;
    file = file.parent_path() / target;  // of an absolute one, that
  }
  return file.string();
}

std::optional<ModelSpec> LoadEmbeddedModel(const ModelFlags& flags, const std::string& text,
                                           const std::string& path, Diagnostics& diagnostics) {
  ModelSpec partial;
  const Overrides overrides(flags, /*each_kept=*/true);
  std::optional<ModelSpec> model =
      ParseModel({path, text}, overrides.assignments, diagnostics, overrides.typed, &partial);
  return Checked(std::move(model), partial, diagnostics);
}

// --dim and --const say how an .onnx file is imported.
void RefuseOnnxFlags(const ModelFlags& flags) {
  const char* const flag = !flags.onnx.dims.empty()        ? "--dim"
                           : !flags.onnx.constants.empty() ? "--const"
                           : !flags.onnx.data.empty()      ? "--data"
                                                           : nullptr;
  if (flag == nullptr) return;
  throw InputError(std::string(flag) + " is for .onnx files, and '" + flags.model + "' is none",
                   "a model file says itself what its inputs and its data are");
}

std::optional<ModelSpec> LoadOnnxModel(const ModelFlags& flags, Diagnostics& diagnostics) {
  OnnxModelFile file = ReadOnnxModel(flags.model, flags.onnx);
  ModelSpec partial;
  const Overrides overrides(flags, /*each_kept=*/true);
  std::optional<ModelSpec> model =
      ModelOfTree(std::move(file.tree), file.path, overrides.assignments, diagnostics,
                  overrides.typed, &partial);
  return Checked(std::move(model), partial, diagnostics);
}

std::optional<ModelSpec> LoadModel(const ModelFlags& flags, Diagnostics& diagnostics) {
  if (IsProgramFile(flags.model)) {
    throw InputError("'" + flags.model + "' is a compiled program, where a model file is wanted",
                     "`cgrun disasm " + ShellWord(flags.model) +
                         "` lists a program and its memory layout, `cgrun train` and `cgrun eval` "
                         "run one");
  }
  if (IsOnnxFile(flags.model) && flags.takes_onnx) return LoadOnnxModel(flags, diagnostics);
  if (!CheckArgument(flags.model, diagnostics)) return std::nullopt;
  RefuseOnnxFlags(flags);
  ModelSpec partial;
  const Overrides overrides(flags, /*each_kept=*/true);
  NoteChanges(flags.model, flags.set);
  std::optional<ModelSpec> model = LoadModelFile(flags.model, overrides.assignments, diagnostics,
                                                 overrides.typed, &partial, OnnxNetworkExpander());
  return Checked(std::move(model), partial, diagnostics);
}

}  // namespace

void TakeOnnx(const Verb& verb, const std::shared_ptr<ModelFlags>& flags, const std::string& also) {
  flags->takes_onnx = true;
  verb.Get("MODEL").Describe("model file (.yaml)" + also + ", or ONNX model (.onnx)");
  AddOnnxFlags(verb, flags->onnx);
}

std::optional<ModelSpec> LoadModel(const ModelFlags& flags) {
  Diagnostics diagnostics;
  return LoadModel(flags, diagnostics);
}

std::optional<ModelSpec> LoadEmbeddedModel(const ModelFlags& flags, const std::string& text,
                                           const std::string& path) {
  Diagnostics diagnostics;
  return LoadEmbeddedModel(flags, text, path, diagnostics);
}

std::optional<ModelSpec> LoadModelOrProgram(const ModelFlags& flags, Diagnostics& diagnostics) {
  if (!IsProgramFile(flags.model)) return LoadModel(flags, diagnostics);
  RememberOnnxFlags(flags.onnx);
  const ProgramImage image = LoadProgram(flags.model);
  return LoadEmbeddedModel(flags, image.model_text, image.model_path, diagnostics);
}

std::optional<ModelSpec> LoadModelOrProgram(const ModelFlags& flags) {
  Diagnostics diagnostics;
  return LoadModelOrProgram(flags, diagnostics);
}

std::optional<ModelSpec> LoadWithBatch(ModelFlags flags, int64_t batch) {
  flags.set.push_back("train.batch=" + std::to_string(batch));
  return LoadModelOrProgram(flags);
}

ProgramImage LoadProgram(const std::string& path) {
  ProgramImage image = LoadImage(path);
  CheckSound(image, path);
  image.model_path = BehindLinks(path);
  return image;
}

bool IsProgramFile(const std::string& path) {
  return path.size() > 4 && path.compare(path.size() - 4, 4, ".cgb") == 0;
}

bool KeepsInFolder(const ModelFlags& flags, const std::string& out) {
  if (!out.empty() || flags.keep.empty()) return !out.empty();
  throw InputError("--keep needs a folder for what it keeps", "--out DIR names it");
}

std::string DeviceOf(const ModelSpec& model) {
  if (model.device.value != "auto") return model.device.value;
  return std::string(FastestHostDevice());
}

const KernelLibrary& KernelsOf(const ModelSpec& model) {
  Diagnostics diagnostics;
  if (const KernelLibrary* library = FindKernels(model, diagnostics)) return *library;
  LintPartial(model, diagnostics);
  throw ModelError("there are no kernels for device '" + DeviceOf(model) + "'",
                   std::move(diagnostics));
}

void CheckPlanner(const ModelFlags& flags) { CheckKnown("planner", flags.planner, PlannerNames()); }

CompileOptions CompileOptionsOf(const ModelFlags& flags, const ModelSpec& model, bool is_dry_run) {
  CompileOptions options;
  if (model.train) options.order = model.train->order.value;
  CheckKnown("order", options.order, OrderNames());
  CheckPlanner(flags);
  options.layout.planner = flags.planner;
  options.layout.zones_apart = model.zones.value == "separate";
  options.passes = PassOptionsOf(flags);
  const KernelLibrary* library = FindKernelLibrary(DeviceOf(model));
  if (library == nullptr || library->uses_threads()) {
    CheckThreads(flags.threads);
    options.threads = flags.threads > 0 ? flags.threads : HostThreads();
  }
  options.precision = PrecisionOf(model);
  options.bf16_activations = model.train && model.train->precision.value == "bf16";
  options.tf32 = model.train && model.train->precision.value == "tf32";
  const Tune tune = !flags.tune ? Tune::kNo : is_dry_run ? Tune::kDryRun : Tune::kYes;
  if (library != nullptr) TakeTuning(model, *library, tune, options);
  options.layout.packings = PackingsOfMachine(/*keeps=*/!is_dry_run);
  if (PredictsAlone(model)) options.keeps = EntryKind::kPredict;
  return options;
}

}  // namespace cgrun
