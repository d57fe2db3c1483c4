// The pipeline, as the picture in docs/architecture.md draws it.
#include "src/compile/compile.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "src/base/check.h"
#include "src/compile/model_graph.h"
#include "src/compile/recompute.h"
#include "src/model/model_file.h"
#include "src/plan/update_legality.h"
#include "src/program/build_image.h"
#include "src/select/select.h"
#include "src/select/select_plain.h"

namespace cgrun {
namespace {

constexpr int kMaxRematRounds = 4;
constexpr int kMostPackings = 6;    // on the way to a cap
constexpr double kAnyShare = 1000;  // of a step's time

void Order(CompiledEntry& entry, const std::string& name) {
  const OrderEntry* order = FindOrder(name);
  CGRUN_CHECK(order != nullptr) << "no order " << name;
  entry.schedule = order->function(entry.graph);
  const std::vector<std::string> violations = VerifySchedule(entry.graph, entry.schedule);
  CGRUN_CHECK(violations.empty()) << "order " << name << ": " << violations[0];
}

// A bound graph with its kernels and an order.
std::optional<CompiledEntry> PrepareEntry(const Graph& graph, const EntryRequest& request,
                                          const Target& target, const CompileOptions& options,
                                          Diagnostics& diagnostics) {
  const SelectOptions select{options.threads};
  CompiledEntry entry{request, {}, {}};
  const bool plain = options.passes.Disabled(kLayoutsPass);
  entry.graph = (plain ? SelectPlainKernels : SelectKernels)(BindBatch(graph, request.batch),
                                                             target, select, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  if (LegalizeUpdates(entry.graph)) SelectMissingKernels(entry.graph, target, select, diagnostics);
  Order(entry, options.order);
  return entry;
}

MemoryLayout PlanOnce(const std::vector<CompiledEntry>& entries, const LayoutOptions& options) {
  std::vector<PlannedEntry> planned;
  for (const CompiledEntry& entry : entries) {
    planned.push_back({entry.request.name, &entry.graph, &entry.schedule});
  }
  return PlanLayout(planned, options);
}

size_t LargestEntry(const MemoryLayout& layout) {
  const auto less = [](const EntryLayout& a, const EntryLayout& b) {
    return a.transient_bytes < b.transient_bytes;
  };
  return static_cast<size_t>(std::max_element(layout.entries.begin(), layout.entries.end(), less) -
                             layout.entries.begin());
}

// Plans; as long as the plan wants values to be computed again, does that and plans anew.
MemoryLayout PlanEntries(std::vector<CompiledEntry>& entries, const Target& target,
                         const CompileOptions& options) {
  MemoryLayout layout = PlanOnce(entries, options.layout);
  bool changed = true;
  for (int round = 0; round < kMaxRematRounds && changed; ++round) {
    changed = false;
    for (size_t i = 0; i < entries.size(); ++i) {
      const RematPlan& remat = layout.entries[i].remat;
      if (remat.empty()) continue;
      const PassContext context{target, false, &remat, entries[i].request.batch, options.threads};
      RunPasses(entries[i].graph, context, options.passes, PassStage::kPlanned);
      Order(entries[i], options.order);
      changed = true;
    }
    if (changed) layout = PlanOnce(entries, options.layout);
  }
  return layout;
}

// Plans anew with what is cheap computed again, for the entry points that take most; keeps that
// where it makes the arena smaller.
MemoryLayout PlanWithLess(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                          const Target& target, const CompileOptions& options) {
  if (options.recompute_share <= 0) return layout;
  const RecomputeGoal goal{options.recompute_share};
  std::vector<bool> tried(entries.size());
  while (true) {
    const size_t largest = LargestEntry(layout);
    if (tried[largest]) return layout;
    tried[largest] = true;
    CompiledEntry before = entries[largest];
    if (!RecomputeAtPeak(entries[largest], target, options, goal)) return layout;
    MemoryLayout less = PlanOnce(entries, options.layout);
    if (less.arena_bytes >= layout.arena_bytes) {
      entries[largest] = std::move(before);
      return layout;
    }
    less.recompute_saved_bytes =
        layout.recompute_saved_bytes + layout.arena_bytes - less.arena_bytes;
    layout = std::move(less);
  }
}

// Plans within options.arena_cap, with anything computed again that helps: the packing is the
// judge, and where it leaves gaps, the next try aims lower by as much. The smallest arena that was
// found where none fits.
MemoryLayout PlanWithin(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                        const Target& target, const CompileOptions& options) {
  const std::vector<CompiledEntry> whole = entries;
  const int64_t whole_bytes = layout.arena_bytes + layout.recompute_saved_bytes;
  Bytes goal = options.arena_cap - layout.persistent_bytes;
  for (int i = 0; i < kMostPackings && layout.arena_bytes > options.arena_cap; ++i) {
    std::vector<CompiledEntry> tried = whole;
    for (size_t e = 0; e < tried.size(); ++e) {
      if (layout.entries[e].transient_bytes <= goal) continue;
      RecomputeAtPeak(tried[e], target, options, {kAnyShare, goal, false});
    }
    MemoryLayout less = PlanOnce(tried, options.layout);
    goal -= std::max<Bytes>(less.arena_bytes - options.arena_cap, kDefaultAlignment);
    if (less.arena_bytes >= layout.arena_bytes) continue;
    layout = std::move(less);
    entries = std::move(tried);
  }
  layout.recompute_saved_bytes = whole_bytes - layout.arena_bytes;
  return layout;
}

// The plan of all entry points; what is computed again is in them, then.
MemoryLayout Plan(std::vector<CompiledEntry>& entries, const Target& target,
                  const CompileOptions& options) {
  MemoryLayout layout = PlanEntries(entries, target, options);
  if (options.passes.Disabled("rematerialise")) return layout;
  layout = PlanWithLess(entries, std::move(layout), target, options);
  if (options.arena_cap == 0 || layout.arena_bytes <= options.arena_cap) return layout;
  return PlanWithin(entries, std::move(layout), target, options);
}

ProgramImage MakeImage(const ModelSpec& model, const CompiledModel& compiled,
                       const KernelLibrary& library, const CompileOptions& options) {
  std::vector<ImageSource> sources;
  for (const CompiledEntry& entry : compiled.entries) {
    sources.push_back({entry.request.name, entry.request.kind, entry.request.batch, &entry.graph,
                       &entry.schedule});
  }
  ProgramImage image = BuildImage(sources, compiled.layout);
  image.model = model.name.value;
  image.model_text = ToYaml(ResolvedTree(model));
  image.model_path = model.file_name;
  image.device = library.name();
  image.fingerprint = FingerprintOf(library, options);
  image.seed = compiled.entries[0].graph.seed;
  const std::vector<std::string> violations = VerifyImage(image);
  CGRUN_CHECK(violations.empty()) << "the program is not sound: " << violations[0];
  return image;
}

}  // namespace

std::string FingerprintOf(const KernelLibrary& library, const CompileOptions& options) {
  return library.fingerprint() + ", " + std::to_string(options.threads) +
         (options.threads == 1 ? " thread" : " threads");
}

std::optional<Graph> BuildGraph(const ModelSpec& model, EntryKind kind, const Target& target,
                                const CompileOptions& options, Diagnostics& diagnostics,
                                std::vector<PassReport>* reports, int64_t batch) {
  std::optional<Graph> graph = BuildModelGraph(model, kind, options, diagnostics);
  if (!graph) return std::nullopt;
  const PassContext context{target, model.inexact.value, nullptr, batch, options.threads};
  std::vector<PassReport> ran = RunPasses(*graph, context, options.passes);
  if (reports != nullptr) *reports = std::move(ran);
  return graph;
}

std::optional<CompiledModel> Compile(const ModelSpec& model,
                                     const std::vector<EntryRequest>& entries,
                                     const KernelLibrary& library, const CompileOptions& options,
                                     Diagnostics& diagnostics) {
  const auto start = std::chrono::steady_clock::now();
  CompiledModel compiled;
  std::map<EntryKind, Graph> graphs;  // entry points of one kind differ in their batch alone
  for (const EntryRequest& request : entries) {
    if (!graphs.contains(request.kind)) {
      auto graph = BuildGraph(model, request.kind, library, options, diagnostics,
                              graphs.empty() ? &compiled.passes : nullptr, request.batch);
      if (!graph) return std::nullopt;
      graphs.emplace(request.kind, std::move(*graph));
    }
    auto entry = PrepareEntry(graphs.at(request.kind), request, library, options, diagnostics);
    if (!entry) return std::nullopt;
    compiled.entries.push_back(std::move(*entry));
  }
  compiled.layout = Plan(compiled.entries, library, options);
  compiled.image = MakeImage(model, compiled, library, options);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  compiled.compile_seconds = seconds.count();
  return compiled;
}

}  // namespace cgrun
