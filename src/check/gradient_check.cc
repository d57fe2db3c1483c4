// The part of ModelCheck that compares gradients with finite differences in f64.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/base/random.h"
#include "src/check/check_numbers.h"
#include "src/check/model_check.h"

namespace cgrun {
namespace {

// Relative. A step in many parameters at once crosses more kinks.
constexpr double kGradientTolerance = 1e-3, kSharedTolerance = 1e-2;
constexpr double kSmallestStep = 1e-8;
constexpr double kSteps[] = {1e-6, 1e-7, 1e-5, kSmallestStep};  // of parameters, relative
// A wrong gradient is wrong in every direction; a kink is in the way of only one.
constexpr int kDirections = 3;
// Where a loss bends or rounds too much, differences depend on the step. Two of them agree by
// chance now and then, but hardly in two directions.
constexpr int kSteadyDirections = 2;
constexpr double kSmallPart = 0.1;  // of what is lost in rounding: less says nothing

}  // namespace

std::vector<GradientCheck> ModelCheck::CheckGradients() {
  GoTo(0);
  const int64_t most = on_reference_ ? kReferenceFlops : kMostFlops;
  const auto count = static_cast<int64_t>(learned_.size());
  const int64_t groups =
      std::clamp<int64_t>(most / std::max<int64_t>(1, 2 * loss_flops_), 1, count);
  std::vector<GradientCheck> checks;
  for (int64_t g = 0; g < groups; ++g) {
    std::vector<size_t> group;
    const auto check = [&] {
      if (!group.empty()) checks.push_back(CheckGroup(group));
      group.clear();
    };
    for (int64_t i = g * count / groups; i < (g + 1) * count / groups; ++i) {
      const auto index = static_cast<size_t>(i);
      if (!group.empty() && learned_[group[0]].path != learned_[index].path) check();
      group.push_back(index);
    }
    check();
  }
  return checks;
}

// Moves the group's parameters by `step` in every element.
void ModelCheck::MoveAlong(const std::vector<size_t>& group, int direction, double step) {
  for (size_t index : group) {
    const Learned& learned = learned_[index];
    const HostTensor& start = states_[learned.state];
    HostTensor moved = start;
    const uint64_t key = RandomKey(static_cast<uint64_t>(direction), learned.name);
    const double scale = step * ScaleOf(start);
    for (int64_t e = 0; e < moved.elements(); ++e) {
      moved.Set(e, start.At(e) + scale * Sign(key, e));
    }
    engine_->WriteState(learned.state, moved);
  }
}

void ModelCheck::MoveBack(const std::vector<size_t>& group) {
  for (size_t index : group) {
    engine_->WriteState(learned_[index].state, states_[learned_[index].state]);
  }
}

// Returns the loss of the group's path with its parameters moved by ±step in every element.
double ModelCheck::LossAlong(const std::vector<size_t>& group, int direction, double step) {
  MoveAlong(group, direction, step);
  FeedBatch(*engine_, kLoss);
  engine_->Run(kLoss);
  MoveBack(group);
  const auto& results = engine_->model().entries[kLoss].results;
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].kind == OutputKind::kLoss && results[i].path == learned_[group[0]].path) {
      return ResultOf(*engine_, kLoss, static_cast<int>(i))[0];
    }
  }
  return std::numeric_limits<double>::quiet_NaN();
}

GradientCheck ModelCheck::CheckGroup(const std::vector<size_t>& group) {
  GradientCheck best;
  int steady = 0;  // directions whose differences can be believed
  for (int direction = 0; direction < kDirections && !best.good; ++direction) {
    GradientCheck check = CheckAlong(group, direction);
    steady += check.steady;
    if (direction == 0 || check.error < best.error) best = std::move(check);
  }
  best.steep = !best.good && std::isfinite(best.numeric + best.analytic) &&
               (steady < kSteadyDirections || IsSteep(group, best));
  return best;
}

// Returns the change of the loss for a step of 1 along the direction, as `gradients` predict it.
double ModelCheck::SlopeAlong(const std::vector<size_t>& group, int direction,
                              const std::map<std::string, std::vector<double>>& gradients) const {
  double slope = 0;
  for (size_t index : group) {
    const Learned& learned = learned_[index];
    const std::vector<double>& gradient = gradients.at(learned.key());
    const double scale = ScaleOf(states_[learned.state]);
    const uint64_t key = RandomKey(static_cast<uint64_t>(direction), learned.name);
    for (size_t e = 0; e < gradient.size(); ++e) {
      slope += gradient[e] * scale * Sign(key, static_cast<int64_t>(e));
    }
  }
  return slope;
}

// A gradient that is wrong is as wrong beside its place as there. One that is right and differs so
// much beside it belongs to a loss that bends within the step, as behind a batch norm of nearly
// equal numbers.
bool ModelCheck::IsSteep(const std::vector<size_t>& group, const GradientCheck& check) {
  const double here = SlopeAlong(group, 0, expected_);
  double most = 0;
  for (const double step : {kSmallestStep, -kSmallestStep}) {
    MoveAlong(group, 0, step);
    const double beside = SlopeAlong(group, 0, RunGradients().numbers);
    MoveBack(group);
    const double size = std::max(std::abs(here), std::abs(beside));
    if (size > 0) most = std::max(most, std::abs(beside - here) / size);
  }
  return most > check.tolerance;
}

GradientCheck ModelCheck::CheckAlong(const std::vector<size_t>& group, int direction) {
  GradientCheck check;
  const int path = learned_[group[0]].path;
  check.path = engine_->model().paths[static_cast<size_t>(path)].name;
  double size = 0;
  for (size_t index : group) {
    const Learned& learned = learned_[index];
    check.parameters.push_back(learned.name);
    const std::vector<double>& gradient = expected_.at(learned.key());
    const double scale = ScaleOf(states_[learned.state]);
    for (const double element : gradient) size += element * element * scale * scale;
  }
  check.analytic = SlopeAlong(group, direction, expected_);
  // Two losses that are known to `rounding_` differ by as much where nothing changes: divided by
  // the first step, that is within the tolerance. Smaller steps are for kinks, and get no more.
  const double floor =
      std::max(1e-2 * std::sqrt(size), rounding_.at(path) / (kSteps[0] * kGradientTolerance));
  check.error = std::numeric_limits<double>::infinity();
  check.numeric = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> differences;
  for (double step : kSteps) {
    const double difference =
        (LossAlong(group, direction, step) - LossAlong(group, direction, -step)) / (2 * step);
    const double largest = std::max({std::abs(difference), std::abs(check.analytic), floor});
    double error = largest > 0 ? std::abs(difference - check.analytic) / largest : 0;
    if (!std::isfinite(difference + check.analytic)) {
      error = std::numeric_limits<double>::infinity();
    }
    for (const double other : differences) {
      const double most = std::max(std::abs(difference), std::abs(other));
      check.steady |=
          most > kSmallPart * floor && std::abs(difference - other) <= kGradientTolerance * most;
    }
    differences.push_back(difference);
    if (error < check.error) {
      check.error = error;
      check.numeric = difference;
    }
    if (check.error <= kGradientTolerance) break;
  }
  check.tolerance = group.size() == 1 ? kGradientTolerance : kSharedTolerance;
  check.good = check.error <= check.tolerance;
  return check;
}

}  // namespace cgrun
