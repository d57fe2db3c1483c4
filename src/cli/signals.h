// Ctrl-C and SIGTERM ask a run to stop after its step; a second one ends it at once.
#ifndef CGRUN_CLI_SIGNALS_H_
#define CGRUN_CLI_SIGNALS_H_

#include <csignal>

namespace cgrun {

// Installs the handlers; the result turns from 0 when a signal came.
const volatile std::sig_atomic_t* WatchInterrupts();

}  // namespace cgrun

#endif  // CGRUN_CLI_SIGNALS_H_
