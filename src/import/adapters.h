// The operators of ONNX that can be imported, a row each.
#ifndef CGRUN_IMPORT_ADAPTERS_H_
#define CGRUN_IMPORT_ADAPTERS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "src/import/node_context.h"

namespace cgrun {

struct Adapter {
  using Function = void (*)(NodeContext& node, const Adapter& row);

  std::string_view op_type;
  Function import;
  std::string_view op = "";  // of cgrun, where the function serves several
  int max_inputs = 1;
  int64_t since = 1;  // opset; of two rows of an operator the later one that there is counts
};

// Returns null for an operator that cannot be imported in this opset.
const Adapter* FindAdapter(const onnx::Node& node, int64_t opset);

// Emits the operator of the row, with the node's first input and without attributes.
void FunctionOfOne(NodeContext& node, const Adapter& row);

// A convolution of the node's first three inputs, as the `part` of what it emits.
NetworkValue ConvResult(NodeContext& node, const Adapter& row, const std::string& part);

// A product of the node's first two inputs, with its third one added, as the `part` of what it
// emits.
NetworkValue GemmResult(NodeContext& node, const std::string& part);

// The sums of a convolution of bytes, in int32: inputs `x` and `weight` of the node, less their
// zero points.
NetworkValue ConvIntegerResult(NodeContext& node, int x, int weight, const NetworkValue& x_zero,
                               const NetworkValue& weight_zero);

// Gives a normalisation its outputs 1 and 2, if it has them: means, and the inverse of deviations.
void SetNormStatistics(NodeContext& node);
// Emits the product of the node's first two inputs, which are matrices, stacks of them, or rows.
void EmitProduct(NodeContext& node);

std::span<const Adapter> LayerAdapters();
std::span<const Adapter> ElementwiseAdapters();
std::span<const Adapter> ShapeAdapters();
std::span<const Adapter> MathAdapters();
std::span<const Adapter> ReduceAdapters();
std::span<const Adapter> IndexAdapters();
std::span<const Adapter> NormAdapters();
std::span<const Adapter> PartAdapters();
std::span<const Adapter> ResizeAdapters();
std::span<const Adapter> EinsumAdapters();
std::span<const Adapter> LossAdapters();
std::span<const Adapter> RotaryAdapters();
std::span<const Adapter> AttentionAdapters();
std::span<const Adapter> StatefulAdapters();
std::span<const Adapter> GridSampleAdapters();
std::span<const Adapter> RecurrentAdapters();
std::span<const Adapter> QuantisedAdapters();
std::span<const Adapter> BitAdapters();
std::span<const Adapter> SpectralAdapters();
// Returns the rows of the domain com.microsoft.
std::span<const Adapter> ContribAdapters();
std::span<const Adapter> QuantisedContribAdapters();

}  // namespace cgrun

#endif  // CGRUN_IMPORT_ADAPTERS_H_
