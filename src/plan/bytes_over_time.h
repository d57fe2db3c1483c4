// BytesOverTime: how many bytes are alive at each step, while lifespans come and go.
#ifndef CGRUN_PLAN_BYTES_OVER_TIME_H_
#define CGRUN_PLAN_BYTES_OVER_TIME_H_

#include <cstddef>
#include <vector>

#include "src/packing/memory_problem.h"

namespace cgrun {

// A tree over the steps. A change takes as long as the logarithm of their number.
class BytesOverTime {
 public:
  // If `bytes`, which has an element for each step, is empty, the tree is empty too.
  explicit BytesOverTime(const std::vector<Bytes>& bytes = {});

  bool empty() const { return steps_ == 0; }
  // The most at any step.
  Bytes Most() const { return most_[1]; }
  // Adds to each step of [lower, upper), which lie within the steps.
  void Add(Bytes bytes, TimePoint lower, TimePoint upper);

 private:
  size_t steps_;  // a power of two, or 0
  // For each node of the tree, `added_` is what was added to all of its steps. `most_` is the most
  // at any of its steps, without what was added above the node. The children of i are 2i and 2i +
  // 1, and the leaves begin at steps_.
  std::vector<Bytes> added_, most_;
};

}  // namespace cgrun

#endif  // CGRUN_PLAN_BYTES_OVER_TIME_H_
