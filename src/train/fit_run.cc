// Plans, until one fits.
#include "src/train/fit_run.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "src/compile/plan_entries.h"
#include "src/plan/recompute.h"
#include "src/plan/swap.h"
#include "src/train/batch_search.h"
#include "src/train/child_process.h"
#include "src/train/run_memory_json.h"

namespace cgrun {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PeakHolder, name, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PlannedRun, memory, batch, second_runs, swaps, swap_bytes,
                                   slowdown, of_batch, arena_bound, cap_out_of_reach, at_peak)

namespace {

constexpr size_t kHolders = 3;           // of a peak, that are named
constexpr int64_t kMostBatch = 1 << 16;  // where no data says how many samples there are

std::vector<PeakHolder> HoldersOfPeak(const MemoryLayout& layout, int entry) {
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

int LargestEntry(const MemoryLayout& layout) {
  const auto less = [](const EntryLayout& a, const EntryLayout& b) {
    return a.transient_bytes < b.transient_bytes;
  };
  return static_cast<int>(std::max_element(layout.entries.begin(), layout.entries.end(), less) -
                          layout.entries.begin());
}

// Takes back as much of the base's rounding as `cap` asks for, but for half of the noise.
void FitBase(RunMemory& memory, int64_t cap) {
  const int64_t excess = memory.host() - cap;
  if (!memory.on_host || excess <= 0 || excess > memory.base_room - kBaseNoise / 2) return;
  memory.base -= excess;
  memory.base_room -= excess;
}

ModelSpec WithBatch(const ModelSpec& model, int64_t batch) {
  ModelSpec changed = model;
  changed.train->batch.value = {false, batch};
  return changed;
}

std::optional<PlannedRun> PlanHere(const ModelSpec& model, const KernelLibrary& library,
                                   const CompileOptions& options, Diagnostics& diagnostics) {
  const RunShape shape = ShapeOfRun(model, diagnostics);
  auto compiled = Compile(model, shape.entries, library, options, diagnostics);
  if (!compiled || diagnostics.has_errors()) return std::nullopt;
  PlannedRun run;
  run.batch = shape.host.batch;
  const Graph& graph = compiled->entries[0].graph;
  run.second_runs = std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                  [](const Node& node) { return node.again_of.valid(); });
  run.swaps = CountSwaps(graph);
  run.swap_bytes = compiled->layout.file_bytes;
  const double again = SecondsOfStep(graph, /*second_runs=*/true);
  const double once = SecondsOfStep(graph) - again;
  const double waited = SecondsWaited(graph, compiled->entries[0].schedule);
  run.slowdown = once > 0 ? (again + waited) / once : 0;
  run.arena_bound = compiled->layout.lower_bound_bytes;
  run.cap_out_of_reach = compiled->layout.cap_out_of_reach;
  run.at_peak = HoldersOfPeak(compiled->layout, LargestEntry(compiled->layout));
  const std::unique_ptr<Device> device = OpenDevice(library.name());
  const int64_t transient = compiled->layout.transient_bytes;
  run.memory = MeasureRun(*compiled, shape, library, *device);
  run.of_batch = transient + (run.memory.on_host ? run.memory.parts.loaders : 0);
  return run;
}

// With the base that is known, where one is.
std::optional<PlannedRun> PlanUnder(int64_t cap, const ModelSpec& model,
                                    const KernelLibrary& library, const CompileOptions& options,
                                    std::optional<int64_t> base, Diagnostics& diagnostics) {
  auto run = PlanRun(model, library, options, diagnostics);
  if (run && base) {
    run->memory.base = *base;
    run->memory.base_room = 0;  // it is not measured again
  }
  if (run) FitBase(run->memory, cap);
  return run;
}

// What a cap leaves for the arena; less than nothing where the rest alone is too much.
int64_t RoomFor(const PlannedRun& run, int64_t cap) {
  return cap - (run.total() - run.memory.arena);
}

// Whether the room for the arena would not do if all packed and rounded as well as it can.
bool BoundIsAbove(int64_t room, const PlannedRun& run) {
  return run.arena_bound - run.memory.base_room > room;
}

bool IsOutOfReach(const PlannedRun& least, int64_t cap) {
  return least.cap_out_of_reach && BoundIsAbove(RoomFor(least, cap), least);
}

void KeepIfLess(PlannedRun run, const CompileOptions& options, CappedRun& fit) {
  if (run.total() >= fit.capped.total()) return;
  fit.capped = std::move(run);
  fit.arena_cap = options.arena_cap;
  fit.effort = options.effort;
}

// The data is closed again, so that it is not held beside that of the plans.
std::optional<int64_t> SamplesHere(const ModelSpec& model, Diagnostics& diagnostics) {
  const RunShape shape = ShapeOfRun(model, diagnostics);
  if (!shape.data.train) return std::nullopt;
  return shape.data.train->size();
}

std::optional<int64_t> SamplesOf(const ModelSpec& model, Diagnostics& diagnostics) {
  const auto text = InChild(/*on_host=*/true, [&] {
    Diagnostics ignored;
    const auto samples = SamplesHere(model, ignored);
    return samples ? std::to_string(*samples) : std::string();
  });
  if (!text) return SamplesHere(model, diagnostics);
  return text->empty() ? std::nullopt : std::optional<int64_t>(std::stoll(*text));
}

}  // namespace

