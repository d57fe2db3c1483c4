// Reach: which feeds decide about a value. Where only some of what is fed changes from one run to
// the next, only what these reach has to run again.
#ifndef CGRUN_PLAN_REACH_H_
#define CGRUN_PLAN_REACH_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/ir/graph.h"

namespace cgrun {

// A set of feeds, a bit each. Empty: nothing that is fed, so that one run decides for all. What
// changes in every run whatever is fed is kEveryRun and nothing else.
using ReachSet = uint64_t;

inline constexpr int kReachBits = 63;
inline constexpr ReachSet kEveryRun = ReachSet{1} << kReachBits;

// The bit of the feed of that index: the last one is shared by all that have none of their own.
ReachSet FeedBit(size_t feed);

// Returns the union of both sets.
ReachSet Join(ReachSet a, ReachSet b);

// "image, label"; "every run"; "nothing". `feeds` are the names of all feeds.
std::string ToString(ReachSet reach, const std::vector<std::string>& feeds);

struct Reach {
  IdVector<ValueId, ReachSet> values;
  IdVector<NodeId, ReachSet> nodes;
  // Joins the reach of all nodes, and of what is fed and read. If nothing of it changes, a run runs
  // nothing.
  ReachSet all = 0;
};

// Feeds are the placeholders, in the order of their ids. A node has the reach of all it reads;
// state that the graph changes, and what other processes have a part in, have kEveryRun.
Reach ComputeReach(const Graph& graph);

// The values that must lie untouched between runs, because a run can want them without making
// them: they are read by a node of another reach, or are an output that is not made in each run
// that runs anything. Not state and constants, which do so anyway.
IdVector<ValueId, bool> KeptBetweenRuns(const Graph& graph, const Reach& reach);

}  // namespace cgrun

#endif  // CGRUN_PLAN_REACH_H_
