// FindFrontier: one preparation, many plans.
#include "src/compile/frontier.h"

#include <algorithm>

#include "src/compile/plan_entries.h"
#include "src/compile/prepare_entries.h"
#include "src/plan/recompute.h"

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
    FrontierPoint point{layout.arena_bytes, layout.lower_bound_bytes, SecondsOfStep(graph)};
    point.second_runs = std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                      [](const Node& node) { return node.recomputes; });
    return point;
  }

  std::vector<FrontierPoint> Explore() {
    std::vector<FrontierPoint> points = {Plan(0, 0), Plan(options_.recompute_share, 0)};
    points[1].usual = true;
    const int64_t most = points[1].arena_bytes;
    points.push_back(Plan(options_.recompute_share, 1));
    const int64_t least = points[2].arena_bytes;
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

// Without the points that take no less memory than a quicker one; the usual one stays.
std::vector<FrontierPoint> WithoutDominated(std::vector<FrontierPoint> points) {
  std::stable_sort(points.begin(), points.end(), [](const auto& a, const auto& b) {
    return a.seconds != b.seconds ? a.seconds < b.seconds : a.arena_bytes < b.arena_bytes;
  });
  std::vector<FrontierPoint> kept;
  for (const FrontierPoint& point : points) {
    const bool is_less = kept.empty() || point.arena_bytes < kept.back().arena_bytes;
    if (is_less) {
      kept.push_back(point);
    } else if (point.usual) {
      const bool is_equal = point.arena_bytes == kept.back().arena_bytes;
      if (is_equal && point.seconds == kept.back().seconds) kept.back().usual = true;
    }
  }
  return kept;
}

}  // namespace

std::optional<Frontier> FindFrontier(const ModelSpec& model,
                                     const std::vector<EntryRequest>& entries,
                                     const KernelLibrary& library, const CompileOptions& options,
                                     Diagnostics& diagnostics) {
  const auto prepared = PrepareEntries(model, entries, library, options, diagnostics);
  if (!prepared) return std::nullopt;
  Explorer explorer(prepared->entries, library, options);
  Frontier frontier;
  frontier.points = WithoutDominated(explorer.Explore());
  frontier.persistent_bytes = explorer.persistent_bytes();
  if (const auto game = PebbleGameOf(prepared->entries[0].graph)) {
    frontier.exact = PlayPebbles(*game, kMostPositions);
  }
  return frontier;
}

}  // namespace cgrun
