// Proposals: the configurations of a search's trials, one after the other.
#ifndef CGRUN_SEARCH_PROPOSALS_H_
#define CGRUN_SEARCH_PROPOSALS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "src/search/space.h"

namespace cgrun {

// The proposal of trial i looks at the results of trials 0 to i − kLag alone. So it does not depend
// on how many trials run beside each other, as long as these are at most kLag.
inline constexpr int64_t kLag = 8;

// A trial that was proposed before. Less loss is better; a trial that failed has infinite loss, and
// one that was never run has none.
struct PastTrial {
  Configuration settings;
  std::optional<double> loss;
};

class Proposals {
 public:
  // `space` outlives it.
  Proposals(const Space& space, Method method, uint64_t seed);

  // The configuration of the next trial, which none before has. `known` are the trials whose
  // results count: those from 0 to i − kLag, if i is the next one. If no other configuration is
  // left, the result is empty.
  std::optional<Configuration> Next(std::span<const PastTrial> known);

  // The number of configurations; nothing if they cannot be counted.
  std::optional<int64_t> count() const;

 private:
  Configuration Draw(uint64_t attempt) const;
  std::optional<Configuration> FirstUnused() const;

  const Space& space_;
  const Method method_;
  const uint64_t seed_;
  std::optional<std::vector<Configuration>> grid_;
  std::set<std::string> used_;
  int64_t next_ = 0;
};

}  // namespace cgrun

#endif  // CGRUN_SEARCH_PROPOSALS_H_
