// The decisions, a line each.
#include "src/passes/decisions.h"

#include "src/passes/pipeline.h"

namespace cgrun {
namespace {

// Without layouts, tensors are plain, and kernels are chosen as eager mode chooses them, with the
// same bits.
constexpr Decision kDecisions[] = {
    {kLayoutsDecision, DecisionPhase::kSelection,
     "tensors travel between operators in the layouts of their kernels"},
    {kSmallerWorkspacesDecision, DecisionPhase::kPlan,
     "under a cap, kernels that hold the peak work on one thread, in a smaller workspace"},
    {kStreamsDecision, DecisionPhase::kPlan,
     "small nodes that do not depend on each other run in two parallel streams"},
};

}  // namespace

std::span<const Decision> Decisions() { return kDecisions; }

std::vector<std::string> PassAndDecisionNames() {
  std::vector<std::string> names;
  const auto add = [&](PassStage stage, DecisionPhase phase) {
    for (const PipelineEntry& pass : Pipeline()) {
      if (pass.stage == stage) names.emplace_back(pass.name);
    }
    for (const Decision& decision : kDecisions) {
      if (decision.phase == phase) names.emplace_back(decision.name);
    }
  };
  add(PassStage::kGraph, DecisionPhase::kSelection);
  add(PassStage::kPlanned, DecisionPhase::kPlan);
  return names;
}

}  // namespace cgrun