void TakeBackRoom(RunMemory& memory, int64_t left) {
  const int64_t least = memory.base - std::max<int64_t>(0, memory.base_room - left);
  const int64_t rounded = (least + kBaseNoise - 1) / kBaseNoise * kBaseNoise;
  FitBase(memory, memory.host() - std::max<int64_t>(0, memory.base - rounded));
}

// What is wrong is found again here, where the diagnostics are.
std::optional<PlannedRun> PlanRun(const ModelSpec& model, const KernelLibrary& library,
                                  const CompileOptions& options, Diagnostics& diagnostics) {
  const auto text = InChild(KindOfDevice(library.name()).on_host, [&] {
    Diagnostics ignored;
    const auto run = PlanHere(model, library, options, ignored);
    return run ? nlohmann::json(*run).dump() : std::string();
  });
  if (text && !text->empty()) return nlohmann::json::parse(*text).get<PlannedRun>();
  return PlanHere(model, library, options, diagnostics);
}

// Gaps, which take longest to close, are closed where the cap may hold then; hardly ever does a run
// take less than the bound of its plan with gaps.
std::optional<PlannedRun> PlanFreeRun(const ModelSpec& model, const KernelLibrary& library,
                                      const CompileOptions& options, int64_t cap,
                                      std::optional<int64_t> base, Diagnostics& diagnostics) {
  if (!ClosesGaps(options)) return PlanUnder(cap, model, library, options, base, diagnostics);
  CompileOptions with_gaps = options;
  with_gaps.closes_gaps = false;
  auto run = PlanUnder(cap, model, library, with_gaps, base, diagnostics);
  if (!run || run->memory.arena == run->arena_bound || BoundIsAbove(RoomFor(*run, cap), *run)) {
    return run;
  }
  return PlanUnder(cap, model, library, options, base, diagnostics);
}

// The way down to the cap can leave gaps that the way down to the least does not.
std::optional<CappedRun> FitRunQuickly(const ModelSpec& model, const KernelLibrary& library,
                                       CompileOptions options, int64_t cap, const PlannedRun& free,
                                       std::optional<int64_t> base, Diagnostics& diagnostics) {
  CappedRun fit{cap, free, free};
  options.effort = PlanEffort::kQuick;
  for (const int64_t room : {std::max(kLeastArena, RoomFor(free, cap)), kLeastArena}) {
    if (fit.fits() || fit.out_of_reach) break;
    options.arena_cap = room;
    auto capped = PlanUnder(cap, model, library, options, base, diagnostics);
    if (!capped) return std::nullopt;
    fit.out_of_reach = IsOutOfReach(*capped, cap);
    KeepIfLess(std::move(*capped), options, fit);
  }
  return fit;
}

