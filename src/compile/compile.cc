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

using Clock = std::chrono::steady_clock;

constexpr std::string_view kRematerialisePass = "rematerialise";
constexpr int kMaxRematRounds = 4;
constexpr int kMostPackings = 6;    // on the way to a cap
constexpr double kAnyShare = 1000;  // of a step's time

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A graph's nodes before these passes.
int NodesBefore(const Graph& graph, const std::vector<PassReport>& passes) {
  int nodes = static_cast<int>(graph.nodes.size());
  for (const PassReport& pass : passes) nodes += pass.nodes_removed;
  return nodes;
}

// Of passes that did not run yet.
std::vector<PassReport> ReportsOf(PassStage stage) {
  std::vector<PassReport> reports;
  for (const PipelineEntry& pass : Pipeline()) {
    if (pass.stage == stage) reports.push_back({std::string(pass.name)});
  }
  return reports;
}

void AddUp(const std::vector<PassReport>& more, std::vector<PassReport>& reports) {
  for (size_t i = 0; i < more.size(); ++i) {
    reports[i].rounds += more[i].rounds;
    reports[i].changed_rounds += more[i].changed_rounds;
    reports[i].nodes_removed += more[i].nodes_removed;
    reports[i].seconds += more[i].seconds;
  }
}

void Order(CompiledEntry& entry, const std::string& name) {
  const OrderEntry* order = FindOrder(name);
  CGRUN_CHECK(order != nullptr) << "no order " << name;
  entry.schedule = order->function(entry.graph);
  const std::vector<std::string> violations = VerifySchedule(entry.graph, entry.schedule);
  CGRUN_CHECK(violations.empty()) << "order " << name << ": " << violations[0];
}

