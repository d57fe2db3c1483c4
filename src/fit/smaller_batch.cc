// Totals lie nearly on the line from what takes no samples to a batch that does not fit.
#include "src/fit/smaller_batch.h"

#include <algorithm>

namespace cgrun {
namespace {

constexpr int kTries = 3;
constexpr int64_t kSpare = 16;  // the line is only near: a batch is lower by such a part of it

std::optional<PlannedRun> PlanWithoutRoom(RunPlanner& planner, const CompileOptions& options) {
  Diagnostics ignored;
  auto run = planner.Plan(options, ignored);
  if (run) SetRoom(run->memory);
  return run;
}

// The way down to the cap, where the way to the least is below it: less is recomputed.
PlannedRun Nearer(RunPlanner& planner, CompileOptions options, PlannedRun least, int64_t cap) {
  const int64_t spare = cap - kBaseNoise - least.total();
  if (spare <= 0) return least;
  options.arena_cap = least.memory.arena + spare;
  auto run = PlanWithoutRoom(planner, options);
  const bool is_quicker = run && run->total() + kBaseNoise <= cap && run->slowdown < least.slowdown;
  return is_quicker ? std::move(*run) : std::move(least);
}

// Plans a batch; of one sample that does not fit as it is under `cap`, also the least that it
// takes.
std::optional<SmallerRun> PlanBatch(const ModelSpec& model, const KernelLibrary& library,
                                    CompileOptions options, int64_t batch, int64_t cap) {
  const ModelSpec smaller = WithBatch(model, batch);
  RunPlanner planner(smaller, library, options);
  auto run = PlanWithoutRoom(planner, options);
  if (!run) return std::nullopt;
  if (options.arena_cap > 0) run = Nearer(planner, options, std::move(*run), cap);
  SmallerRun found{*run};
  if (batch == 1 && run->total() > cap && options.arena_cap == 0) {
    options.arena_cap = kLeastArena;
    found.least = PlanWithoutRoom(planner, options);
    if (found.least) found.least = Nearer(planner, options, std::move(*found.least), cap);
  }
  return found;
}

}  // namespace

int64_t BytesWithoutSamples(const PlannedRun& run) { return run.in_steps() - run.of_batch; }

std::optional<SmallerRun> FindSmallerBatch(const ModelSpec& model, const KernelLibrary& library,
                                           const CompileOptions& options, const PlannedRun& run,
                                           int64_t cap) {
  CompileOptions quick = options;
  quick.effort = PlanEffort::kQuick;
  const int64_t without = BytesWithoutSamples(run);
  int64_t batch = run.batch, total = run.total();
  for (int tries = 0; tries < kTries && batch > 1; ++tries) {
    const int64_t a_sample = std::max<int64_t>(1, (total - without) / batch);
    const int64_t fair = (cap - kBaseNoise - without) / a_sample;
    batch = std::clamp<int64_t>(fair - (fair + kSpare - 1) / kSpare, 1, batch - 1);
    auto found = PlanBatch(model, library, quick, batch, cap);
    if (!found || batch == 1 || found->run.total() + kBaseNoise <= cap) return found;
    total = found->run.total();
  }
  return PlanBatch(model, library, quick, 1, cap);
}

}  // namespace cgrun
