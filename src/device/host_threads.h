// Chooses the number of threads for the kernels of a host device where the user does not say.
#ifndef CGRUN_DEVICE_HOST_THREADS_H_
#define CGRUN_DEVICE_HOST_THREADS_H_

#include <string>

namespace cgrun {

struct HostThreadCount {
  int threads = 1;
  std::string reason;  // the source of the number: "OMP_NUM_THREADS is 2"
};

// The least of the processors in the mask of the process, the quota of its control groups, rounded
// up, and the environment's OMP_THREAD_LIMIT and OMP_NUM_THREADS.
HostThreadCount CountHostThreads();

// The same of given limits; `omp_num_threads` is the variable's text, or null.
HostThreadCount CountThreads(int mask, double quota, int omp_thread_limit,
                             const char* omp_num_threads);

// The processors that the process may use at once, by its mask and its quota alone.
int HostProcessors();

}  // namespace cgrun

#endif  // CGRUN_DEVICE_HOST_THREADS_H_
