// TreeParzen proposes by the tree-structured Parzen estimator (Bergstra et al., Algorithms for
// Hyper-Parameter Optimization, 2011). The trials so far are split into the best and the others. A
// few numbers are drawn from the density of the best. The one that is most likely among the best,
// compared with the others, is taken. A choice is drawn as often as the best trials have it.
// Parameters are independent of each other.
#ifndef CGRUN_SEARCH_TPE_H_
#define CGRUN_SEARCH_TPE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "src/search/proposals.h"
#include "src/search/space.h"

namespace cgrun {

// Names the random numbers of one proposal.
struct DrawKey {
  uint64_t seed = 0;
  int64_t trial = 0;
  uint64_t attempt = 0;
};

class TreeParzen {
 public:
  // Fewer results tell nothing: proposals are random until then.
  static constexpr size_t kLeastKnown = 10;

  // `space` and `known` outlive it.
  TreeParzen(const Space& space, std::span<const PastTrial> known);

  bool knows_enough() const { return good_.size() + bad_.size() >= kLeastKnown; }
  Configuration Draw(const DrawKey& key) const;

 private:
  Setting DrawChoice(size_t parameter, const DrawKey& key) const;
  Setting DrawNumber(size_t parameter, const DrawKey& key) const;

  const Space& space_;
  std::vector<const PastTrial*> good_, bad_;
};

}  // namespace cgrun

#endif  // CGRUN_SEARCH_TPE_H_
