// The recurrent states of an engine, and the zeros that they begin with.
#ifndef CGRUN_RUN_RECURRENT_STATES_H_
#define CGRUN_RUN_RECURRENT_STATES_H_

#include <cstdint>
#include <vector>

#include "src/base/host_tensor.h"
#include "src/run/engine.h"

namespace cgrun {

class RecurrentStates {
 public:
  RecurrentStates() = default;
  explicit RecurrentStates(const Engine& engine);

  // Training begins each epoch with zeros, evaluations each pass. Neither touches the other's
  // states, nor allocates.
  void ResetTraining(Engine& engine) const { Reset(engine, false); }
  void ResetEvaluation(Engine& engine) const { Reset(engine, true); }
  // Host memory.
  int64_t bytes() const;

 private:
  struct State {
    size_t index;  // of the engine's
    bool own;      // of evaluations
    HostTensor zeros;
  };
  void Reset(Engine& engine, bool own) const;

  std::vector<State> states_;
};

}  // namespace cgrun

#endif  // CGRUN_RUN_RECURRENT_STATES_H_
