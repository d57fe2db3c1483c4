// Plans, until one fits.
#include "src/train/fit_run.h"

#include <algorithm>

#include "src/plan/recompute.h"

namespace cgrun {
namespace {

constexpr int kMostPlans = 3;            // on the way to a cap
constexpr int64_t kMostBatch = 1 << 16;  // where no data says how many samples there are

std::vector<PlacedBuffer> BuffersAtPeak(const MemoryLayout& layout, int entry) {
  TimePoint steps = 1;
  for (const PlacedBuffer& buffer : layout.buffers) steps = std::max(steps, buffer.lifespan.upper);
  std::vector<int64_t> bytes(static_cast<size_t>(steps));
  for (const PlacedBuffer& buffer : layout.buffers) {
    if (buffer.entry != entry) continue;
    for (TimePoint t = buffer.lifespan.lower; t < buffer.lifespan.upper; ++t) {
      bytes[static_cast<size_t>(t)] += buffer.bytes;
    }
  }
  const TimePoint peak = std::max_element(bytes.begin(), bytes.end()) - bytes.begin();
  std::vector<PlacedBuffer> alive;
  for (const PlacedBuffer& buffer : layout.buffers) {
    const bool is_there = buffer.lifespan.lower <= peak && peak < buffer.lifespan.upper;
    if (buffer.persistent || (buffer.entry == entry && is_there)) alive.push_back(buffer);
  }
  std::stable_sort(alive.begin(), alive.end(),
                   [](const PlacedBuffer& a, const PlacedBuffer& b) { return a.bytes > b.bytes; });
  return alive;
}

int LargestEntry(const MemoryLayout& layout) {
  const auto less = [](const EntryLayout& a, const EntryLayout& b) {
    return a.transient_bytes < b.transient_bytes;
  };
  return static_cast<int>(std::max_element(layout.entries.begin(), layout.entries.end(), less) -
                          layout.entries.begin());
}

// The data is closed again, so that it is not held beside that of the plans.
int64_t SamplesOf(const ModelSpec& model, Diagnostics& diagnostics) {
  const RunShape shape = ShapeOfRun(model, diagnostics);
  return shape.data.train ? shape.data.train->size() : kMostBatch;
}

ModelSpec WithBatch(const ModelSpec& model, int64_t batch) {
  ModelSpec changed = model;
  changed.train->batch.value = {false, batch};
  return changed;
}

}  // namespace

std::optional<PlannedRun> PlanRun(const ModelSpec& model, const KernelLibrary& library,
                                  Device& device, const CompileOptions& options,
                                  Diagnostics& diagnostics) {
  const RunShape shape = ShapeOfRun(model, diagnostics);
  auto compiled = Compile(model, shape.entries, library, options, diagnostics);
  if (!compiled || diagnostics.has_errors()) return std::nullopt;
  PlannedRun run;
  run.batch = shape.host.batch;
  const Graph& graph = compiled->entries[0].graph;
  run.second_runs = std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                  [](const Node& node) { return node.recomputes; });
  const double again = SecondsOfStep(graph, /*second_runs=*/true);
  const double once = SecondsOfStep(graph) - again;
  run.slowdown = once > 0 ? again / once : 0;
  run.at_peak = BuffersAtPeak(compiled->layout, LargestEntry(compiled->layout));
  run.memory = MemoryOfRun(*compiled, shape, library, device);
  return run;
}

std::optional<CappedRun> FitRun(const ModelSpec& model, const KernelLibrary& library,
                                Device& device, CompileOptions options, int64_t cap,
                                Diagnostics& diagnostics) {
  auto free = PlanRun(model, library, device, options, diagnostics);
  if (!free) return std::nullopt;
  CappedRun fit{cap, *free, *free, 0};
  // The base is measured anew with each plan, and differs a little.
  for (int i = 0; i < kMostPlans && !fit.fits(); ++i) {
    const int64_t beside = fit.capped.total() - fit.capped.memory.arena;
    const int64_t lower = std::max<int64_t>(1, cap - beside);  // without room, the least is found
    if (options.arena_cap > 0 && lower >= options.arena_cap) break;
    options.arena_cap = lower;
    auto capped = PlanRun(model, library, device, options, diagnostics);
    if (!capped) return std::nullopt;
    fit.capped = std::move(*capped);
    fit.arena_cap = options.arena_cap;
  }
  return fit;
}

std::optional<BatchFit> FitBatch(const ModelSpec& model, const KernelLibrary& library,
                                 Device& device, const CompileOptions& options, int64_t cap,
                                 Diagnostics& diagnostics) {
  const int64_t samples = SamplesOf(model, diagnostics);
  BatchFit fit;
  const auto plan = [&](int64_t batch) {
    return PlanRun(WithBatch(model, batch), library, device, options, diagnostics);
  };
  int64_t fits = 0, too_many = 0;  // 0: not known yet
  for (int64_t batch = 1; too_many == 0 || too_many - fits > 1;) {
    auto run = plan(batch);
    if (!run) return std::nullopt;
    if (run->total() <= cap) {
      fits = batch;
      fit.run = std::move(*run);
      if (fits == samples) break;
    } else {
      too_many = batch;
      fit.next = std::move(*run);
    }
    batch = too_many == 0 ? std::min(2 * fits, samples) : (fits + too_many) / 2;
  }
  fit.all = fits == samples;
  return fit;
}

}  // namespace cgrun
