// Building the cases, and rounds that take turns.
#include "src/bench/bench.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "src/base/allocation_counter.h"
#include "src/base/check.h"
#include "src/base/written_bytes.h"
#include "src/bench/bench_batches.h"
#include "src/bench/random_samples.h"
#include "src/device/device.h"
#include "src/device/no_room.h"
#include "src/eager/peak.h"
#include "src/fit/run_limit.h"
#include "src/fit/run_shape.h"
#include "src/model_data/model_data.h"
#include "src/plan/schedule.h"
#include "src/program/code.h"
#include "src/run/batch_runner.h"
#include "src/run/rate_schedule.h"

namespace cgrun {
namespace {

constexpr int64_t kMostBatches = 4;  // different ones, which the steps go through again and again
constexpr double kRoundSeconds = 0.1;
constexpr double kCaseSeconds = 2;  // all rounds of a case
constexpr int kLeastRounds = 7;
constexpr int kMostRounds = 21;

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// All cases share these.
struct Bench {
  const ModelSpec& model;
  const BenchOptions& options;
  const KernelLibrary& library;
  EntryRequest entry;
  const BenchBatches& batches;
  std::vector<std::string> inputs;
  std::vector<PathSchedule> schedules;
};

constexpr const char* kSmallerBatch =
    "a smaller batch needs less (`--batch N`); `cgrun plan MODEL` lists what takes the memory";

// Refuses a case whose arena, of these bytes, does not fit beside what this process holds. `image`
// is null in eager mode.
void CheckArena(const Bench& bench, const Device& device, int64_t arena,
                const ProgramImage* image) {
  const bool calls_onednn = image != nullptr && CallsOneDnn(*image, bench.library);
  MemoryUse memory;
  memory.arena = arena;
  memory.data = bench.batches.bytes();
  memory.base =
      PlannedBase(memory.data + device.counters().host_bytes, /*loaders=*/0, calls_onednn);
  const auto& limits = bench.options.limits;
  CheckLimits(memory, bench.library.name(), image, limits ? *limits : ReadHostLimits(),
              {kSmallerBatch, kSmallerBatch});
}

// The engine of a case. Returns null after an error. Throws NoRoom if what it takes is too much;
// eager mode takes more if nothing is freed before the end of a step.
std::unique_ptr<Engine> MakeCaseEngine(const Bench& bench, const BenchCase& one, EnginePlace place,
                                       Diagnostics& diagnostics) {
  if (one.mode == Mode::kGraph) {
    place.before_arenas = [&](const ProgramImage& image) {
      CheckArena(bench, place.device, image.memory_bytes(), &image);
    };
    return BuildEngine(bench.model, {bench.entry}, one.mode, one.compile, place, diagnostics);
  }
  auto graphs = PrepareEager(bench.model, {bench.entry}, bench.library, one.compile, diagnostics);
  if (!graphs) return nullptr;
  const Graph* const graph = &graphs->front().graph;
  CheckArena(bench, place.device, EagerPeakBytes({&graph, 1}), nullptr);
  EagerOptions eager;
  eager.free = one.free;
  return MakeEagerEngine(std::move(*graphs), place.device, bench.library, place.communicator,
                         eager);
}

// One case, built and running.
class Contestant {
 public:
  Contestant(const Bench& bench, const BenchCase& bench_case, Diagnostics& diagnostics)
      : bench_(bench), case_(bench_case) {
    result_.name = case_.name;
    result_.batch = bench.entry.batch;
    const auto begin = Clock::now();
    device_ = OpenDevice(bench.options.device);
    engine_ = MakeCaseEngine(
        bench, case_, {bench.library, *device_, communicator_, bench.options.debug}, diagnostics);
    if (engine_ == nullptr) return;
    runner_ = std::make_unique<BatchRunner>(*engine_, bench.entry.kind, bench.entry.batch,
                                            bench.batches.dataset(), bench.inputs);
    AddWholeInputs();
    result_.build_seconds = SecondsSince(begin);
    if (!case_.profiled) return;
    times_ = MakeTimes(*engine_);
    engine_->Watch(times_.get());
  }

