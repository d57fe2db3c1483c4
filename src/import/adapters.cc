// Finds adapters.
#include "src/import/adapters.h"

namespace cgrun {

const Adapter* FindAdapter(std::string_view op_type, int64_t opset) {
  const Adapter* best = nullptr;
  for (const std::span<const Adapter> rows :
       {LayerAdapters(), ElementwiseAdapters(), ShapeAdapters(), MathAdapters(), ReduceAdapters(),
        IndexAdapters(), NormAdapters(), PartAdapters(), ResizeAdapters(), EinsumAdapters(),
        LossAdapters(), RotaryAdapters()}) {
    for (const Adapter& row : rows) {
      if (row.op_type != op_type || row.since > opset) continue;
      if (best == nullptr || row.since > best->since) best = &row;
    }
  }
  return best;
}

}  // namespace cgrun
