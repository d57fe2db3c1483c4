// A child that has prepared the run, and a plan in each child of that.
#include "src/fit/run_planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ranges>
#include <utility>

#include "src/base/json_text.h"
#include "src/budget/single_threaded.h"
#include "src/budget/swap.h"
#include "src/compile/prepare_entries.h"
#include "src/fit/run_memory_json.h"
#include "src/plan/cost_model.h"

namespace cgrun {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PeakHolder, name, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PlannedRun, memory, batch, recomputations, swaps,
                                   single_threaded, in_streams, swap_bytes, slowdown, of_batch,
                                   arena_bound, cap_out_of_reach, at_peak)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TransferSpeed, write_bytes_per_second, read_bytes_per_second)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SwapFolder, path, speed)

namespace {

constexpr size_t kHolders = 3;  // of a peak, that are named

int LargestEntry(const MemoryLayout& layout) {
  const auto less = [](const EntryLayout& a, const EntryLayout& b) {
    return a.transient_bytes < b.transient_bytes;
  };
  return static_cast<int>(std::max_element(layout.entries.begin(), layout.entries.end(), less) -
                          layout.entries.begin());
}

}  // namespace

std::vector<PeakHolder> HoldersOfPeak(const MemoryLayout& layout) {
  const int entry = LargestEntry(layout);
  TimePoint steps = 1;
  for (const PlacedBuffer& buffer : layout.buffers) steps = std::max(steps, buffer.lifespan.upper);
  std::vector<int64_t> bytes(static_cast<size_t>(steps));
  for (const PlacedBuffer& buffer : layout.buffers) {
    if (buffer.entry != entry || buffer.arena != ArenaKind::kDevice) continue;
    for (TimePoint t = buffer.lifespan.lower; t < buffer.lifespan.upper; ++t) {
      bytes[static_cast<size_t>(t)] += buffer.bytes;
    }
  }
  const TimePoint peak = std::max_element(bytes.begin(), bytes.end()) - bytes.begin();
  std::vector<PlacedBuffer> alive;
  for (const PlacedBuffer& buffer : layout.buffers) {
    const bool is_there = buffer.lifespan.lower <= peak && peak < buffer.lifespan.upper;
    if (buffer.arena != ArenaKind::kDevice) continue;
    if (buffer.persistent || (buffer.entry == entry && is_there)) alive.push_back(buffer);
  }
  std::stable_sort(alive.begin(), alive.end(),
                   [](const PlacedBuffer& a, const PlacedBuffer& b) { return a.bytes > b.bytes; });
  std::vector<PeakHolder> holders;
  for (size_t i = 0; i < std::min(alive.size(), kHolders); ++i) {
    holders.push_back({alive[i].name, alive[i].bytes});
  }
  return holders;
}

std::string HoldersText(const std::vector<PeakHolder>& holders,
                        std::string (*text)(int64_t bytes)) {
  const auto each = [&](const PeakHolder& holder) {
    return holder.name + " " + text(holder.bytes);
  };
  return fmt::format("{}", fmt::join(holders | std::views::transform(each), ", "));
}

