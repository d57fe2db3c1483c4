// The second half of ModelCheck: a device's results against those of the f64 engine.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/base/random.h"
#include "src/check/check_numbers.h"
#include "src/check/model_check.h"

namespace cgrun {
namespace {

// Says how far a device may be off. A gradient may be off by `gradients`. If the network is more
// sensitive, it may be off by a multiple of the change that one unit in the last place makes in
// f64, but never by more than `most_of_gradients`.
struct Tolerances {
  double results, gradients, most_of_gradients;
};
constexpr Tolerances kOfF32 = {1e-3, 2e-3, 5e-2}, kOfTF32 = {5e-3, 1e-2, 0.1},
                     kOfBF16 = {3e-2, 5e-2, 0.5};

const Tolerances& TolerancesOf(const CompileOptions& options) {
  if (options.bf16_activations) return kOfBF16;
  return options.tf32 ? kOfTF32 : kOfF32;
}

std::string RoundingText(const CompileOptions& options) {
  const std::string text = "rounding to ", end = " changes what this network's gradients are";
  if (options.bf16_activations) return text + "bf16" + end + "; f32 can be checked";
  if (options.tf32) return text + "TF32" + end + "; f32 can be checked";
  return text + "f32" + end + ": the loss is far too steep for it with these parameters";
}
constexpr double kOfSensitivity = 8;

// An f32 sum of terms that are themselves rounded is known to so many units in the last place of
// Σ|term|. In front of a batch norm, a sum is off by 0.1 to 2 of them.
constexpr double kUnitsOfTerms = 16;
constexpr double kTF32Epsilon = 0x1p-10;  // of terms that are products of rounded factors: one

// A wrong gradient is wrong at every point; a kink is in the way at only one.
constexpr int kPoints = 3;

}  // namespace

// The size below which differences of a gradient count no more: gradients far below the others' are
// rounding, and so is one whose terms cancel each other out, such as that of a bias in front of a
// batch norm.
double ModelCheck::GradientFloor(const std::string& key) const {
  if (options_.bf16_activations) return 5e-2 * gradient_scale_;
  const auto found = term_sizes_.find(key);
  const double terms = found == term_sizes_.end() ? 0 : found->second;
  if (options_.tf32) {
    return std::max(1e-2 * gradient_scale_, kTF32Epsilon * terms / kOfTF32.gradients);
  }
  const double rounding = kUnitsOfTerms * std::numeric_limits<float>::epsilon() * terms;
  return std::max(1e-3 * gradient_scale_, rounding / kOfF32.gradients);
}

DeviceCheck ModelCheck::CheckDevice(const std::string& name) {
  DeviceCheck check;
  check.device = name;
  if (name == "reference" && !on_reference_) {
    check.skipped = "its plain loops would take minutes for this model";
    return check;
  }
  const KernelLibrary* library = FindKernelLibrary(name);
  if (library == nullptr) {
    check.skipped = "not in this build";
    return check;
  }
  return CheckLibrary(name, *library);
}

DeviceCheck ModelCheck::CheckLibrary(const std::string& name, const KernelLibrary& library) {
  DeviceCheck check;
  check.device = name;
  try {
    Compare(name, library, check);
  } catch (const UserError& error) {  // no such device here, or too little memory
    check.skipped = error.what();
  }
  return check;
}

// Compares at one point after the other, until nothing is left that differs at all of them.
void ModelCheck::Compare(const std::string& name, const KernelLibrary& library,
                         DeviceCheck& check) {
  CompileOptions options = options_;
  if (name == "reference") options.threads = 1;
  Diagnostics diagnostics;
  const std::unique_ptr<Device> device = OpenDevice(name);
  const auto engine = BuildEngine(model_, {{"train", EntryKind::kTrain, batch_}}, Mode::kGraph,
                                  options, {library, *device, communicator_}, diagnostics);
  if (engine == nullptr) {
    check.skipped = diagnostics.ToString();
    return;
  }
  std::map<std::string, DeviceError> errors;
  for (int point = 0; point < kPoints && !check.good; ++point) {
    GoTo(point);
    CompareHere(*engine, errors);
    Judge(errors, check);
  }
  if (!check.good && IsRoundingAlone(errors)) {
    check.skipped = RoundingText(options_);
    return;
  }
  std::set<std::string> compared;
  for (const auto& [key, result] : errors) compared.insert(key);
  check.missing = NamesNotIn(compared, expected_);
  check.good = check.good && check.missing.empty();
}

// Returns whether all that is off are gradients that one unit in the last place of the parameters
// changes by more than any device may be off.
bool ModelCheck::IsRoundingAlone(const std::map<std::string, DeviceError>& errors) const {
  return std::ranges::all_of(errors, [&](const auto& item) {
    const DeviceError& result = item.second;
    const bool unknown = result.tolerance >= TolerancesOf(options_).most_of_gradients;
    return result.good || (unknown && std::isfinite(result.error));
  });
}

// All results of a step with the oracle's parameters, each of whose elements is moved by a part of
// itself, up or down.
std::vector<std::vector<double>> ModelCheck::ResultsBeside(Engine& engine, double part) {
  for (size_t i = 0; i < engine.model().states.size(); ++i) {
    const EngineState& state = engine.model().states[i];
    const auto& wide = engine_->model().states;
    const auto same = std::ranges::find(wide, state.name, &EngineState::name);
    if (same == wide.end()) continue;  // of the optimizer
    HostTensor tensor(state.type.dtype, state.type.shape);
    const HostTensor& start = states_[static_cast<size_t>(same - wide.begin())];
    const uint64_t key = RandomKey(0, state.name);
    for (int64_t e = 0; e < tensor.elements(); ++e) {
      tensor.Set(e, start.At(e) * (1 + part * Sign(key, e)));
    }
    engine.WriteState(i, tensor);
  }
  FeedBatch(engine, 0);
  engine.Run(0);
  std::vector<std::vector<double>> results;
  for (size_t i = 0; i < engine.model().entries[0].results.size(); ++i) {
    results.push_back(ResultOf(engine, 0, static_cast<int>(i)));
  }
  return results;
}

void ModelCheck::CompareHere(Engine& engine, std::map<std::string, DeviceError>& errors) {
  const Tolerances& allowed = TolerancesOf(options_);
  const std::vector<std::vector<double>> here = ResultsBeside(engine, 0);
  std::optional<std::vector<std::vector<double>>> beside;  // if it is worth a run to know
  const auto& results = engine.model().entries[0].results;
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string key = KeyOf(results[i].name, results[i].path);
    const auto expected = expected_.find(key);
    if (expected == expected_.end()) continue;
    const bool gradient = results[i].kind == OutputKind::kKept;
    const double floor = gradient ? GradientFloor(key) : 1e-6;
    DeviceError now{results[i].name, 0, gradient ? allowed.gradients : allowed.results, false};
    now.error = ErrorOf(here[i], expected->second, floor);
    if (now.error > now.tolerance) {
      if (!beside) beside = ResultsBeside(engine, LastPlace());
      const double own = ErrorOf((*beside)[i], here[i], floor);  // the effect of rounding on it
      const double sensitivity = std::max(Sensitivity(), std::isfinite(own) ? own : 0);
      now.tolerance = std::clamp(kOfSensitivity * sensitivity, now.tolerance,
                                 std::max(now.tolerance, allowed.most_of_gradients));
    }
    now.good = now.error <= now.tolerance;
    const auto [known, is_new] = errors.try_emplace(key, now);
    if (is_new) continue;
    if (now.error / now.tolerance < known->second.error / known->second.tolerance) {
      known->second.error = now.error;
      known->second.tolerance = now.tolerance;
    }
    known->second.good = known->second.good || now.good;
  }
}

void ModelCheck::Judge(const std::map<std::string, DeviceError>& errors, DeviceCheck& check) {
  check.good = true;
  check.compared = 0;
  for (const auto& [key, result] : errors) {
    check.good = check.good && result.good;
    const bool worse = result.error / result.tolerance > check.error / check.tolerance;
    if (check.compared++ > 0 && !worse) continue;
    check.error = result.error;
    check.tolerance = result.tolerance;
    check.worst = result.name;
  }
}

}  // namespace cgrun
