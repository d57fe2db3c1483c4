#include "src/search/trial_runner.h"

#include <chrono>
#include <filesystem>
#include <limits>
#include <utility>

#include "src/base/allocation_counter.h"
#include "src/device/cpu.h"
#include "src/io/checksum.h"
#include "src/run/checkpoint.h"
#include "src/run/run_folder.h"
#include "src/run/watched_number.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

constexpr size_t kCurveRoom = 1024;  // evaluations of a unit, before the curve has to grow

// Notes the metric of `valid` after each evaluation, and ends the run after its last step.
class RungObserver final : public RunObserver {
 public:
  // `last_step`: 0 where the model ends the run.
  RungObserver(std::string metric, int64_t last_step, const RunSignals& signals)
      : metric_(std::move(metric)), last_step_(last_step), signals_(signals) {
    curve_.reserve(kCurveRoom);
  }

  void OnStep(const StepReport&) override { LookAtSignals(); }
  void OnEvaluationStep(const StepReport&) override { LookAtSignals(); }
  void OnEpoch(const EpochReport& report) override {
    for (const PassResult& pass : report.evaluations) {
      if (!pass.measured() || pass.split != "valid") continue;
      const WatchedNumber metric{metric_};
      curve_.push_back(metric.In(pass.means));
    }
    if (last_step_ > 0 && report.step >= last_step_) stop_ = 1;
  }

  RunSignals signals() const {
    RunSignals signals = signals_;
    signals.stop = &stop_;
    return signals;
  }
  bool is_interrupted() const { return is_interrupted_; }
  std::vector<double>& curve() { return curve_; }

 private:
  void LookAtSignals() {
    if (signals_.stop == nullptr || *signals_.stop == 0) return;
    is_interrupted_ = true;
    stop_ = 1;
  }

  const std::string metric_;
  const int64_t last_step_;
  const RunSignals signals_;
  std::vector<double> curve_;
  volatile std::sig_atomic_t stop_ = 0;
  bool is_interrupted_ = false;
};

// Makes the folder of a trial that begins, or clears that of one that goes on of what a killed
// process had begun.
void PrepareFolder(const std::string& folder, const Unit& unit, const ModelSpec& model,
                   const RunSettings& settings) {
  std::error_code error;
  if (unit.from_step > 0) return RemoveTemporaries(folder);
  fs::remove_all(folder, error);
  fs::create_directories(folder, error);
  if (error) throw UserError("cannot make the folder '" + folder + "': " + error.message());
  WriteRunSettings(folder, settings);
  WriteModelFile(folder, model);
}

RunSettings SettingsOf(const SessionOptions& options) {
  RunSettings settings;
  settings.device = options.device;
  settings.threads = options.compile.threads;
  settings.streams = options.compile.streams;
  return settings;
}

std::string CheckpointOf(const std::string& folder, int64_t step) {
  return step == 0 ? "" : folder + "/checkpoint-" + std::to_string(step) + ".safetensors";
}

// The first error, with its help.
std::string ErrorText(const Diagnostics& diagnostics) {
  for (const Diagnostic& item : diagnostics.Sorted()) {
    if (item.severity == Severity::kError) return item.message;
  }
  return "the model cannot be trained";
}

}  // namespace

std::string TrialFolder(const std::string& search_folder, int64_t trial) {
  return search_folder + "/trials/" + std::to_string(trial + 1);
}

TrialRunner::TrialRunner(const SearchSpec& search, const Space& space,
                         const std::vector<Assignment>& common, const TrialPlace& place,
                         SharedData& data, std::string folder)
    : search_(search),
      space_(space),
      common_(common),
      place_(place),
      data_(data),
      folder_(std::move(folder)) {}

void TrialRunner::KeepHeap(int64_t bytes) {
  if (!device_) device_ = OpenDevice(place_.device);
  cgrun::KeepHeap(*device_, bytes);
}

UnitResult TrialRunner::Run(const Unit& unit, const RunSignals& signals) {
  const auto start = std::chrono::steady_clock::now();
  UnitResult result;
  result.trial = unit.trial;
  result.rung = unit.rung;
  try {
    KeepHeap(unit.plan.arena);
    Train(unit, signals, result);
  } catch (const RunStopped&) {
    result.interrupted = true;
  } catch (const UserError& error) {
    result.failure = error.what();
  }
  ReleaseFreeMemory();
  result.resident = ResidentBytes();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

void TrialRunner::Train(const Unit& unit, const RunSignals& signals, UnitResult& result) {
  Diagnostics diagnostics;
  auto model = ModelOf(search_, space_, unit.settings, common_, place_.expand, diagnostics);
  const auto data = model ? data_.Open(*model, diagnostics) : nullptr;
  if (!data) throw UserError(ErrorText(diagnostics));
  if (place_.initial_weights) model->initial_weights = place_.initial_weights(*model);
  const std::string folder = TrialFolder(folder_, unit.trial);
  SessionOptions options;
  options.device = place_.device;
  options.compile = OptionsOf(place_, *model, unit.plan);
  options.checkpoint = CheckpointOf(folder, unit.from_step);
  options.evaluate = {"valid"};
  options.limits = HostLimits{};  // the plan has kept those of this process
  options.shared_device = device_;
  options.data = data.get();
  PrepareFolder(folder, unit, *model, SettingsOf(options));
  // The unit ends with a checkpoint, which is enough: no other one is gone back to.
  const int64_t never = std::numeric_limits<int64_t>::max();
  model->train->checkpoint_every = Marked<int64_t>{never, {}};
  model->train->keep_last = Marked<int64_t>{2, {}};  // that of the rung before stays meanwhile
  Session session(*model, options, /*train=*/true, diagnostics);
  if (!session.ready()) throw UserError(ErrorText(diagnostics));
  const auto metric = FindWatchedNumber(*model, search_.metric.name, diagnostics);
  RungObserver observer(metric ? metric->name : "", unit.until_epoch * session.steps_per_epoch(),
                        signals);
  const TrainResult trained = session.Train(folder, observer, observer.signals());
  WriteSummary(folder, SummaryJson(trained));
  result.interrupted = observer.is_interrupted() && trained.interrupted;
  result.curve = std::move(observer.curve());
  result.epochs = trained.epochs;
  result.step = trained.steps;
  result.is_over = !trained.interrupted;
  result.weights = HashText(trained.weights_hash);
}

}  // namespace cgrun
