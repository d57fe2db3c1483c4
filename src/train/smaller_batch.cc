// Totals lie nearly on the line from what takes no samples to a batch that does not fit.
#include "src/train/smaller_batch.h"

#include <algorithm>

namespace cgrun {
namespace {

constexpr int kTries = 2;
constexpr int64_t kSpare = 16;  // a part of the batch that the line says, for its error

std::optional<PlannedRun> PlanBatch(const ModelSpec& model, const KernelLibrary& library,
                                    const CompileOptions& options, int64_t batch) {
  Diagnostics ignored;
  const ModelSpec smaller = WithBatch(model, batch);
  auto run = RunPlanner(smaller, library, options).Plan(options, ignored);
  if (run) TakeBackRoom(run->memory);
  return run;
}

CompileOptions Quick(CompileOptions options) {
  options.effort = PlanEffort::kQuick;
  return options;
}

}  // namespace

int64_t BytesWithoutSamples(const PlannedRun& run) { return run.total() - run.of_batch; }

SmallerBatch::SmallerBatch(const ModelSpec& model, const KernelLibrary& library,
                           const CompileOptions& options, const PlannedRun& run, int64_t cap)
    : model_(model),
      library_(library),
      options_(Quick(options)),
      run_(run),
      cap_(cap),
      child_(KindOfDevice(library.name()).on_host, [&] {
        const auto found = Search();
        return found ? ToText(*found) : std::string();
      }) {}

std::optional<PlannedRun> SmallerBatch::Wait() {
  const auto text = child_.Wait();
  if (!text) return Search();
  return text->empty() ? std::nullopt : std::optional(PlannedRunOf(*text));
}

std::optional<PlannedRun> SmallerBatch::Search() const {
  const int64_t without = BytesWithoutSamples(run_);
  int64_t batch = run_.batch, total = run_.total();
  for (int tries = 0; tries < kTries && batch > 1; ++tries) {
    const int64_t a_sample = std::max<int64_t>(1, (total - without) / batch);
    const int64_t fair = (cap_ - kBaseNoise - without) / a_sample;
    batch = std::clamp<int64_t>(fair - fair / kSpare, 1, batch - 1);
    auto run = PlanBatch(model_, library_, options_, batch);
    if (!run || batch == 1 || run->total() + kBaseNoise <= cap_) return run;
    total = run->total();
  }
  return PlanBatch(model_, library_, options_, 1);
}

}  // namespace cgrun
