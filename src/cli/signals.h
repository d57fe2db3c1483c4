// Ctrl-C and SIGTERM: the exit status is 130. A run is asked to stop after its step; a second one
// ends it at once.
#ifndef CGRUN_CLI_SIGNALS_H_
#define CGRUN_CLI_SIGNALS_H_

#include <csignal>

namespace cgrun {

// From now on a signal ends the program at once.
void ExitOnInterrupts();

// From now on the first signal turns the result from 0, and the second one ends the program.
const volatile std::sig_atomic_t* WatchInterrupts();

}  // namespace cgrun

#endif  // CGRUN_CLI_SIGNALS_H_
