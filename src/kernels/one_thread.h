// Keeps what a library does on the calling thread.
#ifndef CGRUN_KERNELS_ONE_THREAD_H_
#define CGRUN_KERNELS_ONE_THREAD_H_

#include <omp.h>

namespace cgrun {

// While it lives, libraries that ask OpenMP for the size of a thread team get 1 on this thread, if
// `single_threaded`. Inside a thread team they get that anyway.
class OneThread {
 public:
  explicit OneThread(bool single_threaded) {
    if (!single_threaded || omp_in_parallel() || omp_get_max_threads() == 1) return;
    before_ = omp_get_max_threads();
    omp_set_num_threads(1);
  }
  ~OneThread() {
    if (before_ > 0) omp_set_num_threads(before_);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_ = 0;  // the size of teams; 0: it was not changed
};

}  // namespace cgrun

#endif  // CGRUN_KERNELS_ONE_THREAD_H_
