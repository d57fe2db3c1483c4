#include "src/search/trial_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "src/base/written_bytes.h"
#include "src/data/sampler.h"
#include "src/fit/run_limit.h"
#include "src/fit/run_shape.h"
#include "src/model/model_file.h"
#include "src/plan/cost_model.h"

namespace cgrun {
namespace {

// Takes the smaller cap: that of the search, or that of the model itself.
std::optional<RunLimit> CapOfTrial(const ModelSpec& model, const TrialPlace& place) {
  std::optional<RunLimit> cap = CapOf(model);
  if (place.cap && (!cap || *place.cap < cap->bytes)) cap = RunLimit{*place.cap};
  return cap;
}

// The forward pass of an evaluation is taken to be a third of a training step.
double SecondsPerEpoch(const CompiledModel& compiled, const RunShape& shape) {
  const CompiledEntry& entry = compiled.entries[0];
  const double step = SecondsOfStep(entry.graph) / static_cast<double>(shape.entries[0].batch);
  double seconds = 0;
  for (const Dataset* set : shape.host.sets) {
    const double samples = static_cast<double>(set->size());
    if (set == shape.data.train.get()) seconds += samples * step;
    if (set == shape.data.valid.get()) seconds += samples * step / 3;
  }
  return seconds;
}

void Drop(TreeNode& map, std::initializer_list<std::string_view> keys) {
  std::erase_if(map.entries, [&](const TreeEntry& entry) {
    return std::ranges::find(keys, entry.key) != keys.end();
  });
}

struct Planned {
  TrialPlan plan;
  RunMemory memory;
};

std::optional<Planned> PlanWith(const ModelSpec& model, const ModelData& data,
                                const KernelLibrary& library, const CompileOptions& options,
                                Diagnostics& diagnostics) {
  const RunShape shape = ShapeOfRun(model, data);
  auto compiled = Compile(model, shape.entries, library, options, diagnostics);
  if (!compiled) return std::nullopt;
  Planned planned;
  planned.plan.arena = compiled->layout.arena_bytes;
  planned.plan.data = data.decoded_bytes;
  planned.plan.arena_cap = options.arena_cap;
  planned.plan.epochs = EpochsOfModel(model, data);
  planned.plan.seconds_per_epoch = SecondsPerEpoch(*compiled, shape);
  planned.memory = MemoryOfRun(*compiled, shape, library);
  planned.plan.memory = planned.memory.total();
  return planned;
}

std::string RefusalOf(const TrialPlan& plan, const RunLimit& limit) {
  return fmt::format("it takes {} (arena {}), more than {} {}", FormatBytes(plan.memory),
                     FormatBytes(plan.arena), limit.name(), FormatBytes(limit.bytes));
}

}  // namespace

int64_t EpochsOfModel(const ModelSpec& model, const ModelData& data) {
  const TrainSpec& train = *model.train;
  if (train.epochs) return train.epochs->value;
  if (!train.steps || data.train == nullptr) return 1;
  const int64_t per_epoch = BatchCount(data.train->size(), train.batch.value.size);
  return std::max<int64_t>(1, (train.steps->value + per_epoch - 1) / per_epoch);
}

std::string PlanKeyOf(const ModelSpec& model, const ModelData& data) {
  TreeNode tree = ResolvedTree(model);
  Drop(tree, {"data", "weights"});
  if (TreeEntry* const train = tree.Find("train")) {
    Drop(train->value, {"seed", "epochs", "steps", "time"});
    if (TreeEntry* const optimizer = train->value.Find("optimizer")) Drop(optimizer->value, {"lr"});
  }
  std::string key = ToYaml(tree);
  for (const auto& set : {data.train, data.valid, data.test}) {
    key += fmt::format("\n{}", set == nullptr ? 0 : set->size());
  }
  return key + fmt::format("\n{}", data.decoded_bytes);
}

CompileOptions OptionsOf(const TrialPlace& place, const ModelSpec& model, const TrialPlan& plan) {
  CompileOptions options = place.options(model);
  options.threads = place.threads;
  options.arena_cap = plan.arena_cap;
  return options;
}

std::optional<TrialPlan> PlanTrial(const ModelSpec& model, const ModelData& data,
                                   const TrialPlace& place, Diagnostics& diagnostics) {
  const KernelLibrary& library = *FindKernelLibrary(place.device);
  CompileOptions options = OptionsOf(place, model, {});
  auto planned = PlanWith(model, data, library, options, diagnostics);
  if (!planned) return std::nullopt;
  const auto broken = [&] {
    return BrokenLimit(planned->memory, ReadHostLimits(), CapOfTrial(model, place));
  };
  auto limit = broken();
  if (!limit) return planned->plan;
  const int64_t room = limit->bytes - (planned->plan.memory - planned->plan.arena);
  options.arena_cap = std::max<int64_t>(1, room);
  planned = PlanWith(model, data, library, options, diagnostics);
  if (!planned) return std::nullopt;
  limit = broken();
  if (limit) planned->plan.refusal = RefusalOf(planned->plan, *limit);
  return planned->plan;
}

}  // namespace cgrun
