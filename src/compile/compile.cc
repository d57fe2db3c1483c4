// The pipeline, as the picture in docs/architecture.md draws it.
#include "src/compile/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "src/base/check.h"
#include "src/base/phase_times.h"
#include "src/budget/parallel_streams.h"
#include "src/budget/plan_entries.h"
#include "src/budget/planned_reports.h"
#include "src/compile/analysis_count.h"
#include "src/compile/model_graph.h"
#include "src/compile/prepare_entries.h"
#include "src/kernels/measure.h"
#include "src/model/model_file.h"
#include "src/passes/decisions.h"
#include "src/program/build_image.h"

namespace cgrun {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

ProgramImage MakeImage(const ModelSpec& model, const CompiledModel& compiled,
                       const KernelLibrary& library, const CompileOptions& options) {
  const PhaseTimer timer("program");
  std::vector<ImageSource> sources;
  for (const CompiledEntry& entry : compiled.entries) {
    sources.push_back({entry.request.name, entry.request.kind, entry.request.batch, &entry.graph,
                       &entry.schedule});
  }
  ProgramImage image = BuildImage(sources, compiled.layout);
  image.model = model.name.value;
  image.model_text = ProgramText(model);
  image.model_path = model.file_name;
  image.device = library.name();
  image.fingerprint = FingerprintOf(library, options);
  image.seed = compiled.entries[0].graph.seed;
  const std::vector<std::string> violations = VerifyImage(image);
  CGRUN_CHECK(violations.empty()) << "the program is not sound: " << violations[0];
  return image;
}

// A stream is a thread of the host, a program that runs in part runs one by one, and where a plan
// is to be made quickly, streams are left out.
bool MayUseStreams(const KernelLibrary& library, const CompileOptions& options) {
  return KindOfDevice(library.name()).on_host && options.threads > 1 &&
         !options.layout.incremental && options.effort == PlanEffort::kFull && options.streams &&
         !options.passes.Disabled(kStreamsDecision);
}

// Those of the parts of a fingerprint, which commas part, that `other` does not have.
std::string PartsBeside(const std::string& text, const std::string& other) {
  std::vector<std::string> beside;
  for (size_t begin = 0, end; begin <= text.size(); begin = end + 2) {
    end = std::min(text.find(", ", begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const bool is_common = (", " + other + ", ").find(", " + part + ", ") != std::string::npos;
    if (!is_common) beside.push_back(part);
  }
  return fmt::format("{}", fmt::join(beside, ", "));
}

}  // namespace

std::string ProgramText(const ModelSpec& model, const std::string& folder) {
  TreeNode tree = ResolvedTree(model, folder);
  if (TreeEntry* train = tree.Find("train")) {
    std::erase_if(train->value.entries, [](const TreeEntry& entry) { return entry.key == "swap"; });
  }
  return ToYaml(tree);
}

TunedTarget TargetOf(const KernelLibrary& library, const CompileOptions& options) {
  MeasureKernel measure;
  if (options.measure_kernels && KindOfDevice(library.name()).on_host) {
    measure = [&library](const NodeSignature& node, const KernelOption& option, int threads) {
      return MeasureOnHost(library, node, option, threads);
    };
  }
  return TunedTarget(library, options.tuning.get(), std::move(measure), options.tf32);
}

std::string FingerprintOf(const KernelLibrary& library, const CompileOptions& options) {
  std::string text = library.fingerprint() + ", " + std::to_string(options.threads) +
                     (options.threads == 1 ? " thread" : " threads");
  if (options.tuning) text += ", tuned " + options.tuning->Name();
  return text;
}

std::string DescribeDifference(const ProgramImage& image, std::string_view device,
                               const std::string& fingerprint) {
  if (image.device != device) {
    return "it was compiled for " + image.device + "; this run is on " + std::string(device);
  }
  const std::string was = PartsBeside(image.fingerprint, fingerprint);
  const std::string is = PartsBeside(fingerprint, image.fingerprint);
  if (was.empty()) return "it was not compiled for what this run has: " + is;
  if (is.empty()) return "it was compiled for " + was + ", which this run does not have";
  return "it was compiled for " + was + "; this run has " + is;
}

std::optional<Graph> BuildGraph(const ModelSpec& model, EntryKind kind, const Target& target,
                                const CompileOptions& options, Diagnostics& diagnostics,
                                std::vector<PassReport>* reports, int64_t batch) {
  std::optional<Graph> graph = BuildModelGraph(model, kind, options, diagnostics);
  if (!graph) return std::nullopt;
  const PassContext context{target, model.inexact.value, nullptr,
                            batch,  options.threads,     options.layout.incremental};
  std::vector<PassReport> ran = RunPasses(*graph, context, options.passes);
  if (reports != nullptr) *reports = std::move(ran);
  return graph;
}

std::optional<CompiledModel> Compile(const ModelSpec& model,
                                     const std::vector<EntryRequest>& entries,
                                     const KernelLibrary& library, const CompileOptions& options,
                                     Diagnostics& diagnostics) {
  const Clock::time_point start = Clock::now();
  std::optional<CompiledModel> compiled =
      PrepareEntries(model, entries, TargetOf(library, options), options, diagnostics);
  if (!compiled) return std::nullopt;
  CompilePrepared(model, library, options, *compiled);
  compiled->compile_seconds = SecondsSince(start);
  return compiled;
}

void CompilePrepared(const ModelSpec& model, const KernelLibrary& library,
                     const CompileOptions& options, CompiledModel& prepared) {
  CountAnalysis();
  const Clock::time_point start = Clock::now();
  const TunedTarget target = TargetOf(library, options);
  std::vector<PassReport> planned = PlannedReports();
  prepared.layout = PlanEntries(prepared.entries, target, options, planned);
  if (MayUseStreams(library, options)) {
    prepared.layout =
        UseParallelStreams(prepared.entries, std::move(prepared.layout), target, options, planned);
  }
  prepared.layout.plan_seconds = SecondsSince(start);
  prepared.passes.insert(prepared.passes.end(), planned.begin(), planned.end());
  prepared.image = MakeImage(model, prepared, library, options);
}

}  // namespace cgrun
