// BytesOverTime: how many bytes are alive at each step, while lifespans come and go.
#ifndef CGRUN_PLAN_BYTES_OVER_TIME_H_
#define CGRUN_PLAN_BYTES_OVER_TIME_H_

#include <cstddef>
#include <vector>

#include "src/plan/memory_problem.h"

namespace cgrun {

// A tree over the steps. A change takes as long as the logarithm of their number.
class BytesOverTime {
 public:
  // Empty where `bytes`, at each step, is.
  explicit BytesOverTime(const std::vector<Bytes>& bytes = {});

  bool empty() const { return steps_ == 0; }
  // The most at any step.
  Bytes Most() const { return most_[1]; }
  // At each step of [lower, upper), which lie within the steps.
  void Add(Bytes bytes, TimePoint lower, TimePoint upper);

 private:
  size_t steps_;  // a power of two, or 0
  // Of each node of the tree: what is added to all of its steps, and with that the most of any of
  // them, but for what is added above the node. Children of i: 2i and 2i + 1; leaves from steps_.
  std::vector<Bytes> added_, most_;
};

}  // namespace cgrun

#endif  // CGRUN_PLAN_BYTES_OVER_TIME_H_
