// Finds formulas among the items of a network: in any order of sums and products, and whatever the
// intermediate values are called.
#ifndef CGRUN_IMPORT_MATCH_H_
#define CGRUN_IMPORT_MATCH_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/import/formula.h"
#include "src/import/item_graph.h"

namespace cgrun {

// Holds what the names of a formula stand for.
struct FormulaMatch {
  std::map<std::string, int> values;  // as ItemOperand::value
  double number = 0;                  // of the name `e`
  std::vector<int64_t> axes;          // that all reductions of the formula have
};

// Returns what the value of item `root` matches. All items within are read by each other alone, so
// they can go. Numbers may differ by 1e-5 of their size, as exporters round them.
std::optional<FormulaMatch> MatchFormula(const ItemGraph& graph, const Formula& formula, int root);

}  // namespace cgrun

#endif  // CGRUN_IMPORT_MATCH_H_
