// Debugging runs: `--debug-sets` checks what each operator reads and writes, `--debug-sync` waits
// after each one on a device that runs by itself. A DebugRun wraps the engines of a run, which
// then run operator by operator, and gathers what they find.
#ifndef CGRUN_RUN_DEBUG_RUN_H_
#define CGRUN_RUN_DEBUG_RUN_H_

#include <memory>
#include <string>
#include <vector>

#include "src/run/engine.h"

namespace cgrun {

class DebugSets;

class DebugRun {
 public:
  DebugRun(bool sets, bool sync) : sets_(sets), sync_(sync) {}
  ~DebugRun();
  DebugRun(const DebugRun&) = delete;
  DebugRun& operator=(const DebugRun&) = delete;

  bool waits() const { return sync_; }  // after each operator

  // The engine as it is debugged: results have the bits of `engine`. An engine of eager mode comes
  // back as it is. `device` is the engine's; where sets are checked, it is one of the host.
  // BuildEngine() and MakeImageEngine() call it.
  std::unique_ptr<Engine> Wrap(std::unique_ptr<Engine> engine, Device& device);

  // A line for each entry point that ran: how many operators were checked. While engines live, and
  // after.
  std::vector<std::string> Summary() const;
  // A sentence for each operator whose sets are wrong.
  std::vector<std::string> Findings() const;

 private:
  bool sets_;
  bool sync_;
  // Checkers, one an engine; they outlive the engines.
  struct Checked {
    std::vector<std::string> entries;  // names
    std::shared_ptr<DebugSets> sets;
  };
  std::vector<Checked> checked_;
};

}  // namespace cgrun

#endif  // CGRUN_RUN_DEBUG_RUN_H_
