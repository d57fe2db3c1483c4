// cgrun plan: the memory layout of a model, or a packing problem from a .csv.
#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>

#include "src/cli/command.h"
#include "src/cli/console.h"
#include "src/cli/model_flags.h"
#include "src/device/device.h"
#include "src/eager/peak.h"
#include "src/io/atomic_file.h"
#include "src/io/read_file.h"
#include "src/model/values.h"
#include "src/plan/pack.h"
#include "src/plan/problem_csv.h"
#include "src/program/code.h"
#include "src/report/plan_report.h"
#include "src/report/table.h"
#include "src/train/checkpoint.h"
#include "src/train/run_shape.h"

namespace cgrun {
namespace {

struct PlanFlags {
  bool full = false;
  std::string capacity;
  std::string csv;
  std::string time;
  std::string out;
  bool has_planner = false;
};

constexpr const char* kSearch = "search";  // the planner of a .csv, where none is named

constexpr int64_t kLargestCsv = int64_t{1} << 30;

std::optional<MemoryProblem> ReadCsv(const std::string& path) {
  const std::vector<std::byte> bytes = ReadFile(path, kLargestCsv);
  const auto file = std::make_shared<SourceFile>(
      SourceFile{path, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())});
  Diagnostics diagnostics;
  std::optional<MemoryProblem> problem = ReadProblemCsv(file, diagnostics);
  PrintDiagnostics(diagnostics);
  return problem;
}

Bytes CapacityOf(const PlanFlags& flags) {
  const std::optional<int64_t> capacity = ParseBytes(flags.capacity);
  if (capacity) return *capacity;
  throw InputError("'" + flags.capacity + "' is no number of bytes",
                   "for example --capacity 1048576, or --capacity 1MiB");
}

PackBudget BudgetOf(const PlanFlags& flags) {
  PackBudget budget;
  if (flags.time.empty()) return budget;
  budget.seconds = ParseSeconds(flags.time);
  if (budget.seconds) return budget;
  throw InputError("'" + flags.time + "' is no time", "for example --time 10, or --time 2m");
}

MemoryPlan PackBy(const std::string& planner, const MemoryProblem& problem,
                  const PackBudget& budget) {
  return planner == kSearch ? Pack(problem, budget).plan : PlanMemory(problem, planner);
}

// Says so where no plan at all keeps the capacity.
bool IsImpossible(const std::string& path, const MemoryProblem& problem) {
  const Bytes bound = LowerBound(problem);
  if (!problem.capacity || bound <= *problem.capacity) return false;
  PrintError(path + ": no plan fits into " + std::to_string(*problem.capacity) +
                 " bytes: " + std::to_string(bound) + " are needed at some step",
             "give a capacity of at least " + std::to_string(bound) + " bytes");
  return true;
}

// A packing problem alone. Exit status 1 where a capacity is given and not met.
int PlanCsv(const ModelFlags& flags, const PlanFlags& plan_flags) {
  const PackBudget budget = BudgetOf(plan_flags);
  CompileOptionsOf(flags, ModelSpec());  // an unknown planner is an error
  const std::string planner = plan_flags.has_planner ? flags.planner : kSearch;
  if (planner != kSearch && budget.seconds) {
    throw InputError("--time is of planner 'search' alone", "leave out --planner, or --time");
  }
  std::optional<MemoryProblem> problem = ReadCsv(flags.model);
  if (!problem) return kBadInput;
  if (!plan_flags.capacity.empty()) problem->capacity = CapacityOf(plan_flags);
  if (IsImpossible(flags.model, *problem)) return kFailed;
  const auto start = std::chrono::steady_clock::now();
  const MemoryPlan plan = PackBy(planner, *problem, budget);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (!plan_flags.out.empty()) {
    const std::string text = WriteProblemCsv(*problem, &plan);
    WriteFileAtomically(plan_flags.out, std::as_bytes(std::span(text)));
  }
  PrintResult(PackingText(*problem, plan, seconds.count()),
              PackingJson(*problem, plan, seconds.count()));
  const bool met = !problem->capacity || plan.peak_bytes <= *problem->capacity;
  return met ? kDone : kFailed;
}

// Says so where the device, or the machine itself, has less memory than the run takes. `data_bytes`
// is what the open data holds of the host.
void WarnOfTooMuch(const RunMemory& memory, int64_t data_bytes, const Device& device) {
  const DeviceInfo info = device.Info();
  const int64_t held = memory.base + data_bytes;
  const std::string fault =
      memory.on_host
          ? FaultOfRoom(memory.host(), {"this machine", info.total_bytes, FreeHostMemory() + held})
          : FaultOfRoom(memory.arena, {"device " + info.name, info.total_bytes, info.free_bytes});
  if (!fault.empty()) PrintWarning(fault);
}

// What eager mode would need for the same entry points.
int64_t EagerPeakOf(const ModelSpec& model, const std::vector<EntryRequest>& entries,
                    const KernelLibrary& library, const CompileOptions& options) {
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

int PlanModel(const ModelFlags& flags, const PlanFlags& plan_flags) {
  const std::optional<ModelSpec> model = LoadModel(flags);
  if (!model) return kBadInput;
  const KernelLibrary& library = KernelsOf(*model);
  const CompileOptions options = CompileOptionsOf(flags, *model);
  Diagnostics diagnostics;
  const RunShape shape = ShapeOfRun(*model, diagnostics);
  auto compiled = Compile(*model, shape.entries, library, options, diagnostics);
  PrintDiagnostics(diagnostics);
  if (!compiled) return kBadInput;

  if (!plan_flags.csv.empty()) {
    const CompiledEntry& entry = compiled->entries[0];
    const PlannedEntry planned{entry.request.name, &entry.graph, &entry.schedule};
    const std::string text = WriteProblemCsv(TransientProblem(planned, options.layout));
    WriteFileAtomically(plan_flags.csv, std::as_bytes(std::span(text)));
  }
  PlanSubject subject;
  subject.kept = KeptValuesOf(*compiled);
  subject.sharing = SharingOf(compiled->entries[0].graph, compiled->layout, 0);
  subject.model = model->name.value;
  subject.device = library.name();
  subject.order = options.order;
  subject.batch = shape.entries[0].batch;
  for (const EntryRequest& entry : shape.entries) subject.entries.push_back(entry.name);
  subject.data_note = shape.data_note;
  const std::unique_ptr<Device> device = OpenDevice(DeviceOf(*model));
  const RunMemory memory = MemoryOfRun(*compiled, shape, library, *device);
  subject.data_bytes = memory.data;
  subject.base_bytes = memory.base;
  subject.compile_seconds = compiled->compile_seconds;
  subject.eager_peak_bytes = EagerPeakOf(*model, shape.entries, library, options);
  WarnOfTooMuch(memory, shape.host.decoded_bytes, *device);
  PrintResult(PlanText(subject, compiled->layout, plan_flags.full),
              PlanJson(subject, compiled->layout));
  return kDone;
}

}  // namespace

Command DefinePlan(CLI::App& app) {
  auto flags = AddModelFlags(app);
  auto plan_flags = std::make_shared<PlanFlags>();
  app.get_option("MODEL")->description("model file (.yaml), or buffers (.csv)");
  app.add_flag("--full", plan_flags->full, "list every buffer");
  app.add_option("--capacity", plan_flags->capacity, "of a .csv: exit status 1 beyond this")
      ->type_name("BYTES");
  app.add_option("--csv", plan_flags->csv, "write the first entry point's buffers as a .csv")
      ->type_name("FILE");
  app.add_option("--time", plan_flags->time,
                 "of a .csv: search for so long (default: a fixed number of steps)")
      ->type_name("SECONDS");
  app.add_option("--out", plan_flags->out, "of a .csv: write it with the offsets")
      ->type_name("FILE");
  return [&app, flags, plan_flags] {
    plan_flags->has_planner = app.count("--planner") > 0;
    return flags->model.ends_with(".csv") ? PlanCsv(*flags, *plan_flags)
                                          : PlanModel(*flags, *plan_flags);
  };
}

}  // namespace cgrun
