// Zeros are kept, so that no pass allocates them.
#include "src/run/recurrent_states.h"

namespace cgrun {

RecurrentStates::RecurrentStates(const Engine& engine) {
  const std::vector<EngineState>& states = engine.model().states;
  for (size_t i = 0; i < states.size(); ++i) {
    if (states[i].role != Role::kRecurrentState) continue;
    states_.push_back(
        {i, IsOwnState(states[i].name), HostTensor(states[i].type.dtype, states[i].type.shape)});
  }
}

void RecurrentStates::Reset(Engine& engine, bool own) const {
  for (const State& state : states_) {
    if (state.own == own) engine.WriteState(state.index, state.zeros);
  }
}

int64_t RecurrentStates::bytes() const {
  int64_t bytes = 0;
  for (const State& state : states_) bytes += static_cast<int64_t>(state.zeros.bytes().size());
  return bytes;
}

}  // namespace cgrun
