// Walks the nodes of a graph, in their order: each is folded, inlined, or adapted.
#ifndef CGRUN_IMPORT_WALK_H_
#define CGRUN_IMPORT_WALK_H_

#include <map>
#include <string>
#include <vector>

#include "src/import/import_state.h"

namespace cgrun {

// Imports the nodes that the values `outputs` depend on, into `state.scope`.
void ImportNodes(ImportState& state, const std::vector<onnx::Node>& nodes,
                 const std::vector<std::string>& outputs);

// Adds initialisers to `state.scope`, without a copy; but those of `given` are there already.
void AddInitializers(ImportState& state, const onnx::Graph& graph,
                     const std::map<std::string, Constant>& given = {});

// ai.onnx, which has two names.
bool IsStandard(const std::string& domain);

}  // namespace cgrun

#endif  // CGRUN_IMPORT_WALK_H_
