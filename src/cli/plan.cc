// Runs `cgrun plan`, which prints the memory layout of a model, or packs the buffers of a .csv
// file.
#include <fmt/format.h>

#include <initializer_list>
#include <memory>
#include <string>

#include "src/base/phase_times.h"
#include "src/cli/command.h"
#include "src/cli/console.h"
#include "src/cli/host_cap.h"
#include "src/cli/machine_file.h"
#include "src/cli/memory_cap.h"
#include "src/cli/model_flags.h"
#include "src/cli/plan_csv.h"
#include "src/cli/plan_frontier.h"
#include "src/cli/plan_program.h"
#include "src/cli/plan_why.h"
#include "src/cli/program_argument.h"
#include "src/cli/swap_place.h"
#include "src/device/device.h"
#include "src/eager/peak.h"
#include "src/fit/run_shape.h"
#include "src/io/memory_room.h"
#include "src/io/read_file.h"
#include "src/lint/bf16_speed.h"
#include "src/packing/problem_csv.h"
#include "src/program/code.h"
#include "src/report/group_report.h"
#include "src/report/memory_page.h"
#include "src/report/plan_diff.h"
#include "src/report/plan_report.h"
#include "src/report/table.h"
#include "src/report/value_life.h"
#include "src/run/checkpoint.h"

