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

}  // namespace cgrun
