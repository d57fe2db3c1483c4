// Signals belong to the program's own threads.
#ifndef CGRUN_BASE_BLOCK_SIGNALS_H_
#define CGRUN_BASE_BLOCK_SIGNALS_H_

#include <signal.h>

namespace cgrun {

// Threads that are started while one of these lives take no signals.
class BlockSignals {
 public:
  BlockSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockSignals(const BlockSignals&) = delete;
  BlockSignals& operator=(const BlockSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace cgrun

#endif  // CGRUN_BASE_BLOCK_SIGNALS_H_
