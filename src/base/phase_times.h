// Measures the phases of a compile, in seconds of the thread's own time. So other work of the
// machine does not count. A phase is a scope with a PhaseTimer. As with LLVM's TimeTraceScope, the
// code that is timed does not know whether anybody asks.
#ifndef CGRUN_BASE_PHASE_TIMES_H_
#define CGRUN_BASE_PHASE_TIMES_H_

#include <string>
#include <string_view>
#include <vector>

namespace cgrun {

// Returns the processor time of this thread so far, in seconds.
double ThreadSeconds();

// Collects what this thread does while it lives. One at a time.
class PhaseTimes {
 public:
  struct Phase {
    std::string name;
    double seconds = 0;  // without those of the phases within
  };

  PhaseTimes();
  ~PhaseTimes();
  PhaseTimes(const PhaseTimes&) = delete;
  PhaseTimes& operator=(const PhaseTimes&) = delete;

  // In the order in which they began first; a phase that ran several times stands once.
  const std::vector<Phase>& phases() const { return phases_; }

 private:
  friend class PhaseTimer;

  void Enter(std::string_view name);
  void Leave();
  // Adds the time since the last change to the innermost phase.
  void Count();

  std::vector<Phase> phases_;
  std::vector<size_t> open_;  // indices in phases_, the innermost last
  double counted_until_ = 0;
};

// Times a phase from here to the end of the scope.
class PhaseTimer {
 public:
  explicit PhaseTimer(std::string_view name);
  ~PhaseTimer();
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;

 private:
  PhaseTimes* const times_;  // null: nobody asks
};

}  // namespace cgrun

#endif  // CGRUN_BASE_PHASE_TIMES_H_
