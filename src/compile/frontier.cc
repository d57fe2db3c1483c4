// FindFrontier prepares the entry points once and makes many plans.
#include "src/compile/frontier.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>

#include "src/budget/plan_entries.h"
#include "src/budget/planned_reports.h"
#include "src/budget/single_threaded.h"
#include "src/budget/swap.h"
#include "src/compile/prepare_entries.h"
#include "src/plan/cost_model.h"

namespace cgrun {
namespace {

constexpr int kCaps = 14;
constexpr int64_t kMostPositions = 200'000;  // about a second

class Explorer {
 public:
  Explorer(const std::vector<CompiledEntry>& prepared, const Target& target,
           const CompileOptions& options)
      : prepared_(prepared), target_(target), options_(options) {}

  // A plan with this share of a step's time for recomputation, and under a cap; 0: none.
  FrontierPoint Plan(double share, int64_t cap) {
    std::vector<CompiledEntry> entries = prepared_;
    CompileOptions options = options_;
    options.recompute_share = share;
    options.arena_cap = cap;
    std::vector<PassReport> ran = PlannedReports();
    const MemoryLayout layout = PlanEntries(entries, target_, options, ran);
    persistent_bytes_ = layout.persistent_bytes;
    const Graph& graph = entries[0].graph;
    FrontierPoint point{layout.arena_bytes, layout.lower_bound_bytes,
                        SecondsOfStep(graph) + SecondsWaited(graph, entries[0].schedule)};
    point.swaps = CountSwaps(graph);
    point.file_bytes = layout.file_bytes;
    point.single_threaded = CountSingleThreaded(graph);
    point.recomputations = std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                         [](const Node& node) { return node.recomputes.valid(); });
    return point;
  }

  std::vector<FrontierPoint> Explore() {
    const FrontierPoint quickest = Plan(0, 0);
    FrontierPoint usual = Plan(options_.recompute_share, 0);
    usual.usual = true;
    const FrontierPoint smallest = Plan(options_.recompute_share, 1);
    std::vector<FrontierPoint> points = {quickest, usual, smallest};
    const int64_t most = usual.arena_bytes, least = smallest.arena_bytes;
    for (int i = 1; i < kCaps && least < most; ++i) {
      points.push_back(Plan(options_.recompute_share, most - (most - least) / kCaps * i));
    }
    return points;
  }

  int64_t persistent_bytes() const { return persistent_bytes_; }

 private:
  const std::vector<CompiledEntry>& prepared_;
  const Target& target_;
  const CompileOptions& options_;
  int64_t persistent_bytes_ = 0;
};

// Without the points that take no less memory than a quicker one. The usual one stays.
std::vector<FrontierPoint> WithoutDominated(std::vector<FrontierPoint> points) {
  std::stable_sort(points.begin(), points.end(), [](const auto& a, const auto& b) {
    return std::tie(a.seconds, a.arena_bytes, b.usual) <
           std::tie(b.seconds, b.arena_bytes, a.usual);
  });
  std::vector<FrontierPoint> kept;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const FrontierPoint& point : points) {
    if (point.arena_bytes < least || point.usual) kept.push_back(point);
    least = std::min(least, point.arena_bytes);
  }
  return kept;
}

// Passes that give up time for memory on some machines.
constexpr const char* kTrades[] = {"fuse_updates", "fuse_pools"};

bool IsDisabled(const CompileOptions& options, const std::string& pass) {
  return std::ranges::count(options.passes.disabled, pass) > 0;
}

// The quickest plans without each of kTrades, and without all of them.
std::vector<FrontierPoint> PlansWithoutTrades(const ModelSpec& model,
                                              const std::vector<EntryRequest>& entries,
                                              const Target& target, const CompileOptions& options,
                                              Diagnostics& diagnostics) {
  std::vector<std::vector<std::string>> choices(1);
  for (const std::string trade : kTrades) {
    if (IsDisabled(options, trade)) continue;
    choices.push_back({trade});
    choices[0].push_back(trade);
  }
  std::vector<FrontierPoint> points;
  for (const std::vector<std::string>& without : choices) {
    CompileOptions fewer = options;
    fewer.passes.disabled.insert(fewer.passes.disabled.end(), without.begin(), without.end());
    const auto prepared = PrepareEntries(model, entries, target, fewer, diagnostics);
    if (!prepared) return points;
    points.push_back(Explorer(prepared->entries, target, fewer).Plan(0, 0));
    points.back().without = without;
  }
  return points;
}

std::optional<PebbleFrontier> Play(const Graph& graph) {
  const auto game = PebbleGameOf(graph);
  return game ? std::optional(PlayPebbles(*game, kMostPositions)) : std::nullopt;
}

// Returns the frontier of the pebble game of an entry point's operators, none of them fused into
// chains.
std::optional<PebbleFrontier> PlayOneByOne(const ModelSpec& model, const EntryRequest& entry,
                                           const Target& target, CompileOptions options,
                                           Diagnostics& diagnostics) {
  options.passes.disabled.emplace_back(kChainsPass);
  const auto prepared = PrepareEntries(model, {entry}, target, options, diagnostics);
  return prepared ? Play(prepared->entries[0].graph) : std::nullopt;
}

}  // namespace

std::optional<Frontier> FindFrontier(const ModelSpec& model,
                                     const std::vector<EntryRequest>& entries,
                                     const KernelLibrary& library, const CompileOptions& options,
                                     Diagnostics& diagnostics) {
  const TunedTarget target = TargetOf(library, options);
  const auto prepared = PrepareEntries(model, entries, target, options, diagnostics);
  if (!prepared) return std::nullopt;
  Explorer explorer(prepared->entries, target, options);
  Frontier frontier;
  std::vector<FrontierPoint> points = explorer.Explore();
  std::ranges::copy(PlansWithoutTrades(model, entries, target, options, diagnostics),
                    std::back_inserter(points));
  frontier.points = WithoutDominated(std::move(points));
  frontier.persistent_bytes = explorer.persistent_bytes();
  frontier.one_by_one = PlayOneByOne(model, entries[0], target, options, diagnostics);
  frontier.fused = Play(prepared->entries[0].graph);
  return frontier;
}

}  // namespace cgrun
