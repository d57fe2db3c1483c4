// Computes nodes whose inputs are all constants, by the operators and kernels that would run them.
#ifndef CGRUN_IMPORT_EVALUATE_H_
#define CGRUN_IMPORT_EVALUATE_H_

#include <cstdint>

#include "src/import/adapters.h"
#include "src/import/node_context.h"

namespace cgrun {

// The adapter of the node emits into a network of its own, whose types say what would be computed.
// If the budget allows it, the reference kernels compute it, and its outputs are set. Returns false
// where an input is no constant, or where the node is left to the model: the adapter refuses it, or
// it would take too much.
bool FoldByEvaluation(NodeContext& node, const Adapter& adapter);

// The bytes that a node with constant inputs of `input_bytes` may make.
int64_t MostFoldedBytes(int64_t input_bytes);

// Returns the bytes that the constants among a node's inputs have in the file. InputError where
// their sizes and their data disagree.
int64_t InputBytes(NodeContext& node);

}  // namespace cgrun

#endif  // CGRUN_IMPORT_EVALUATE_H_
