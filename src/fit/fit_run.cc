// Plans, until one fits.
#include "src/fit/fit_run.h"

#include <algorithm>
#include <map>

#include "src/budget/close_gap.h"
#include "src/fit/batch_search.h"
#include "src/fit/child_process.h"

namespace cgrun {
namespace {

constexpr int64_t kMostBatch = 1 << 16;  // if no data says how many samples there are

// Takes back as much of the fixed memory's rounding as `cap` asks for, but for `left` bytes of it.
void FitBase(RunMemory& memory, int64_t cap, int64_t left) {
  const int64_t excess = memory.host() - cap;
  if (!memory.on_host || excess <= 0 || excess > memory.base_room - left) return;
  memory.base -= excess;
  memory.base_room -= excess;
}

// Returns how many bytes of rounding the fixed memory (RunMemory::base) keeps, which FitBase() does
// not take back. A quick plan keeps kBaseNoise more, because a full plan can measure that much more
// fixed memory. So if a quick plan fits a cap, a full plan with an arena no larger fits it, too.
int64_t LeftOfBase(const CompileOptions& options) {
  return options.effort == PlanEffort::kQuick ? kBaseLeft + kBaseNoise : kBaseLeft;
}

// Fits the fixed memory to the cap. It keeps as many bytes of rounding as in any plan under that
// cap.
void FitBaseAlike(PlannedRun& run, int64_t cap, const CompileOptions& options) {
  const int64_t left = LeftOfBase(options);
  if (run.memory.base_room < left) SetRoom(run.memory, left);
  FitBase(run.memory, cap, left);
}

// Plans the run under a cap. If the fixed memory is known, `base` is its size in bytes.
std::optional<PlannedRun> PlanUnder(int64_t cap, RunPlanner& planner, const CompileOptions& options,
                                    std::optional<int64_t> base, Diagnostics& diagnostics) {
  auto run = planner.Plan(options, diagnostics);
  if (run && base) {
    run->memory.base = *base;
    run->memory.base_room = 0;  // it is not measured again
    run->memory.start = 0;      // it has fitted before
  }
  if (!run) return run;
  if (options.arena_cap > 0) {
    FitBaseAlike(*run, cap, options);
  } else {
    FitBase(run->memory, cap, LeftOfBase(options));
  }
  return run;
}

// Returns the bytes that a cap leaves for the arena. If the rest alone takes more than the cap, the
// result is negative.
int64_t RoomFor(const PlannedRun& run, int64_t cap) {
  return cap - (run.in_steps() - run.memory.arena);
}

// Returns whether `room` bytes are too few for the arena, even if all packed and rounded as well as
// it can.
bool BoundIsAbove(int64_t room, const PlannedRun& run) {
  return run.arena_bound - run.memory.base_room > room;
}

bool IsOutOfReach(const PlannedRun& least, int64_t cap) {
  return least.cap_out_of_reach && BoundIsAbove(RoomFor(least, cap), least);
}

// A run is less if its arena is smaller, or if it lacks streams. Fixed memory alone does not count,
// because its measured size differs from plan to plan.
bool IsLess(const PlannedRun& run, const CappedRun& fit) {
  const bool lacks_streams = fit.free.in_streams > 0 && run.in_streams == 0;
  const int64_t most = fit.free.memory.arena - (lacks_streams ? 0 : 1);
  return run.memory.arena <= most && run.total() < fit.capped.total();
}

// The run as it is, of a run that goes on perhaps without streams.
CappedRun Uncapped(int64_t cap, const PlannedRun& free, const CompileOptions& options) {
  CappedRun fit{cap, free, free};
  fit.streams = options.streams;
  return fit;
}

void Take(PlannedRun run, const CompileOptions& options, CappedRun& fit) {
  fit.capped = std::move(run);
  fit.arena_cap = options.arena_cap;
  fit.effort = options.effort;
  fit.streams = options.streams;
}

// Turns off the closing of gaps, which takes long.
CompileOptions WithGaps(CompileOptions options) {
  if (ClosesGaps(options)) options.closes_gaps = false;
  return options;
}

// The data is closed at the end, so that it does not lie beside that of the plans.
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

// Lists the caps on the arena that plans are made for, whatever the cap on the run is. Each is a
// 96th below the one before. So a larger cap has most of the plans of a smaller one to choose from.
class Rungs {
 public:
  // The first is the largest that is no more than `room`.
  Rungs(int64_t free_arena, int64_t room) : arena_(free_arena) {
    while (arena_ > room) Descend();
  }
  int64_t Next() {
    const int64_t rung = arena_;
    Descend();
    return rung;
  }

