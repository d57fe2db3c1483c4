// The limits on threads are applied one after another.
#include "src/device/host_threads.h"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <utility>

#include "src/device/control_group.h"
#include "src/device/device.h"

namespace cgrun {
namespace {

constexpr int kNoLimit = std::numeric_limits<int>::max();

// The first number of "4,2", which is for the outermost team; no limit where it is none, as OpenMP
// has it.
int FirstNumber(const char* text) {
  const long number = text == nullptr ? 0 : std::strtol(text, nullptr, 10);
  return number > 0 && number < kNoLimit ? static_cast<int>(number) : kNoLimit;
}

}  // namespace

HostThreadCount CountThreads(int mask, double quota, int omp_thread_limit,
                             const char* omp_num_threads) {
  HostThreadCount count = {mask, "the processors that the process may run on"};
  const auto limit = [&](int threads, std::string reason) {
    if (threads < count.threads) count = {threads, std::move(reason)};
  };
  if (std::isfinite(quota)) {
    const double threads = std::clamp<double>(std::ceil(quota), 1, kNoLimit);
    std::ostringstream reason;
    reason.precision(3);
    reason << "the quota of the control group is " << quota << " processors";
    limit(static_cast<int>(threads), reason.str());
  }
  limit(omp_thread_limit, "OMP_THREAD_LIMIT is " + std::to_string(omp_thread_limit));
  const int wanted = FirstNumber(omp_num_threads);
  limit(wanted, "OMP_NUM_THREADS is " + std::to_string(wanted));
  return count;
}

// OpenMP has the mask that the process began with: where threads are pinned, that of this one has
// a single processor. OMP_THREAD_LIMIT is of the whole process.
HostThreadCount CountHostThreads() {
  return CountThreads(omp_get_num_procs(), ControlGroupProcessors(""), omp_get_thread_limit(),
                      std::getenv("OMP_NUM_THREADS"));
}

int HostThreads() { return CountHostThreads().threads; }

int HostProcessors() {
  return CountThreads(omp_get_num_procs(), ControlGroupProcessors(""), kNoLimit, nullptr).threads;
}

}  // namespace cgrun
