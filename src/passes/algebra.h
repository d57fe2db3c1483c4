// The rules of SimplifyAlgebra, as data: a test tries each of them by itself.
#ifndef CGRUN_PASSES_ALGEBRA_H_
#define CGRUN_PASSES_ALGEBRA_H_

#include <span>
#include <string_view>

#include "src/passes/rewriter.h"

namespace cgrun::passes {

struct AlgebraRule {
  OpId op;                // of the nodes that it is about
  std::string_view name;  // the rule as text: "x * 1 = x"
  bool exact;             // no bit changes, but for which NaN one is
  // Rewrites what the node stands for, or says false.
  bool (*apply)(Rewriter&, const Node&);
  std::string_view reason;
};

std::span<const AlgebraRule> AlgebraRules();

// Goes through the nodes once and applies to each the first of the rules that holds there; inexact
// ones only where that is allowed. Whether any did.
bool ApplyRules(std::span<const AlgebraRule> rules, bool inexact, Graph& graph);

}  // namespace cgrun::passes

#endif  // CGRUN_PASSES_ALGEBRA_H_
