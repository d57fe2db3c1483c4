// Signal handlers.
#include "src/cli/signals.h"

#include <unistd.h>

#include <csignal>
#include <initializer_list>

#include "src/cli/command.h"

namespace cgrun {
namespace {

volatile std::sig_atomic_t interrupted = 0;
volatile std::sig_atomic_t checkpoint_wanted = 0;

void Exit(int) { _exit(kInterrupted); }

void StopOrExit(int) {
  if (interrupted != 0) _exit(kInterrupted);
  interrupted = 1;
}

void WantCheckpoint(int) { checkpoint_wanted = 1; }

// A SIGHUP that is ignored stays so: `nohup` asks for that. A SIGINT does not: a shell without job
// control ignores it for all that it runs in the background, where `kill -INT` is still to work.
void Install(void (*handler)(int), std::initializer_list<int> signals) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  for (int signal : signals) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (signal != SIGHUP || before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
}

}  // namespace

void ExitOnInterrupts() {
  // Past a limit on the size of files (`ulimit -f`) a write fails then, which is told.
  std::signal(SIGXFSZ, SIG_IGN);
  Install(Exit, {SIGINT, SIGTERM, SIGHUP});
  Install(WantCheckpoint, {SIGUSR1});
}

RunSignals WatchSignals() {
  Install(StopOrExit, {SIGINT, SIGTERM, SIGHUP});
  return {&interrupted, &checkpoint_wanted};
}

}  // namespace cgrun
