#include "src/results/search_result.h"

namespace cgrun {

const char* Name(TrialState state) {
  switch (state) {
    case TrialState::kPlanned:
      return "planned";
    case TrialState::kRefused:
      return "refused";
    case TrialState::kFailed:
      return "failed";
    case TrialState::kStopped:
      return "stopped";
    case TrialState::kDone:
      return "done";
  }
  return "";
}

std::string MembersText(const EnsembleResult& ensemble) {
  int64_t all = 0;
  for (const EnsembleMember& member : ensemble.members) all += member.picks;
  std::string text;
  for (const EnsembleMember& member : ensemble.members) {
    if (!text.empty()) text += ", ";
    text += "trial " + std::to_string(member.trial) + ": " + std::to_string(member.picks) + "/" +
            std::to_string(all);
  }
  return text;
}

}  // namespace cgrun
