// Finds adapters.
#include "src/import/adapters.h"

#include <initializer_list>

#include "src/import/walk.h"

namespace cgrun {
namespace {

// Returns the latest row of an operator that the opset has; null where there is none.
const Adapter* FindIn(std::initializer_list<std::span<const Adapter>> tables,
                      std::string_view op_type, int64_t opset) {
  const Adapter* best = nullptr;
  for (const std::span<const Adapter> rows : tables) {
    for (const Adapter& row : rows) {
      if (row.op_type != op_type || row.since > opset) continue;
      if (best == nullptr || row.since > best->since) best = &row;
    }
  }
  return best;
}

}  // namespace

const Adapter* FindAdapter(const onnx::Node& node, int64_t opset) {
  if (node.domain == "com.microsoft") {
    return FindIn({ContribAdapters(), QuantisedContribAdapters()}, node.op_type, opset);
  }
  if (!IsStandard(node.domain)) return nullptr;
  const Adapter* standard =
      FindIn({LayerAdapters(), ElementwiseAdapters(), ShapeAdapters(), MathAdapters(),
              ReduceAdapters(), IndexAdapters(), NormAdapters(), PartAdapters(), ResizeAdapters(),
              EinsumAdapters(), LossAdapters(), RecurrentAdapters(), RotaryAdapters(),
              AttentionAdapters(), StatefulAdapters(), GridSampleAdapters(), QuantisedAdapters(),
              BitAdapters(), SpectralAdapters()},
             node.op_type, opset);
  // Exporters write this one into the domain of ONNX.
  const bool is_stray = node.op_type == "SimplifiedLayerNormalization";
  return is_stray ? FindIn({ContribAdapters()}, node.op_type, opset) : standard;
}

}  // namespace cgrun
