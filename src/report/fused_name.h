// Names a fused node by its operators.
#ifndef CGRUN_REPORT_FUSED_NAME_H_
#define CGRUN_REPORT_FUSED_NAME_H_

#include <string>
#include <vector>

#include "src/ir/graph.h"

namespace cgrun {

// "conv"; of a fused node "conv + relu + max_pool".
std::string OperatorText(const Node& node);

// The operator that has `value`, or what that is in another layout or number type, as its
// parameter: "classify.conv1" of "classify.conv1.weight"; "" of what is no parameter.
std::string OwnerOf(const Graph& graph, ValueId value);

// The name of a node in pictures. A fused forward node is called by its last operator alone: here
// by all of them, those by their names that have parameters, "classify.conv1 + relu + pool1".
std::string BoxName(const Graph& graph, const Node& node);

// A node that does the work of several operators.
struct FusedNode {
  std::string node;       // as tables of values call it: "classify.pool1"
  std::string name;       // BoxName()
  std::string operators;  // OperatorText()
};
// Returns the fused nodes of a graph, in topological order.
std::vector<FusedNode> FusedNodesOf(const Graph& graph);

// A table of these nodes of the entry point `entry`: what each is made of, by the names of its
// operators where they have some. `most` of them at most (0: all), with a line on the others. ""
// where there are none.
std::string FusedNodesText(const std::string& entry, const std::vector<FusedNode>& nodes,
                           size_t most = 0);

}  // namespace cgrun

#endif  // CGRUN_REPORT_FUSED_NAME_H_
