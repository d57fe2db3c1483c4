// Draws the picture of a graph in the language of Graphviz.
#ifndef CGRUN_REPORT_GRAPH_DOT_H_
#define CGRUN_REPORT_GRAPH_DOT_H_

#include <string>

#include "src/report/graph_picture.h"

namespace cgrun {

// Returns the picture for `dot -Tsvg`. It has the same boxes, edges and colours, and a cluster for
// each phase.
std::string GraphDot(const GraphPicture& picture);

}  // namespace cgrun

#endif  // CGRUN_REPORT_GRAPH_DOT_H_
