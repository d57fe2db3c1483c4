// Tells whether `early_stop` has ended a run, and how.
#include <algorithm>
#include <string>

#include "src/session/session_parts.h"

namespace cgrun {
namespace {

// Returns whether the number of an evaluation only approximates what it is called.
bool Approximates(const SessionParts& session, const std::string& name) {
  return std::ranges::any_of(session.data.evaluations, [&](const Split& split) {
    return std::ranges::any_of(split.runner->Means(), [&](const NamedNumber& mean) {
      return mean.name == name && mean.approximate;
    });
  });
}

}  // namespace

bool IsStopped(const SessionParts& session, const RunState& state) {
  return session.watched.stopping &&
         state.stopping.evaluations_since >= session.model.train->early_stop->patience.value;
}

EarlyStop DescribeStop(const SessionParts& session, const RunState& state) {
  const auto& [value, since] = state.stopping;
  const int64_t per_epoch = std::max<int64_t>(1, session.length.accumulation.steps_per_epoch());
  const auto& asked = session.model.train->eval_every;
  const int64_t every = asked ? asked->value : per_epoch;
  // The last evaluation was after the last step, whether it was due or not; those before were due.
  const int64_t last = (state.step + every - 1) / every;
  const int64_t best = since == 0 ? state.step : std::max<int64_t>(0, last - since) * every;
  const std::string& metric = session.watched.stopping->name;
  const WeightsPlace place = {best, (best + per_epoch - 1) / per_epoch};
  return {metric, value, since, place, Approximates(session, metric)};
}

}  // namespace cgrun
