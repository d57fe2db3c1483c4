// An Executor runs the units of a search, in this process or beside each other in several.
#ifndef CGRUN_SEARCH_EXECUTOR_H_
#define CGRUN_SEARCH_EXECUTOR_H_

#include <cstdint>
#include <memory>

#include "src/search/trial_runner.h"
#include "src/search/unit.h"

namespace cgrun {

class Executor {
 public:
  virtual ~Executor() = default;
  virtual int jobs() const = 0;  // units that it can run beside each other
  virtual int running() const = 0;
  // Takes a unit. Fewer than jobs() may be running.
  virtual void Start(const Unit& unit) = 0;
  // Waits until one of the running units has ended. Throws RunStopped if a signal ends the search:
  // the units that run are to be done again.
  virtual UnitResult Wait() = 0;
};

// Runs units in this process. `runner` outlives it.
std::unique_ptr<Executor> MakeExecutor(TrialRunner& runner, const RunSignals& signals);

// Runs units in `jobs` processes, copies of this one, which share what it has opened. Each takes a
// heap of `heap_bytes` once. If the system ends such a process, its unit is interrupted, and
// another process takes its place. Returns null where there can be no such processes.
std::unique_ptr<Executor> MakeWorkers(TrialRunner& runner, int jobs, int64_t heap_bytes,
                                      const RunSignals& signals);

}  // namespace cgrun

#endif  // CGRUN_SEARCH_EXECUTOR_H_
