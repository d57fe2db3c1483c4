// Ctrl-C, SIGTERM and SIGHUP: the exit status is 130 for all. A run is asked to stop after its
// step; a second one ends it at once. SIGUSR1 asks for a checkpoint.
#ifndef CGRUN_CLI_SIGNALS_H_
#define CGRUN_CLI_SIGNALS_H_

#include "src/train/session.h"

namespace cgrun {

// From now on SIGINT, SIGTERM and SIGHUP end the program at once, and a SIGUSR1 waits for the run
// to begin.
void ExitOnInterrupts();

// From now on a run is told: by the first signal to stop, while the second one ends the program.
RunSignals WatchSignals();

}  // namespace cgrun

#endif  // CGRUN_CLI_SIGNALS_H_
