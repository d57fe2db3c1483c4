// Random valid graphs, a pure function of a seed: what the compiler is tested with beyond the
// graphs that a person would write.
#ifndef CGRUN_TESTS_SUPPORT_RANDOM_GRAPH_H_
#define CGRUN_TESTS_SUPPORT_RANDOM_GRAPH_H_

#include <cstdint>
#include <map>

#include "src/base/host_tensor.h"
#include "src/ir/graph.h"

namespace cgrun {

struct RandomGraphOptions {
  int operators = 20;    // drawn for the forward part; gradients and updates add some
  bool learning = true;  // gradients and optimizer updates, in half of the graphs
};

// Makes a graph whose shapes depend on N, with every operator that both the build and this
// generator know. It has fan-out, shared inputs, views, broadcasts, reductions, fused nodes, dead
// code, duplicates, and arithmetic with 0 and 1. It has one to six outputs, and now and then
// sources are among them. It has state that learns, and updates between states (swaps, chains, one
// value for two states).
Graph MakeRandomGraph(uint64_t seed, const RandomGraphOptions& options = {});

// A value for each placeholder and state of a bound graph. `key` and the value's name decide; some
// tensors hold zeros of both signs, infinities and NaN.
std::map<ValueId, HostTensor> RandomSources(const Graph& graph, uint64_t key);

}  // namespace cgrun

#endif  // CGRUN_TESTS_SUPPORT_RANDOM_GRAPH_H_