  bool ready() const { return engine_ != nullptr; }
  bool timed() const { return case_.timed; }
  bool profiled() const { return case_.profiled; }
  const std::string& name() const { return case_.name; }
  int64_t held_bytes() const { return device_->counters().host_bytes; }

  // The first step and its loss.
  void FirstStep() {
    result_.first_step_seconds = Steps(1);
    // The benchmark takes memory for its own notes here, before allocations are counted.
    result_.round_seconds.reserve(std::max(bench_.options.rounds, kMostRounds));
    NoteLoss();
  }

  // Another step whose loss is compared. Returns its seconds.
  double CompareStep() {
    const double seconds = Steps(1);
    NoteLoss();
    return seconds;
  }

  // Goes on from where `other` is.
  void TakeStateOf(const Contestant& other) {
    const std::vector<EngineState>& states = other.engine_->model().states;
    for (size_t i = 0; i < states.size(); ++i) {
      HostTensor tensor(states[i].type.dtype, states[i].type.shape);
      other.engine_->ReadState(i, tensor);
      engine_->WriteState(engine_->model().FindState(states[i].name), tensor);
    }
  }

  // One round.
  void Round(int64_t steps) {
    const HeapUse before = CurrentHeapUse();
    const double seconds = Steps(steps);
    allocations_ += CurrentHeapUse().allocations - before.allocations;
    result_.round_seconds.push_back(seconds / static_cast<double>(steps));
  }

  // Runs steps and returns the seconds that they took.
  double Steps(int64_t steps) {
    const auto begin = Clock::now();
    for (int64_t s = 0; s < steps; ++s) Step();
    return SecondsSince(begin);
  }

  // More steps, whose operators are timed.
  void Profile(int64_t steps, BenchObserver& observer) {
    const std::unique_ptr<OperatorTimes> times = MakeTimes(*engine_);
    engine_->Watch(times.get());
    Steps(steps);
    engine_->Watch(nullptr);
    observer.OnProfile(case_.name, *engine_, *times);
  }

  CaseResult Result() {
    const EngineMemory memory = engine_->memory();
    result_.peak_bytes = memory.live_peak_bytes;
    result_.reserved_bytes = memory.reserved_peak_bytes;
    if (!result_.round_seconds.empty()) {
      result_.seconds_per_iteration = SpreadOf(result_.round_seconds);
      if (AllocationsAreCounted()) result_.allocations_after_first_step = allocations_;
    }
    return std::move(result_);
  }

 private:
  // Feeds an input without a batch.
  struct WholeFeed {
    int feed;
    HostTensor elements;
  };

  void AddWholeInputs() {
    const std::vector<EnginePort>& feeds = engine_->model().entries[0].feeds;
    for (const InputSpec& input : bench_.model.inputs) {
      const auto feed = std::ranges::find(feeds, input.name.value, &EnginePort::name);
      if (input.batch.value || feed == feeds.end()) continue;
      whole_.push_back({static_cast<int>(feed - feeds.begin()), RandomElements(input)});
    }
  }

  void Step() {
    for (const WholeFeed& whole : whole_) engine_->Feed(0, whole.feed, whole.elements.bytes());
    const double factor = step_ < kComparedSteps ? kComparedRate : 1;
    rates_.resize(bench_.schedules.size());
    for (size_t i = 0; i < rates_.size(); ++i) {
      if (rates_[i].name.empty()) rates_[i].name = FeedOf(bench_.schedules[i].path);
      rates_[i].rate = factor * bench_.schedules[i].schedule.RateAt(step_);
    }
    runner_->Reset();
    runner_->Run(bench_.batches.Of(step_), step_, rates_);
    ++step_;
  }

  // If a model has several paths with losses, their sum is compared.
  void NoteLoss() {
    if (const auto loss = runner_->TotalLoss()) result_.losses.push_back(*loss);
  }

  std::string FeedOf(const std::string& path) const {
    for (const EnginePath& known : engine_->model().paths) {
      if (known.name == path) return known.learning_rate_feed;
    }
    return "";
  }

