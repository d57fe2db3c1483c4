// How long threads of OpenMP spin before they sleep.
#ifndef CGRUN_CLI_SPINNING_H_
#define CGRUN_CLI_SPINNING_H_

namespace cgrun {

// Starts this program anew with GOMP_SPINCOUNT, unless the user has set it or OMP_WAIT_POLICY: the
// library reads it before main(). By default a thread that waits at a barrier spins for
// milliseconds; where another program has one of the processors, it so keeps the thread that it
// waits for from running, and a step of a small model takes 50 times as long. Does nothing where
// that fails. `argv` is main()'s.
void RestartWithLessSpinning(char** argv);

}  // namespace cgrun

#endif  // CGRUN_CLI_SPINNING_H_
