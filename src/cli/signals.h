// Ctrl-C, SIGTERM and SIGHUP: the exit status is 130 for all. A run is asked to stop after its
// step. If the step takes long, it ends between two operators, and the last checkpoint is what is
// left. If an operator takes long, or a second signal comes, the program ends at once. SIGPIPE, of
// output that nobody reads any more, asks a run to stop, too. SIGUSR1 asks for a checkpoint.
#ifndef CGRUN_CLI_SIGNALS_H_
#define CGRUN_CLI_SIGNALS_H_

#include <sys/types.h>

#include <string>

#include "src/session/session.h"

namespace cgrun {

// From now on SIGINT, SIGTERM and SIGHUP end the program at once, and a SIGUSR1 waits for the run
// to begin.
void ExitOnInterrupts();

// From now on the first signal asks the run to stop, and to stop within its step two seconds later.
// Three seconds after that, unless the run is saving, or by a second signal the program ends, with
// TellLostStep(). `resume`: the command that goes on with the run; "": nothing is told.
RunSignals WatchSignals(const std::string& resume);

// While it lives, a signal that ends the program also ends a child process and removes its file.
class EndsWithProgram {
 public:
  // `file` outlives it.
  EndsWithProgram(pid_t child, const std::string& file);
  ~EndsWithProgram();
  EndsWithProgram(const EndsWithProgram&) = delete;
  EndsWithProgram& operator=(const EndsWithProgram&) = delete;
};

// Says on standard error of which step the last checkpoint is, and what goes on from there. Safe in
// a signal handler.
void TellLostStep();

// The run has ended: what it asked for is done, and nothing ends the program any more but a signal.
void RunHasEnded();

}  // namespace cgrun

#endif  // CGRUN_CLI_SIGNALS_H_
