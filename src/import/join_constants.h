// Joins constants that are added or multiplied with the layer before them.
#ifndef CGRUN_IMPORT_JOIN_CONSTANTS_H_
#define CGRUN_IMPORT_JOIN_CONSTANTS_H_

#include <string>
#include <vector>

#include "src/import/item_graph.h"
#include "src/onnx/onnx_file.h"

namespace cgrun {

// Gives a `layer_norm` of the value `x` the constants at `scale` and `shift`. Returns false where
// their shape is not that of the normalised axes.
bool AddAffine(const ItemGraph& graph, Item& layer_norm, int scale, int shift, int x);

// - A constant behind a layer_norm becomes its scale or its shift.
// - A constant that is added behind a conv without a bias becomes its bias.
// - Products and sums with constants for each channel become one batch_norm, if there are both.
// Returns the operator of each that is new or whole now.
std::vector<std::string> JoinConstants(ItemGraph& graph, onnx::OnnxFile& file);

}  // namespace cgrun

#endif  // CGRUN_IMPORT_JOIN_CONSTANTS_H_
