// Libraries read settings from the environment before main().
#ifndef CGRUN_CLI_RESTART_H_
#define CGRUN_CLI_RESTART_H_

namespace cgrun {

// Starts this program anew, if something is to be set that the user has not set. Does nothing where
// that fails. `argv` is main()'s.
//
// Sets GOMP_SPINCOUNT, unless OMP_WAIT_POLICY is set. By default, a thread that waits at a barrier
// spins for milliseconds. If another program has one of the processors, the spinning thread keeps
// the thread that it waits for from running. A step of a small model then takes 50 times as long.
void RestartForLibraries(char** argv);

}  // namespace cgrun

#endif  // CGRUN_CLI_RESTART_H_