 private:
  void Descend() { arena_ -= std::max<int64_t>(1, arena_ / 96); }

  int64_t arena_;
};

// Takes the quickest of the plans for the series of arena caps that `room` allows. If none of them
// fits, takes the least. Returns false after an error.
bool PlanAtRungs(RunPlanner& planner, CompileOptions options, std::optional<int64_t> base,
                 int64_t room, CappedRun& fit, Diagnostics& diagnostics) {
  constexpr int kFewest = 4, kMost = 12;  // more where fewer do not fit
  Rungs rungs(fit.free.memory.arena, room);
  const auto most = [&] { return fit.fits() ? kFewest : kMost; };
  bool is_within_reach = true;
  for (int tried = 0; tried < most() && is_within_reach; ++tried) {
    options.arena_cap = rungs.Next();
    if (options.arena_cap <= 1) break;
    auto run = PlanUnder(fit.cap, planner, options, base, diagnostics);
    if (!run) return false;
    is_within_reach = !run->cap_out_of_reach;  // nor is any smaller cap, then
    if (run->memory.arena >= fit.free.memory.arena) continue;
    const bool is_quicker = run->total() <= fit.cap && Slower(*run, fit.free) < fit.slower();
    if (fit.fits() ? is_quicker : run->total() < fit.capped.total()) {
      Take(std::move(*run), options, fit);
    }
  }
  return true;
}

// If only the plan with the least arena fits the cap, it can be far below the cap. Then this tries
// a few plans with arenas between that one and `room` bytes. It takes the quickest that fits.
// Returns false after an error.
bool TakeQuickerBetween(RunPlanner& planner, CompileOptions options, std::optional<int64_t> base,
                        int64_t room, CappedRun& fit, Diagnostics& diagnostics) {
  constexpr int kTries = 3;
  constexpr int64_t kNear = 16;  // parts of the cap, of which one may be to spare
  int64_t most = room, least = fit.capped.memory.arena;
  for (int i = 0; i < kTries && fit.cap - fit.capped.total() > fit.cap / kNear; ++i) {
    options.arena_cap = least + (most - least) / 2;
    auto run = PlanUnder(fit.cap, planner, options, base, diagnostics);
    if (!run) return false;
    const bool fits = run->total() <= fit.cap;
    (fits ? least : most) = options.arena_cap;
    if (!fits || Slower(*run, fit.free) >= fit.slower()) continue;
    Take(std::move(*run), options, fit);
  }
  return true;
}

}  // namespace

void SetRoom(RunMemory& memory, int64_t left) {
  if (!memory.on_host || memory.base_room == 0) return;  // or the fixed memory is not measured anew
  const int64_t measured = memory.base - memory.base_room;
  memory.base = (measured + left + kBaseNoise - 1) / kBaseNoise * kBaseNoise;
  memory.base_room = memory.base - measured;
}

ModelSpec WithBatch(const ModelSpec& model, int64_t batch) {
  ModelSpec changed = model;
  changed.train->batch.value = {false, batch};
  return changed;
}

// Closing gaps takes longest. It is done only where the cap may hold afterwards. If the arena's
// lower bound is a tenth above the budget, that is hopeless: closing gaps hardly ever lowers the
// bound by so much.
std::optional<PlannedRun> PlanFreeRun(RunPlanner& planner, const CompileOptions& options,
                                      int64_t cap, std::optional<int64_t> base,
                                      Diagnostics& diagnostics) {
  constexpr int64_t kFar = 10;
  auto run = PlanUnder(cap, planner, WithGaps(options), base, diagnostics);
  if (!run || !ClosesGaps(options)) return run;
  const int64_t room = RoomFor(*run, cap);
  if (BoundIsAbove(room + room / kFar, *run)) return run;
  return PlanUnder(cap, planner, options, base, diagnostics);
}

// The way down to the cap can leave gaps that the way down to the least does not.
std::optional<CappedRun> FitRunQuickly(RunPlanner& planner, CompileOptions options, int64_t cap,
                                       const PlannedRun& free, std::optional<int64_t> base,
                                       Diagnostics& diagnostics) {
  CappedRun fit = Uncapped(cap, free, options);
  options.effort = PlanEffort::kQuick;
  options.arena_cap = std::max(kLeastArena, RoomFor(free, cap));
  for (const int64_t room : {options.arena_cap, kLeastArena}) {
    if (fit.fits() || fit.out_of_reach) break;
    options.arena_cap = room;
    auto capped = PlanUnder(cap, planner, options, base, diagnostics);
    if (!capped) return std::nullopt;
    fit.out_of_reach = IsOutOfReach(*capped, cap);
    if (IsLess(*capped, fit)) Take(std::move(*capped), options, fit);
  }
  return fit;
}

// Tries plans in this order until one fits.
//
//  1. Remove the parallel streams, which take fixed memory. All caps below the free run's total do
//     so. If only some did, a smaller cap could have a larger arena.
//  2. Try a series of caps on the arena (PlanAtRungs). Recomputed nodes have kernels of their own,
//     which take fixed memory. If these exceed the cap, a smaller arena makes up for them.
//  3. Ask for the least arena. It can fit where the whole series fails.
//
// If only the quick plan fits, it is the result, since it is better than a refusal.
std::optional<CappedRun> FitRun(RunPlanner& planner, CompileOptions options, const CappedRun& quick,
                                std::optional<int64_t> base, Diagnostics& diagnostics) {
  const PlannedRun& free = quick.free;
  const int64_t cap = quick.cap;
  if (quick.out_of_reach || free.total() <= cap) return quick;
  CappedRun fit = Uncapped(cap, free, options);
  options.streams = false;
  if (free.in_streams > 0) {
    auto one_by_one = PlanUnder(cap, planner, options, base, diagnostics);
    if (!one_by_one) return std::nullopt;
    FitBaseAlike(*one_by_one, cap, options);
    if (one_by_one->total() < free.total()) Take(std::move(*one_by_one), options, fit);
    if (fit.fits()) return fit;
  }
  const int64_t room = RoomFor(fit.capped, cap);
  if (room > 0 && !PlanAtRungs(planner, options, base, room, fit, diagnostics)) {
    return std::nullopt;
  }
  if (!fit.fits()) {
    options.arena_cap = kLeastArena;
    auto least = PlanUnder(cap, planner, options, base, diagnostics);
    if (!least) return std::nullopt;
    if (IsLess(*least, fit)) Take(std::move(*least), options, fit);
    if (fit.fits() && !TakeQuickerBetween(planner, options, base, room, fit, diagnostics)) {
      return std::nullopt;
    }
  }
  if (fit.fits() && quick.fits()) return fit.slower() <= quick.slower() ? fit : quick;
  return fit.capped.total() <= std::max(cap, quick.capped.total()) ? fit : quick;
}

std::optional<BatchFit> FitBatch(const ModelSpec& model, const KernelLibrary& library,
                                 const CompileOptions& options, int64_t cap,
                                 Diagnostics& diagnostics) {
  BatchFit fit;
  fit.samples = SamplesOf(model, diagnostics);
  const int64_t samples = fit.samples.value_or(kMostBatch);
  std::map<int64_t, PlannedRun> too_large;
  const auto largest = FindLargestBatch(samples, [&](int64_t batch) -> std::optional<bool> {
    const ModelSpec changed = WithBatch(model, batch);
    RunPlanner planner(changed, library, options);
    auto run = PlanFreeRun(planner, options, cap, std::nullopt, diagnostics);
    if (!run) return std::nullopt;
    if (run->total() > cap) {
      SetRoom(run->memory, kBaseLeft);
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
    RunPlanner planner(larger, library, options);
    const auto free = planner.Plan(options, ignored);
    if (!free) return largest;
    auto fit = FitRunQuickly(planner, options, cap, *free, std::nullopt, ignored);
    if (!fit) return largest;
    const bool is_wanted = fit->fits() && fit->slower() <= kMostLonger;
    (is_wanted ? fits : above) = batch;
    if (is_wanted) largest = std::move(fit);
    batch = (fits + above) / 2;
  }
  return largest;
}

}  // namespace cgrun