  const Bench& bench_;
  BenchCase case_;
  SingleProcess communicator_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<OperatorTimes> times_;  // of a case that is profiled
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<BatchRunner> runner_;
  std::vector<RateFeed> rates_;
  std::vector<WholeFeed> whole_;
  int64_t step_ = 0;
  int64_t allocations_ = 0;  // in rounds
  CaseResult result_;
};

// Schedules as a long run has them: what counts is that all cases learn at the same rates.
std::vector<PathSchedule> SchedulesOf(const ModelSpec& model, Diagnostics& diagnostics) {
  std::vector<PathSchedule> schedules;
  if (auto read = ReadRateSchedules(model, diagnostics)) schedules = std::move(*read);
  for (PathSchedule& path : schedules) {
    path.schedule.steps_per_epoch = path.schedule.total_steps = int64_t{1} << 20;
    path.schedule.warmup_epochs = 0;
  }
  return schedules;
}

using Contestants = std::vector<std::unique_ptr<Contestant>>;

// The steps after the first whose losses are compared. Returns the seconds of a step of the slowest
// timed case, by the fastest step of each: first steps vary.
double RunComparedSteps(Contestants& contestants, BenchObserver& observer) {
  const auto total = static_cast<int64_t>(contestants.size()) * (kComparedSteps - 1);
  int64_t done = 0;
  std::vector<double> fastest(contestants.size(), std::numeric_limits<double>::infinity());
  for (int64_t step = 1; step < kComparedSteps; ++step) {
    for (size_t i = 1; step % 2 == 0 && i < contestants.size(); ++i) {
      contestants[i]->TakeStateOf(*contestants[0]);
    }
    for (size_t i = 0; i < contestants.size(); ++i) {
      observer.OnCase("comparing " + contestants[i]->name(), done++, total);
      fastest[i] = std::min(fastest[i], contestants[i]->CompareStep());
    }
  }
  double slowest = 1e-9;
  for (size_t i = 0; i < contestants.size(); ++i) {
    const bool counts = contestants[i]->timed() || contestants.size() == 1;
    if (counts) slowest = std::max(slowest, fastest[i]);
  }
  return slowest;
}

struct Rounds {
  int count = 0;
  int64_t steps = 0;  // of each case in each round
};

// Short rounds, for a machine's mood changes within seconds. `seconds`: a step's of the slowest
// case.
Rounds PlanRounds(const BenchOptions& options, double seconds) {
  Rounds rounds{options.rounds, options.steps};
  if (rounds.steps == 0) {
    rounds.steps = std::clamp<int64_t>(std::llround(kRoundSeconds / seconds), 1, 10'000);
  }
  if (rounds.count == 0) {
    const double wanted = kCaseSeconds / (static_cast<double>(rounds.steps) * seconds);
    rounds.count =
        static_cast<int>(std::clamp<double>(std::ceil(wanted), kLeastRounds, kMostRounds));
  }
  return rounds;
}

// Returns the contestants that take part in rounds.
std::vector<Contestant*> TimedOf(const Contestants& contestants) {
  std::vector<Contestant*> timed;
  for (const auto& contestant : contestants) {
    if (contestant != nullptr) timed.push_back(contestant.get());
  }
  return timed;
}

// The results of those that are not timed, which then go: rounds do not run beside their memory.
std::vector<CaseResult> FinishUntimed(Contestants& contestants) {
  std::vector<CaseResult> results(contestants.size());
  for (size_t i = 0; i < contestants.size(); ++i) {
    if (contestants[i]->timed()) continue;
    results[i] = contestants[i]->Result();
    contestants[i].reset();
  }
  return results;
}

// Every second round in the opposite order, so that no case always follows the same one.
void RunRounds(std::vector<Contestant*> contestants, const Rounds& rounds,
               BenchObserver& observer) {
  const auto total = static_cast<int64_t>(contestants.size()) * rounds.count;
  int64_t done = 0;
  for (int round = 0; round < rounds.count; ++round) {
    for (Contestant* contestant : contestants) {
      observer.OnCase(contestant->name(), done++, total);
      contestant->Round(rounds.steps);
    }
    std::reverse(contestants.begin(), contestants.end());
  }
}

// Compares cases that took turns with the baseline.
void CompareTimes(std::vector<CaseResult>& cases) {
  for (size_t i = 1; i < cases.size(); ++i) {
    if (cases[i].round_seconds.empty() || cases[0].round_seconds.empty()) continue;
    cases[i].speedup = SpeedupOf(cases[i].round_seconds, cases[0].round_seconds);
  }
}

int64_t BatchesOf(const BenchOptions& options) {
  return options.limit_batches > 0 ? std::min(options.limit_batches, kMostBatches) : kMostBatches;
}

// Compiles a case and prepares its kernels, without memory to run it. Returns nothing after an
// error.
std::optional<CaseResult> BuildAlone(const Bench& bench, const BenchCase& one,
                                     Diagnostics& diagnostics) {
  CaseResult result;
  result.name = one.name;
  result.batch = bench.entry.batch;
  const auto begin = Clock::now();
  const std::vector<EntryRequest> entries = {bench.entry};
  if (one.mode == Mode::kEager) {
    if (!PrepareEager(bench.model, entries, bench.library, one.compile, diagnostics)) return {};
  } else {
    const auto compiled = Compile(bench.model, entries, bench.library, one.compile, diagnostics);
    if (!compiled) return {};
    const std::unique_ptr<Device> device = OpenDevice(bench.options.device);
    const Code code(compiled->image, *device, bench.library);
    result.peak_bytes = result.reserved_bytes = compiled->image.memory_bytes();
  }
  result.build_seconds = SecondsSince(begin);
  return result;
}

// Builds each case alone, for a dry run. Returns nothing after an error.
std::optional<std::vector<CaseResult>> BuildEach(const Bench& bench,
                                                 const std::vector<BenchCase>& cases,
                                                 BenchObserver& observer,
                                                 Diagnostics& diagnostics) {
  std::vector<CaseResult> results;
  for (const BenchCase& one : cases) {
    observer.OnCase("building " + one.name, 0, 0);
    auto result = BuildAlone(bench, one, diagnostics);
    if (!result) return std::nullopt;
    results.push_back(std::move(*result));
  }
  return results;
}

// Says of a refusal which case does not fit, and what the cases before it hold.
NoRoom RefusalOfCase(const std::string& name, const Contestants& before, bool is_alone,
                     const NoRoom& error) {
  int64_t held = 0;
  for (const auto& contestant : before) held += contestant->held_bytes();
  const std::string beside =
      held == 0 ? "" : ", beside " + FormatBytes(held) + " of the cases before it";
  const std::string others =
      is_alone ? ""
               : "; `--isolate` runs each case in a process of its own, and `--only CASE` one "
                 "alone";
  return NoRoom("case '" + name + "'" + beside + ": " + error.what(), error.help() + others);
}

// Builds the cases that fit, and takes the first step of each. Returns nothing after an error.
// Throws the refusal of the first case if none fits; else adds those that do not to `left_out`.
std::optional<Contestants> BuildContestants(const Bench& bench, const std::vector<BenchCase>& cases,
                                            BenchObserver& observer,
                                            std::vector<LeftOutCase>& left_out,
                                            Diagnostics& diagnostics) {
  Contestants contestants;
  std::optional<NoRoom> first_refusal;
  for (const BenchCase& one : cases) {
    observer.OnCase("building " + one.name, 0, 0);
    try {
      auto built = std::make_unique<Contestant>(bench, one, diagnostics);
      if (!built->ready()) return std::nullopt;
      built->FirstStep();
      contestants.push_back(std::move(built));
    } catch (const NoRoom& error) {
      NoRoom refusal = RefusalOfCase(one.name, contestants, cases.size() == 1, error);
      left_out.push_back({one.name, refusal.what()});
      if (!first_refusal) first_refusal = std::move(refusal);
    }
  }
  if (contestants.empty()) throw *first_refusal;
  return contestants;
}

// Runs what follows the first steps, and returns the results of all, in their order.
std::vector<CaseResult> RunContest(Contestants& contestants, const BenchOptions& options,
                                   BenchObserver& observer, Rounds& rounds) {
  rounds = PlanRounds(options, RunComparedSteps(contestants, observer));
  std::vector<CaseResult> results = FinishUntimed(contestants);
  const std::vector<Contestant*> timed = TimedOf(contestants);
  RunRounds(timed, rounds, observer);
  for (Contestant* contestant : timed) {
    if (options.profile && !contestant->profiled()) contestant->Profile(rounds.steps, observer);
  }
  for (size_t i = 0; i < contestants.size(); ++i) {
    if (contestants[i] != nullptr) results[i] = contestants[i]->Result();
  }
  return results;
}

}  // namespace

void CompareLosses(std::vector<CaseResult>& cases, int64_t steps) {
  const std::vector<double>& wanted = cases[0].losses;
  for (CaseResult& result : cases) {
    const size_t most = std::min({static_cast<size_t>(steps), wanted.size(), result.losses.size()});
    for (size_t step = 0; step < most; ++step) {
      const double difference = std::abs(result.losses[step] - wanted[step]);
      if (difference <= kLossTolerance * std::max(1.0, std::abs(wanted[step]))) continue;
      result.fault = "its loss in step " + std::to_string(step + 1) + " is " +
                     std::to_string(result.losses[step]) + ", that of '" + cases[0].name + "' is " +
                     std::to_string(wanted[step]);
      break;
    }
  }
}

std::optional<BenchResult> RunBench(const ModelSpec& model, const std::vector<BenchCase>& cases,
                                    const BenchOptions& options, BenchObserver& observer,
                                    Diagnostics& diagnostics) {
  CGRUN_CHECK(!cases.empty());
  const KernelLibrary* library = FindKernelLibrary(options.device);
  CGRUN_CHECK(library != nullptr) << "no kernels for " << options.device;
  const EntryRequest entry = BenchEntry(model, options.infer);
  const bool infer = entry.kind != EntryKind::kTrain;
  const ModelData data = OpenModelData(model, diagnostics);
  const Dataset* dataset = data.train != nullptr ? data.train.get() : data.test.get();
  const RandomSamples random(model);
  if (infer && !model.data) dataset = &random;
  if (dataset == nullptr && !diagnostics.has_errors()) {
    diagnostics.Error(model.data ? model.data->mark : SourceMark(),
                      "there is no data in " + model.file_name + " to run on",
                      "for example `data: {train: {format: synthetic, samples: 256}}`");
  }
  if (diagnostics.has_errors()) return std::nullopt;
  const std::unique_ptr<Device> device = OpenDevice(options.device);
  BenchBatches batches(*dataset, entry.batch, BatchesOf(options));
  batches.PinFor(*device);
  const Bench bench{model,
                    options,
                    *library,
                    entry,
                    batches,
                    MatchInputs(model, *dataset, {}, diagnostics),
                    infer ? std::vector<PathSchedule>() : SchedulesOf(model, diagnostics)};
  if (diagnostics.has_errors()) return std::nullopt;

  Rounds rounds;
  std::vector<LeftOutCase> left_out;
  std::optional<std::vector<CaseResult>> results;
  if (options.dry_run) {
    results = BuildEach(bench, cases, observer, diagnostics);
  } else if (auto contestants = BuildContestants(bench, cases, observer, left_out, diagnostics)) {
    results = RunContest(*contestants, options, observer, rounds);
  }
  if (!results) return std::nullopt;
  BenchResult result{.model = model.name.value,
                     .device = std::string(library->name()),
                     .infer = infer,
                     .threads = cases[0].compile.threads,
                     .steps_per_round = rounds.steps,
                     .rounds = rounds.count,
                     .dry_run = options.dry_run,
                     .cases = std::move(*results),
                     .left_out = std::move(left_out)};
  CompareTimes(result.cases);
  CompareLosses(result.cases);
  return result;
}

}  // namespace cgrun
