// Graphs within a graph: the bodies of If, Loop and functions take the place of their nodes.
#ifndef CGRUN_IMPORT_SUBGRAPHS_H_
#define CGRUN_IMPORT_SUBGRAPHS_H_

#include "src/import/node_context.h"

namespace cgrun {

// Imports the branch of an If whose condition is constant, or the body of a Loop once for each of
// its iterations, of which there are at most 1,024 and a constant number. Returns false for other
// nodes; Fail() where control flow depends on data.
bool InlineControlFlow(NodeContext& node);

// Imports the body of a function of the model. Returns false for a node that is no use of one.
bool InlineFunction(NodeContext& node);

}  // namespace cgrun

#endif  // CGRUN_IMPORT_SUBGRAPHS_H_
