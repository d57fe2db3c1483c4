// `cgrun plan --passes`: what each pass did to a graph.
#ifndef CGRUN_REPORT_PASS_EFFECTS_H_
#define CGRUN_REPORT_PASS_EFFECTS_H_

#include <string>
#include <vector>

#include "src/base/phase_times.h"

namespace cgrun {

struct PassEffect {
  std::string name;
  int rounds = 0;          // 0: it did not run
  int changed_rounds = 0;  // in which it changed the graph
  int nodes_added = 0;     // in all of them; negative where it removed some
  double seconds = 0;
};

// Says how an entry point's graph was changed.
struct PassEffects {
  std::string entry;
  int nodes_before = 0;  // as it was differentiated
  int nodes_after = 0;   // as it was planned
  std::vector<PassEffect> passes;
  // These phases are of all entry points: the passes again, and the other phases of a plan.
  std::vector<PhaseTimes::Phase> phases = {};
};

std::string PassEffectsText(const PassEffects& effects);

}  // namespace cgrun

#endif  // CGRUN_REPORT_PASS_EFFECTS_H_