namespace {

// Holds a run that is prepared up to its kernels.
struct PreparedRun {
  RunShape shape;
  CompiledModel compiled;
};

std::optional<PreparedRun> Prepare(const ModelSpec& model, const KernelLibrary& library,
                                   const CompileOptions& options, Diagnostics& diagnostics) {
  RunShape shape = ShapeOfRun(model, diagnostics);
  const TunedTarget target = TargetOf(library, options);
  auto compiled = PrepareEntries(model, shape.entries, target, options, diagnostics);
  if (!compiled || diagnostics.has_errors()) return std::nullopt;
  return PreparedRun{std::move(shape), std::move(*compiled)};
}

// Plans the run, and moves the contents out of `prepared`.
PlannedRun PlanPreparedRun(PreparedRun& prepared, const ModelSpec& model,
                           const KernelLibrary& library, const CompileOptions& options) {
  CompiledModel& compiled = prepared.compiled;
  CompilePrepared(model, library, options, compiled);
  PlannedRun run;
  run.batch = compiled.entries[0].request.batch;
  const Graph& graph = compiled.entries[0].graph;
  run.recomputations = std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                     [](const Node& node) { return node.recomputes.valid(); });
  run.swaps = CountSwaps(graph);
  run.single_threaded = CountSingleThreaded(graph);
  for (const CompiledEntry& entry : compiled.entries) {
    run.in_streams += std::ranges::count_if(
        entry.schedule.steps, [](const ScheduleStep& step) { return step.stream > 0; });
  }
  run.swap_bytes = compiled.layout.file_bytes;
  const double again = SecondsForLess(graph);
  const double once = SecondsOfStep(graph) - again;
  const double waited = SecondsWaited(graph, compiled.entries[0].schedule);
  run.slowdown = once > 0 ? (again + waited) / once : 0;
  run.arena_bound = compiled.layout.lower_bound_bytes;
  run.cap_out_of_reach = compiled.layout.cap_out_of_reach;
  run.at_peak = HoldersOfPeak(compiled.layout);
  const std::unique_ptr<Device> device = OpenDevice(library.name());
  const int64_t transient = compiled.layout.transient_bytes;
  run.memory = MeasureRun(compiled, prepared.shape, library, *device);
  run.of_batch = transient + (run.memory.on_host ? run.memory.parts.loaders : 0);
  return run;
}

// Returns the options that a plan can be asked for, as JSON.
std::string QuestionOf(const CompileOptions& options) {
  nlohmann::json question = {{"arena_cap", options.arena_cap},
                             {"is_quick", options.effort == PlanEffort::kQuick},
                             {"closes_gaps", options.closes_gaps},
                             {"streams", options.streams}};
  if (options.swap) question["swap"] = *options.swap;
  return JsonText(question);
}

CompileOptions Asked(CompileOptions options, const std::string& text) {
  const nlohmann::json question = ParseJson(text);
  question.at("arena_cap").get_to(options.arena_cap);
  question.at("closes_gaps").get_to(options.closes_gaps);
  question.at("streams").get_to(options.streams);
  options.effort = question.at("is_quick") ? PlanEffort::kQuick : PlanEffort::kFull;
  options.swap.reset();
  if (question.contains("swap")) options.swap = question.at("swap").get<SwapFolder>();
  return options;
}

// Diagnostics are ignored here. The parent finds the same errors and reports them.
AnsweringChild::Answer PrepareToAnswer(const ModelSpec& model, const KernelLibrary& library,
                                       const CompileOptions& options) {
  Diagnostics ignored;
  auto prepared = Prepare(model, library, options, ignored);
  if (!prepared) return [](const std::string&) { return std::string(); };
  const auto kept = std::make_shared<PreparedRun>(std::move(*prepared));
  return [&, kept](const std::string& question) {
    return ToText(PlanPreparedRun(*kept, model, library, Asked(options, question)));
  };
}

}  // namespace

std::string ToText(const PlannedRun& run) { return JsonText(nlohmann::json(run)); }

RunPlanner::RunPlanner(const ModelSpec& model, const KernelLibrary& library,
                       const CompileOptions& options)
    : model_(model), library_(library), child_(KindOfDevice(library.name()).on_host, [&] {
        return PrepareToAnswer(model, library, options);
      }) {}

std::optional<PlannedRun> RunPlanner::Plan(const CompileOptions& options,
                                           Diagnostics& diagnostics) {
  if (const auto text = child_.Ask(QuestionOf(options))) return ParseJson(*text).get<PlannedRun>();
  auto prepared = Prepare(model_, library_, options, diagnostics);
  if (!prepared) return std::nullopt;
  return PlanPreparedRun(*prepared, model_, library_, options);
}

}  // namespace cgrun
