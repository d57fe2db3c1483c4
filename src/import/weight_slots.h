// Says which constants of an ONNX model are weights that training may change.
#ifndef CGRUN_IMPORT_WEIGHT_SLOTS_H_
#define CGRUN_IMPORT_WEIGHT_SLOTS_H_

#include "src/onnx/model.h"

namespace cgrun {

// Returns whether input `i` of the node is a weight of its operator, such as a scale of a
// normalisation or the table of an embedding. Weights that become those of a layer need no row.
bool IsWeightSlot(const onnx::Node& node, int i);

// Returns whether the parameters that the node's adapter makes itself are parts of its weights.
bool MakesWeights(const onnx::Node& node);

}  // namespace cgrun

#endif  // CGRUN_IMPORT_WEIGHT_SLOTS_H_