// What runs again has kernels of its own, which are a part of the base: where they are what is too
// much, the arena is to be smaller by as much. The way down to a cap can miss what the way down to
// the least finds, which is tried last; and what was found quickly is better than a refusal.
std::optional<CappedRun> FitRun(const ModelSpec& model, const KernelLibrary& library,
                                CompileOptions options, int64_t cap, const PlannedRun& free,
                                std::optional<int64_t> base, Diagnostics& diagnostics) {
  constexpr int kMostTries = 3;
  auto quick = FitRunQuickly(model, library, options, cap, free, base, diagnostics);
  if (!quick || quick->out_of_reach || free.total() <= cap) return quick;
  CappedRun fit{cap, free, free};
  int64_t room = RoomFor(free, cap);
  for (int tries = 0; !fit.fits() && options.arena_cap != kLeastArena; ++tries) {
    options.arena_cap = tries < kMostTries ? std::max(kLeastArena, room) : kLeastArena;
    auto capped = PlanUnder(cap, model, library, options, base, diagnostics);
    if (!capped) return std::nullopt;
    room -= std::max<int64_t>(capped->total() - cap, 0);
    KeepIfLess(std::move(*capped), options, fit);
  }
  if (fit.fits() && quick->fits()) return fit.slower() <= quick->slower() ? fit : *quick;
  return fit.capped.total() <= std::max(cap, quick->capped.total()) ? fit : *quick;
}

std::optional<BatchFit> FitBatch(const ModelSpec& model, const KernelLibrary& library,
                                 const CompileOptions& options, int64_t cap,
                                 Diagnostics& diagnostics) {
  BatchFit fit;
  fit.samples = SamplesOf(model, diagnostics);
  const int64_t samples = fit.samples.value_or(kMostBatch);
  std::map<int64_t, PlannedRun> too_large;
  const auto largest = FindLargestBatch(samples, [&](int64_t batch) -> std::optional<bool> {
    auto run =
        PlanFreeRun(WithBatch(model, batch), library, options, cap, std::nullopt, diagnostics);
    if (!run) return std::nullopt;
    if (run->total() > cap) {
      TakeBackRoom(run->memory, kBaseNoise / 2);
      too_large[batch] = std::move(*run);
      return false;
    }
    fit.run = std::move(*run);
    return true;
  });
  if (!largest) return std::nullopt;
  fit.all = largest->batch == samples;
  if (!fit.all) fit.next = too_large.at(largest->batch + 1);
  fit.larger = largest->larger;
  return fit;
}

// The cap of another process, which may measure a larger base.
std::optional<CappedRun> FitLargerBatch(const ModelSpec& model, const KernelLibrary& library,
                                        CompileOptions options, int64_t cap,
                                        const BatchFit& found) {
  constexpr int kTries = 4;
  constexpr double kMostLonger = 0.25;
  options.effort = PlanEffort::kQuick;
  std::optional<CappedRun> largest;
  Diagnostics ignored;
  int64_t fits = found.run->batch, batch = std::min(2 * fits, found.samples.value_or(kMostBatch)),
          above = batch + 1;
  for (int tries = 0; tries < kTries && batch > fits; ++tries) {
    const ModelSpec larger = WithBatch(model, batch);
    const auto free = PlanRun(larger, library, options, ignored);
    if (!free) return largest;
    auto fit =
        FitRunQuickly(larger, library, options, cap - kBaseNoise, *free, std::nullopt, ignored);
    if (!fit) return largest;
    const bool is_wanted = fit->fits() && fit->slower() <= kMostLonger;
    (is_wanted ? fits : above) = batch;
    if (is_wanted) largest = std::move(fit);
    batch = (fits + above) / 2;
  }
  return largest;
}

}  // namespace cgrun
