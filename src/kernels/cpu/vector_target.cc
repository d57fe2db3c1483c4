// Asks Highway for the best instruction set of targets.h that this processor has.
#include "src/kernels/cpu/vector_target.h"

#include "src/kernels/cpu/targets.h"
//
#include "src/kernels/cpu/highway_target.h"

namespace cgrun::cpu {
namespace {

// The answer is kept: tests that disable instruction sets do so before anything asks.
int64_t Usable() {
  static const int64_t usable = hwy::SupportedTargets() & HWY_TARGETS;
  return usable;
}

}  // namespace

bool HasVectorTarget() { return Usable() != 0; }

std::string VectorTarget() {
  const int64_t usable = Usable();
  if (usable == 0) return "no vectors";
  return "Highway " + std::to_string(HWY_MAJOR) + "." + std::to_string(HWY_MINOR) + "." +
         std::to_string(HWY_PATCH) + " " + hwy::TargetName(usable & -usable);  // the best is first
}

}  // namespace cgrun::cpu