// A bound graph with its kernels and an order. `layouts` is told what that pass did.
std::optional<CompiledEntry> PrepareEntry(const Graph& graph, const EntryRequest& request,
                                          const Target& target, const CompileOptions& options,
                                          Diagnostics& diagnostics, PassReport* layouts) {
  const SelectOptions select{options.threads};
  CompiledEntry entry{request, {}, {}};
  const bool plain = options.passes.Disabled(kLayoutsPass);
  const Clock::time_point start = Clock::now();
  entry.graph = (plain ? SelectPlainKernels : SelectKernels)(BindBatch(graph, request.batch),
                                                             target, select, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  if (!plain) {
    const int added = static_cast<int>(entry.graph.nodes.size() - graph.nodes.size());
    *layouts = {std::string(kLayoutsPass), 1, added != 0, -added, SecondsSince(start)};
  }
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

// Plans; as long as the plan wants values to be computed again, does that and plans anew. `ran` is
// told what the passes that do it did to the first entry point.
MemoryLayout PlanEntries(std::vector<CompiledEntry>& entries, const Target& target,
                         const CompileOptions& options, std::vector<PassReport>* ran) {
  MemoryLayout layout = PlanOnce(entries, options.layout);
  bool changed = true;
  for (int round = 0; round < kMaxRematRounds && changed; ++round) {
    changed = false;
    for (size_t i = 0; i < entries.size(); ++i) {
      const RematPlan& remat = layout.entries[i].remat;
      if (remat.empty()) continue;
      const PassContext context{target, false, &remat, entries[i].request.batch, options.threads};
      const auto reports =
          RunPasses(entries[i].graph, context, options.passes, PassStage::kPlanned);
      if (i == 0) AddUp(reports, *ran);
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
    const std::vector<CompiledEntry> before = entries;
    bool changed = false;
    for (size_t e = 0; e < entries.size(); ++e) {
      const bool largest = layout.entries[e].transient_bytes == layout.transient_bytes;
      if (!largest || tried[e]) continue;
      tried[e] = true;
      changed |= RecomputeAtPeak(entries[e], target, options, goal);
    }
    if (!changed) return layout;
    MemoryLayout less = PlanOnce(entries, options.layout);
    if (less.arena_bytes >= layout.arena_bytes) {
      entries = before;
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
  const std::vector<CompiledEntry> before = entries;
  const std::vector<EntryLayout> layouts_before = layout.entries;
  const int64_t whole_bytes = layout.arena_bytes + layout.recompute_saved_bytes;
  Bytes goal = options.arena_cap - layout.persistent_bytes;
  for (int i = 0; i < kMostPackings && layout.arena_bytes > options.arena_cap; ++i) {
    std::vector<CompiledEntry> tried = before;
    for (size_t e = 0; e < tried.size(); ++e) {
      if (layouts_before[e].transient_bytes <= goal) continue;
      RecomputeAtPeak(tried[e], target, options, {kAnyShare, goal, false});
    }
    MemoryLayout less = PlanOnce(tried, options.layout);
    goal -= std::max<Bytes>(less.arena_bytes - options.arena_cap, kDefaultAlignment);
    const bool smaller = less.arena_bytes < layout.arena_bytes;
    if (smaller) {
      layout = std::move(less);
      entries = std::move(tried);
    } else if (i > 0) {
      break;
    }
  }
  layout.recompute_saved_bytes = whole_bytes - layout.arena_bytes;
  return layout;
}

// With what is worth it computed again; it is in the entry points, then.
MemoryLayout PlanWithRecompute(std::vector<CompiledEntry>& entries, MemoryLayout layout,
                               const Target& target, const CompileOptions& options) {
  if (options.passes.Disabled(kRematerialisePass)) return layout;
  layout = PlanWithLess(entries, std::move(layout), target, options);
  if (options.arena_cap == 0 || layout.arena_bytes <= options.arena_cap) return layout;
  return PlanWithin(entries, std::move(layout), target, options);
}

// The plan of all entry points. `ran` is told what the passes that belong to it did to the first.
MemoryLayout Plan(std::vector<CompiledEntry>& entries, const Target& target,
                  const CompileOptions& options, std::vector<PassReport>& ran) {
  MemoryLayout layout = PlanEntries(entries, target, options, &ran);
  const size_t nodes = entries[0].graph.nodes.size();
  const auto start = Clock::now();
  layout = PlanWithRecompute(entries, std::move(layout), target, options);
  for (PassReport& pass : ran) {
    if (pass.name != kRematerialisePass || options.passes.Disabled(pass.name)) continue;
    const int added = static_cast<int>(entries[0].graph.nodes.size() - nodes);
    pass.rounds += 1;
    pass.changed_rounds += added > 0;
    pass.nodes_removed -= added;
    pass.seconds += SecondsSince(start);
  }
  return layout;
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
  const Clock::time_point start = Clock::now();
  CompiledModel compiled;
  PassReport layouts{std::string(kLayoutsPass)}, of_others;
  std::map<EntryKind, Graph> graphs;  // entry points of one kind differ in their batch alone
  for (const EntryRequest& request : entries) {
    if (!graphs.contains(request.kind)) {
      auto graph = BuildGraph(model, request.kind, library, options, diagnostics,
                              graphs.empty() ? &compiled.passes : nullptr, request.batch);
      if (!graph) return std::nullopt;
      graphs.emplace(request.kind, std::move(*graph));
    }
    const Graph& graph = graphs.at(request.kind);
    const bool first = compiled.entries.empty();
    if (first) compiled.nodes_before_passes = NodesBefore(graph, compiled.passes);
    auto entry =
        PrepareEntry(graph, request, library, options, diagnostics, first ? &layouts : &of_others);
    if (!entry) return std::nullopt;
    compiled.entries.push_back(std::move(*entry));
  }
  compiled.passes.push_back(layouts);
  std::vector<PassReport> planned = ReportsOf(PassStage::kPlanned);
  compiled.layout = Plan(compiled.entries, library, options, planned);
  compiled.passes.insert(compiled.passes.end(), planned.begin(), planned.end());
  compiled.image = MakeImage(model, compiled, library, options);
  compiled.compile_seconds = SecondsSince(start);
  return compiled;
}

}  // namespace cgrun
