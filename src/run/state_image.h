// StateImage keeps the states of an engine at one moment, to go back to.
#ifndef CGRUN_RUN_STATE_IMAGE_H_
#define CGRUN_RUN_STATE_IMAGE_H_

#include <cstdint>

#include "src/base/mapped_bytes.h"
#include "src/run/engine.h"

namespace cgrun {

class StateImage {
 public:
  // Copies the states, those of optimizers included.
  explicit StateImage(Engine& engine);

  // Gives the engine, which is the same, those states again. In graph mode this is one copy for
  // each stretch of states in the arena. Does not allocate there.
  void Restore(Engine& engine) const;
  int64_t bytes() const { return std::ssize(copy_.bytes()); }

 private:
  MappedBytes copy_;
};

}  // namespace cgrun

#endif  // CGRUN_RUN_STATE_IMAGE_H_
