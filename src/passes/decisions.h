// Decisions of selection and planning that --disable-pass can switch off. They rewrite no graph.
#ifndef CGRUN_PASSES_DECISIONS_H_
#define CGRUN_PASSES_DECISIONS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cgrun {

enum class DecisionPhase : uint8_t { kSelection, kPlan };

struct Decision {
  std::string_view name;  // for --disable-pass
  DecisionPhase phase;    // the phase that decides
  std::string_view what;  // that happens unless it is disabled
};

inline constexpr std::string_view kLayoutsDecision = "layouts";
inline constexpr std::string_view kSmallerWorkspacesDecision = "smaller_workspaces";
inline constexpr std::string_view kStreamsDecision = "lanes";  // the name that scripts know

// Returns the decisions in the order in which they are made.
std::span<const Decision> Decisions();

// Returns the names of the passes of Pipeline() and of the decisions, in the order in which they
// run.
std::vector<std::string> PassAndDecisionNames();

}  // namespace cgrun

#endif  // CGRUN_PASSES_DECISIONS_H_
