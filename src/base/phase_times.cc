// One collector a thread, which the timers find.
#include "src/base/phase_times.h"

#include <time.h>

#include <algorithm>

#include "src/base/check.h"

namespace cgrun {
namespace {

thread_local PhaseTimes* asked = nullptr;

}  // namespace

double ThreadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

PhaseTimes::PhaseTimes() {
  CGRUN_CHECK(asked == nullptr) << "two ask for the times of one thread";
  asked = this;
}

PhaseTimes::~PhaseTimes() { asked = nullptr; }

void PhaseTimes::Enter(std::string_view name) {
  Count();
  const auto found = std::ranges::find(phases_, name, &Phase::name);
  open_.push_back(static_cast<size_t>(found - phases_.begin()));
  if (found == phases_.end()) phases_.push_back({std::string(name)});
}

void PhaseTimes::Leave() {
  Count();
  open_.pop_back();
}

void PhaseTimes::Count() {
  const double now = ThreadSeconds();
  if (!open_.empty()) phases_[open_.back()].seconds += now - counted_until_;
  counted_until_ = now;
}

PhaseTimer::PhaseTimer(std::string_view name) : times_(asked) {
  if (times_ != nullptr) times_->Enter(name);
}

PhaseTimer::~PhaseTimer() {
  if (times_ != nullptr) times_->Leave();
}

}  // namespace cgrun
