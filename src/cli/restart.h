// What libraries are to know before main(), which they read from the environment.
#ifndef CGRUN_CLI_RESTART_H_
#define CGRUN_CLI_RESTART_H_

namespace cgrun {

// Starts this program anew, if something is to be set that the user has not set. Does nothing where
// that fails. `argv` is main()'s.
//
// GOMP_SPINCOUNT (unless OMP_WAIT_POLICY is set): by default a thread that waits at a barrier spins
// for milliseconds; where another program has one of the processors, it so keeps the thread that it
// waits for from running, and a step of a small model takes 50 times as long.
void RestartForLibraries(char** argv);

}  // namespace cgrun

#endif  // CGRUN_CLI_RESTART_H_
