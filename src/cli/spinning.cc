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

// Whether a file is what was asked to be run: not the loader, where that was called with the
// program as its argument.
bool IsThisProgram(const char* path) {
  const auto* started = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  struct stat file = {}, program = {};
  return started != nullptr && stat(path, &file) == 0 && stat(started, &program) == 0 &&
         file.st_dev == program.st_dev && file.st_ino == program.st_ino;
}

}  // namespace

void RestartWithLessSpinning(char** argv) {
  for (const char* name : {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}) {
    if (std::getenv(name) != nullptr) return;
  }
  if (setenv("GOMP_SPINCOUNT", kSpins, /*overwrite=*/1) != 0) return;
  if (IsThisProgram("/proc/self/exe")) execv("/proc/self/exe", argv);
}

}  // namespace cgrun
