// Lists the cases of a benchmark, and the entry point that they run.
#include <algorithm>
#include <string>
#include <vector>

#include "src/bench/bench.h"
#include "src/fit/run_shape.h"
#include "src/passes/decisions.h"

namespace cgrun {

std::vector<BenchCase> StandardCases(const CompileOptions& options, bool one_order) {
  CompileOptions without = options;
  without.passes.disabled = PassAndDecisionNames();
  std::vector<BenchCase> cases = {
      {"eager", Mode::kEager, options},
      {"eager, nothing freed", Mode::kEager, options, FreePolicy::kAfterStep, false},
      {"graph, no passes", Mode::kGraph, without}};
  std::vector<std::string> orders = {"serial", "bfs", "memory"};
  if (one_order) orders = {options.order};
  for (const std::string& order : orders) {
    CompileOptions ordered = options;
    ordered.order = order;
    cases.push_back({"graph, " + order, Mode::kGraph, ordered});
  }
  return cases;
}

std::vector<BenchCase> PassCases(const CompileOptions& options,
                                 const std::vector<std::string>& idle_passes) {
  std::vector<BenchCase> cases = {{"eager", Mode::kEager, options},
                                  {std::string(kAllPassesCase), Mode::kGraph, options}};
  for (const std::string& name : PassAndDecisionNames()) {
    if (std::ranges::count(idle_passes, name) > 0) continue;
    CompileOptions without = options;
    without.passes.disabled.push_back(name);
    cases.push_back({"without " + name, Mode::kGraph, without});
  }
  return cases;
}

EntryRequest BenchEntry(const ModelSpec& model, bool infer) {
  const EntryKind kind = PredictsAlone(model) ? EntryKind::kPredict
                         : infer              ? EntryKind::kEval
                                              : EntryKind::kTrain;
  return {std::string(Name(kind)), kind, model.train ? model.train->batch.value.size : 1};
}

}  // namespace cgrun