namespace cgrun {
namespace {

struct PlanFlags {
  bool full = false;
  bool compare = false;
  bool passes = false;
  bool frontier = false;
  std::string csv;
  std::string html;
  std::string why;
  std::string diff;
  PackFlags pack;
};

constexpr int64_t kLargestJson = int64_t{1} << 28;

// The rules of other systems beside ours: what they hand memory out by
// (docs/internals/packing.md), and whether an operator may write over its input.
struct Baseline {
  const char* planner;
  bool in_place;
};
constexpr Baseline kBaselines[] = {
    {"owl", true}, {"singa", false}, {"calcgraph", false}, {"naive", false}};

// Says so where the device, or the machine itself, has less memory than the run takes. `data_bytes`
// is what the open data holds of the host.
void WarnOfTooMuch(const RunMemory& memory, const Device& device,
                   const std::optional<Machine>& machine) {
  if (machine || !memory.on_host) {
    const DeviceInfo info = device.Info();
    const std::string fault =
        machine
            ? FaultOfRoom(memory.peak(), {"the machine in '" + machine->file + "'",
                                          machine->total_bytes, machine->free_bytes, "there"})
            : FaultOfRoom(memory.arena, {"device " + info.name, info.total_bytes, info.free_bytes});
    if (!fault.empty()) PrintWarning(fault);
    return;
  }
  const int64_t most = LargestPeak(ReadHostLimits(), memory);
  if (memory.peak() <= most) return;
  const int64_t cap = most >> 20;  // MiB
  PrintWarning(fmt::format(
      "this takes {}, and a process here may take {}: `cgrun train` looks for a plan that fits{}",
      FormatBytes(memory.peak()), FormatBytes(most),
      cap == 0 ? "" : fmt::format(", and `cgrun plan --memory {}MiB` shows it", cap)));
}

// Returns the bytes that eager mode would need for the same entry points.
int64_t EagerPeakOf(const ModelSpec& model, const std::vector<EntryRequest>& entries,
                    const KernelLibrary& library, const CompileOptions& options) {
  const PhaseTimer timer("eager peak");
  Diagnostics diagnostics;
  const auto prepared = PrepareEager(model, entries, library, options, diagnostics);
  if (!prepared) return 0;
  std::vector<const Graph*> graphs;
  for (const EagerGraph& entry : *prepared) graphs.push_back(&entry.graph);
  return EagerPeakBytes(graphs);
}

std::vector<KeptValue> KeptValuesOf(const CompiledModel& compiled) {
  std::vector<KeptValue> kept;
  for (size_t e = 0; e < compiled.entries.size(); ++e) {
    const Graph& graph = compiled.entries[e].graph;
    for (const Output& output : graph.outputs) {
      if (output.kind != OutputKind::kKept) continue;
      kept.push_back({static_cast<int>(e), output.name, graph.values[output.value].name,
                      ByteSize(graph.values[output.value].type)});
    }
  }
  return kept;
}

std::vector<PlannedEntry> PlannedEntriesOf(const CompiledModel& compiled) {
  std::vector<PlannedEntry> entries;
  for (const CompiledEntry& entry : compiled.entries) {
    entries.push_back({entry.request.name, &entry.graph, &entry.schedule});
  }
  return entries;
}

// Lays out the same graphs, in the same order, with each of the baselines.
std::vector<MemoryLayout> BaselineLayouts(const CompiledModel& compiled, LayoutOptions options) {
  std::vector<MemoryLayout> layouts;
  for (const Baseline& baseline : kBaselines) {
    options.planner = baseline.planner;
    options.in_place = baseline.in_place;
    options.zones_apart = false;
    layouts.push_back(PlanLayout(PlannedEntriesOf(compiled), options));
  }
  return layouts;
}

// Returns the effects of the passes on the first entry point.
PassEffects EffectsOf(const CompiledModel& compiled, const PhaseTimes& times) {
  PassEffects effects;
  effects.entry = compiled.entries[0].request.name;
  effects.nodes_before = compiled.nodes_before_passes;
  effects.nodes_after = static_cast<int>(compiled.entries[0].graph.nodes.size());
  for (const PassReport& pass : compiled.passes) {
    effects.passes.push_back(
        {pass.name, pass.rounds, pass.changed_rounds, -pass.nodes_removed, pass.seconds});
  }
  effects.phases = times.phases();
  return effects;
}

// Exit status 1 where the plan takes more than the one in the file.
int TellDifference(const std::string& file, const std::string& plan_json) {
  const std::string before = ReadTextFile(file, kLargestJson);
  CheckJsonRoom(file, before);
  const PlanDiff diff = DiffPlans(before, file, plan_json);
  PrintResult(PlanDiffText(diff), PlanDiffJson(diff));
  return diff.grew_bytes > 0 ? kFailed : kDone;
}

void WritePage(const std::string& file, const PlanSubject& subject, const MemoryLayout& layout,
               const std::vector<MemoryLayout>& baselines) {
  std::vector<MemoryPagePlan> plans = {{"planner " + layout.planner, &subject, &layout}};
  for (const MemoryLayout& other : baselines) {
    plans.push_back({"planner " + other.planner, &subject, &other});
  }
  WriteBeside(file, MemoryPageHtml(plans));
}

void WriteBuffers(const std::string& file, const CompiledModel& compiled,
                  const LayoutOptions& options) {
  WriteBeside(file, WriteProblemCsv(TransientProblem(PlannedEntriesOf(compiled)[0], options,
                                                     compiled.layout.has_sub_buffers)));
}

PlanSubject SubjectOf(const ModelSpec& model, const CompiledModel& compiled, const RunShape& shape,
                      const CompileOptions& options, const FittedRun& fitted) {
  PlanSubject subject;
  if (model.train && model.train->memory) subject.memory_cap = model.train->memory->value;
  subject.slower = fitted.slower;
  subject.threads = options.threads;
  subject.precision =
      model.train ? model.train->precision.value : std::string(Name(options.precision));
  if (options.tuning) subject.tuning = options.tuning->Name();
  subject.kept = KeptValuesOf(compiled);
  subject.sharing = SharingOf(compiled.entries[0].graph, compiled.layout, 0);
  subject.fused = FusedNodesOf(compiled.entries[0].graph);
  subject.copies_bytes = CopiesAtPeak(compiled.entries[0].graph, compiled.layout, 0);
  subject.model = model.name.value;
  subject.device = KernelsOf(model).name();
  subject.swaps_to_host = !KindOfDevice(subject.device).on_host;
  subject.order = options.order;
  subject.batch = shape.entries[0].batch;
  subject.training = shape.entries[0].kind != EntryKind::kPredict;
  for (const EntryRequest& entry : shape.entries) {
    subject.entries.push_back(entry.name);
    subject.batches.push_back(entry.batch);
  }
  subject.data_note = shape.data_note;
  subject.compile_seconds = compiled.compile_seconds;
  subject.eager_peak_bytes = EagerPeakOf(model, shape.entries, KernelsOf(model), options);
  return subject;
}

// --compare and --passes ask for that alone.
PlanDetail DetailOf(const PlanFlags& flags) {
  if (flags.full) return PlanDetail::kFull;
  return flags.compare || flags.passes ? PlanDetail::kNone : PlanDetail::kBiggest;
}

// Has the flags name the device and the threads of a machine that is not there, and its free memory
// as the cap where a batch is to be found.
std::optional<ModelSpec> LoadModelFor(const Machine& machine, ModelFlags& flags) {
  flags.device = machine.device;
  if (flags.threads == 0) flags.threads = machine.threads;
  std::optional<ModelSpec> model = LoadModel(flags);
  if (!model || !model->train || !model->train->batch.value.automatic || model->train->memory) {
    return model;
  }
  flags.memory = std::to_string(machine.free_bytes);
  return LoadModel(flags);
}

// Says what the models of all groups take beside the arena that they share.
void TellOfGroups(const CompiledModel& compiled, const GroupTable* groups) {
  if (groups == nullptr) return;
  Tell(fmt::format(
      "groups: {}, in one arena of {} after another",
      GroupsMemoryText(groups->count(), GroupWeightsBytes(compiled.image.states, groups)),
      FormatBytes(compiled.layout.arena_bytes)));
}

int PlanModel(ModelFlags flags, const PlanFlags& plan_flags) {
  PhaseTimes times;
  const PhaseTimer timer("read and report");
  flags = WithHostMemory(std::move(flags));
  std::optional<Machine> machine;
  if (IsMachineFile(flags.device)) machine = ReadMachine(flags.device);
  std::optional<ModelSpec> model = machine ? LoadModelFor(*machine, flags) : LoadModel(flags);
  if (!model) return kBadInput;
  if (machine) Tell(MachineNote(*machine, flags.threads));
  const KernelLibrary& library = KernelsOf(*model);
  CompileOptions options = CompileOptionsOf(flags, *model);
  if (plan_flags.frontier && !NoteSwapFolder(*model, options)) return kBadInput;
  const FittedRun fitted = FitMemory(flags, *model, options);
  if (!fitted.fits) return kBadInput;
  Diagnostics diagnostics;
  const RunShape shape = ShapeOfRun(*model, diagnostics);
  if (plan_flags.frontier) {
    const bool is_told = TellFrontier(*model, shape.entries, library, options, diagnostics);
    PrintDiagnostics(diagnostics);
    return is_told ? kDone : kBadInput;
  }
  if (!machine) WarnOfSlowBF16(*model, library, diagnostics);
  auto compiled = Compile(*model, shape.entries, library, options, diagnostics);
  PrintDiagnostics(diagnostics);
  if (!compiled) return kBadInput;
  TellNotes(shape.data.notes);
  TellOfGroups(*compiled, shape.data.groups.get());
  if (!plan_flags.why.empty()) {
    TellWhy(PlannedEntriesOf(*compiled), compiled->layout, plan_flags.why, plan_flags.full, *model,
            options);
    return kDone;
  }

  // Before the reports below, which a run does not make.
  const RunMemory memory = fitted.memory ? *fitted.memory : MemoryOfRun(*compiled, shape, library);
  if (!plan_flags.csv.empty()) WriteBuffers(plan_flags.csv, *compiled, options.layout);
  PlanSubject subject = SubjectOf(*model, *compiled, shape, options, fitted);
  if (plan_flags.passes) subject.passes = EffectsOf(*compiled, times);
  std::vector<MemoryLayout> baselines;
  if (plan_flags.compare) baselines = BaselineLayouts(*compiled, options.layout);
  for (const MemoryLayout& layout : baselines) {
    subject.compared.push_back({layout.planner, layout.arena_bytes, layout.plan_seconds});
  }
  CheckHostMemory(flags, memory);
  subject.data_bytes = memory.data;
  subject.base_bytes = memory.base;
  subject.start_bytes = memory.start;
  subject.container_bytes = memory.container();
  subject.address_space_bytes = memory.address_space();
  subject.code_bytes = memory.beside.code;
  subject.kernel_bytes = memory.beside.kernel;
  WarnOfTooMuch(memory, *OpenDevice(library.name()), machine);
  if (!plan_flags.html.empty()) WritePage(plan_flags.html, subject, compiled->layout, baselines);
  const std::string json = PlanJson(subject, compiled->layout);
  if (!plan_flags.diff.empty()) return TellDifference(plan_flags.diff, json);
  PrintResult(PlanText(subject, compiled->layout, DetailOf(plan_flags)), json);
  return kDone;
}

// Throws if a flag makes no sense without a model, or with one.
void CheckFlags(const PlanFlags& flags, bool is_csv) {
  struct Given {
    const char* flag;
    bool is_given;
    bool of_csv;
    const char* value = "";  // for an example
  };
  const Given given[] = {{"--compare", flags.compare, false},
                         {"--passes", flags.passes, false},
                         {"--frontier", flags.frontier, false},
                         {"--html", !flags.html.empty(), false, " plan.html"},
                         {"--why", !flags.why.empty(), false, " classify.pool1"},
                         {"--diff", !flags.diff.empty(), false, " before.json"},
                         {"--csv", !flags.csv.empty(), false, " buffers.csv"},
                         {"--capacity", !flags.pack.capacity.empty(), true, " 2097152"},
                         {"--time", !flags.pack.time.empty(), true, " 10"},
                         {"--out", !flags.pack.out.empty(), true, " packed.csv"}};
  for (const Given& one : given) {
    if (!one.is_given || one.of_csv == is_csv) continue;
    const std::string flag = one.flag;
    throw InputError(flag + (is_csv ? " needs a model, not a list of buffers"
                                    : " needs a list of buffers (.csv), not a model"),
                     std::string("for example `cgrun plan ") +
                         (is_csv ? "models/lenet.yaml " : "buffers.csv ") + flag + one.value + "`");
  }
}

// Throws if two of these flags stand together. Each prints only its own result, so that the other
// would be left out.
void CheckTogether(const PlanFlags& flags) {
  struct Given {
    const char* flag;
    bool is_given;
  };
  const Given compare = {"--compare", flags.compare}, passes = {"--passes", flags.passes},
              frontier = {"--frontier", flags.frontier}, html = {"--html", !flags.html.empty()},
              why = {"--why", !flags.why.empty()}, diff = {"--diff", !flags.diff.empty()},
              csv = {"--csv", !flags.csv.empty()};
  const auto exclude = [](const Given& one, std::initializer_list<Given> others) {
    for (const Given& other : others) {
      if (!one.is_given || !other.is_given) continue;
      throw InputError(std::string(one.flag) + " and " + other.flag + " exclude each other",
                       "leave one of them out");
    }
  };
  exclude(frontier, {html, compare, passes, why, diff, csv});
  exclude(why, {html, compare, passes, diff, csv});
  exclude(diff, {compare, passes});
}

// Throws for a flag of models beside a list of buffers, which knows only --planner of them.
void CheckModelFlags(const Verb& verb) {
  RefuseFlagsOfModels(verb, "a list of buffers",
                      "leave it out, or plan a model: `cgrun plan models/lenet.yaml`", {},
                      {"--planner", "--tune"});
  if (!verb.Given("--full")) return;
  throw InputError("--full needs a model, not a list of buffers",
                   "leave it out: `--out FILE` writes where each buffer lies");
}

// The layout that a compiled program carries, which no flag changes.
int PlanProgram(const Verb& verb, const ModelFlags& flags, const PlanFlags& plan_flags) {
  RefuseFlagsOfModels(
      verb, "a compiled program",
      "a program carries its layout, which `cgrun plan` shows as it is; plan its model file",
      {"--compare", "--passes", "--frontier", "--why", "--diff", "--csv", "--capacity", "--time",
       "--out"});
  TellProgramPlan(flags.model, plan_flags.full, plan_flags.html);
  return kDone;
}

}  // namespace

Command DefinePlan(const Verb& verb) {
  auto flags = AddModelFlags(verb, CapFlag::kKept);
  auto plan_flags = std::make_shared<PlanFlags>();
  TakeOnnx(verb, flags, ", compiled program (.cgb), buffers (.csv)");
  verb.AddSwitch("--full", plan_flags->full,
                 "list every buffer; with --why, every entry point; with --compare and --passes, "
                 "the whole plan, too");
  verb.AddSwitch("--compare", plan_flags->compare,
                 "show the planners of other systems beside ours");
  verb.AddSwitch("--passes", plan_flags->passes, "show what each pass and decision did");
  verb.AddSwitch("--frontier", plan_flags->frontier,
                 "list plans from the fastest to the smallest, with more and more recomputed; for "
                 "small graphs, prove the least memory");
  verb.Add("--html", plan_flags->html, "draw the plan as a page; with --compare, draw all of them")
      .Value("FILE");
  verb.Add("--why", plan_flags->why,
           "tell who makes a value, who reads it and what keeps it alive; the end of its name is "
           "enough")
      .Value("NAME");
  verb.Add("--diff", plan_flags->diff,
           "compare with what --json wrote before; the exit status is 1 if the plan grew")
      .Value("FILE");
  verb.Add("--capacity", plan_flags->pack.capacity,
           "for a .csv: the exit status is 1 if the plan is larger")
      .Value("BYTES");
  verb.Add("--csv", plan_flags->csv, "write the buffers of the first entry point as a .csv")
      .Value("FILE");
  verb.Add("--time", plan_flags->pack.time,
           "for a .csv: search for this long (default: a fixed number of steps)")
      .Value("SECONDS");
  verb.Add("--out", plan_flags->pack.out, "for a .csv: write it with the offsets").Value("FILE");
  return [verb, flags, plan_flags] {
    if (IsProgramFile(flags->model)) return PlanProgram(verb, *flags, *plan_flags);
    const bool is_csv = flags->model.ends_with(".csv");
    CheckFlags(*plan_flags, is_csv);
    CheckTogether(*plan_flags);
    if (!is_csv) return PlanModel(*flags, *plan_flags);
    CheckModelFlags(verb);
    plan_flags->pack.has_planner = verb.Given("--planner");
    return PlanCsv(*flags, plan_flags->pack);
  };
}

}  // namespace cgrun
