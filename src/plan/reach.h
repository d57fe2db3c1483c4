// Finds which feeds decide about a value: its reach. If only some feeds change from one run to the
// next, only the values that they reach have to be computed anew.
#ifndef CGRUN_PLAN_REACH_H_
#define CGRUN_PLAN_REACH_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/ir/graph.h"

namespace cgrun {

// A set of feeds, with a bit for each. If it is empty, no feed matters, and one run decides for
// all. A value that changes in every run, whatever is fed, has kEveryRun and nothing else.
using ReachSet = uint64_t;

inline constexpr int kReachBits = 63;
inline constexpr ReachSet kEveryRun = ReachSet{1} << kReachBits;

// Returns the bit of the feed of that index. All feeds that have none of their own share the last
// one.
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

// Returns the values that must lie untouched between runs, because a run can want them without
// making them. A node of another reach reads them, or they are an output that is not made in each
// run that runs anything. State and constants are not among them, since they stay anyway.
IdVector<ValueId, bool> KeptBetweenRuns(const Graph& graph, const Reach& reach);

}  // namespace cgrun

#endif  // CGRUN_PLAN_REACH_H_
