// Signal handlers.
#include "src/cli/signals.h"

#include <unistd.h>

#include "src/cli/command.h"

namespace cgrun {
namespace {

volatile std::sig_atomic_t interrupted = 0;

void Exit(int) { _exit(kInterrupted); }

void StopOrExit(int) {
  if (interrupted != 0) _exit(kInterrupted);
  interrupted = 1;
}

void Install(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

void ExitOnInterrupts() { Install(Exit); }

const volatile std::sig_atomic_t* WatchInterrupts() {
  Install(StopOrExit);
  return &interrupted;
}

}  // namespace cgrun
