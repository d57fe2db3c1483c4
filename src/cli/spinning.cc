// The environment, and execv.
#include "src/cli/spinning.h"

#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <initializer_list>

namespace cgrun {
namespace {

// Some 20 to 50 µs, more than lies between two parallel regions of a step: on a quiet machine
// nothing sleeps between them.
constexpr const char* kSpins = "2000";

// What was asked to be run, where that is this program, and not the loader, called with the program
// as its argument; else null.
const char* StartedAs() {
  const auto* started = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  struct stat file = {}, program = {};
  const bool same = started != nullptr && stat("/proc/self/exe", &program) == 0 &&
                    stat(started, &file) == 0 && file.st_dev == program.st_dev &&
                    file.st_ino == program.st_ino;
  return same ? started : nullptr;
}

}  // namespace

void RestartWithLessSpinning(char** argv) {
  for (const char* name : {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}) {
    if (std::getenv(name) != nullptr) return;
  }
  if (setenv("GOMP_SPINCOUNT", kSpins, /*overwrite=*/1) != 0) return;
  // By the name that it was started with: the system calls the process so, for `pgrep` and `top`.
  if (const char* program = StartedAs()) execv(program, argv);
}

}  // namespace cgrun
