// Ctrl-C, SIGTERM and SIGHUP: the exit status is 130 for all. A run is asked to stop after its
// step. If the step takes long, or a second signal comes, the program ends at once, and the last
// checkpoint is what is left. SIGUSR1 asks for a checkpoint.
#ifndef CGRUN_CLI_SIGNALS_H_
#define CGRUN_CLI_SIGNALS_H_

#include <string>

#include "src/train/session.h"

namespace cgrun {

// From now on SIGINT, SIGTERM and SIGHUP end the program at once, and a SIGUSR1 waits for the run
// to begin.
void ExitOnInterrupts();

// From now on a run is told: by the first signal to stop. Two seconds after it, unless the run is
// saving then, or by a second signal the program ends; it prints the step of the last checkpoint
// and `resume`, the command that goes on from there ("": it prints nothing).
RunSignals WatchSignals(const std::string& resume);

// The run has ended: what it asked for is done, and nothing ends the program any more but a signal.
void RunHasEnded();

}  // namespace cgrun

#endif  // CGRUN_CLI_SIGNALS_H_
