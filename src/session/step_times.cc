#include "src/session/step_times.h"

#include <algorithm>
#include <cmath>

namespace cgrun {
namespace {

constexpr double kShortest = 1e-6;   // seconds: the first class ends there
constexpr double kRatio = 1.2;       // of a class's bounds
constexpr double kLeastSeconds = 1;  // of all steps: less tells nothing
constexpr int64_t kLeastSteps = 50;
constexpr double kQuick = 0.1;  // of the steps, those that show what the machine can do
constexpr double kOften = 0.1;  // of the steps, as many have to be slow
constexpr double kSlow = 3;     // times the quick ones; those of a quiet machine take less

}  // namespace

void StepTimes::Add(double seconds) {
  const double place = std::log(std::max(seconds, kShortest) / kShortest) / std::log(kRatio);
  counts_[std::min(static_cast<size_t>(place), kClasses - 1)] += 1;
  ++steps_;
  seconds_ += seconds;
}

double StepTimes::Slowdown() const {
  if (steps_ < kLeastSteps || seconds_ < kLeastSeconds) return 0;
  const auto steps = static_cast<double>(steps_);
  double quick = 0;
  int64_t seen = 0, slow = 0;
  for (size_t i = 0; i < kClasses; ++i) {
    const double bound = kShortest * std::pow(kRatio, static_cast<double>(i + 1));
    seen += counts_[i];
    if (quick == 0 && static_cast<double>(seen) >= kQuick * steps) quick = bound;
    if (quick > 0 && bound > kSlow * quick) slow += counts_[i];
  }
  const double slowdown = seconds_ / steps / quick;
  const bool often = static_cast<double>(slow) >= kOften * steps;
  return often && slowdown >= kSlow ? slowdown : 0;
}

}  // namespace cgrun
