// The environment, and execv.
#include "src/cli/spinning.h"

#include <unistd.h>

#include <cstdlib>
#include <initializer_list>

namespace cgrun {
namespace {

// Some 20 to 50 µs, more than lies between two parallel regions of a step: on a quiet machine
// nothing sleeps between them.
constexpr const char* kSpins = "2000";

}  // namespace

void RestartWithLessSpinning(char** argv) {
  for (const char* name : {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}) {
    if (std::getenv(name) != nullptr) return;
  }
  if (setenv("GOMP_SPINCOUNT", kSpins, /*overwrite=*/1) != 0) return;
  execv("/proc/self/exe", argv);
}

}  // namespace cgrun
