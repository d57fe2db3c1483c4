// SearchSpec: a search file as read, with the places that errors point at.
#ifndef CGRUN_SEARCH_SEARCH_SPEC_H_
#define CGRUN_SEARCH_SEARCH_SPEC_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/model/model_spec.h"
#include "src/model/tree.h"

namespace cgrun {

// The parameter that chooses among several model files is called by this name.
inline constexpr char kModelParameter[] = "model";

// A parameter counts only where another one, which stands above it, has one of these values.
struct Condition {
  MarkedText path;
  std::vector<TreeNode> values;
};

// Numbers from `min` to `max`, both included.
struct Range {
  double min = 0;
  double max = 0;
  bool log = false;      // equal factors are equally likely
  bool integer = false;  // whole numbers alone
  double step = 0;       // between neighbours; 0: any number
};

// One setting of the model that differs from trial to trial.
struct SearchParameter {
  MarkedText path;               // "train.optimizer.lr"
  std::vector<TreeNode> values;  // to choose from; empty: `range` counts
  Range range;
  std::vector<Condition> when;  // all of them must hold
};

enum class Method { kGrid, kRandom, kTpe };

// Successive halving: trials train for `min` epochs; of those the best 1/eta go on to eta times as
// many, and so on until `max` epochs.
struct HalvingSpec {
  int64_t eta = 3;
  int64_t min = 1;
  Marked<int64_t> max;
};

// The search ends where the first of these is reached.
struct BudgetSpec {
  std::optional<Marked<int64_t>> trials;
  std::optional<Marked<int64_t>> epochs;  // of all trials together
  std::optional<Marked<double>> seconds;
};

// Trials whose predictions are averaged when the search has ended.
struct EnsembleSpec {
  static constexpr int64_t kMostPicks = 100;

  bool greedy = false;            // chosen one by one, with replacement; else the best ones
  Marked<int64_t> picks{20, {}};  // of `top` exactly so many, of `greedy` at most
};

struct MetricGoal {
  MarkedText name;  // a loss or metric of `valid`
  std::optional<Marked<std::string>> goal;
};

struct SearchSpec {
  std::string file_name;
  std::string name;  // the file's, without its ending
  Marked<int64_t> version;
  std::vector<MarkedText> models;  // files, relative to the search file
  std::vector<SearchParameter> parameters;
  MetricGoal metric;
  Marked<std::string> method{"tpe", {}};
  Marked<int64_t> seed{0, {}};
  std::optional<HalvingSpec> stop;
  BudgetSpec budget;
  Marked<int64_t> threads{1, {}};  // of a trial
  Marked<int64_t> keep{3, {}};     // trials whose run folders stay
  std::optional<EnsembleSpec> ensemble;
  TreeNode tree;  // the whole file

  Method method_id() const;
};

// Reads and checks a search file. Reports all errors of the file; returns nothing after one.
std::optional<SearchSpec> ReadSearchFile(const std::string& path, Diagnostics& diagnostics);
// Does the same for a text in memory.
std::optional<SearchSpec> ParseSearch(SourceFile file, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_SEARCH_SEARCH_SPEC_H_
