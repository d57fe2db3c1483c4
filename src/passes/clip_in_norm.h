// The passes that make a relu or clip a part of a batch_norm share this file.
#ifndef CGRUN_PASSES_CLIP_IN_NORM_H_
#define CGRUN_PASSES_CLIP_IN_NORM_H_

#include <optional>

#include "src/ir/graph.h"
#include "src/ops/batch_norm.h"
#include "src/ops/clip.h"

namespace cgrun::passes {

// The bounds of an operator that is `relu` or `clip`, or the gradient of one. Returns nothing for
// others, and for bounds on one side of 0, which would move the zeros that pad blocked layouts.
inline std::optional<ClipAttributes> ClipBoundsOf(OpId op, const Attributes& attributes, OpId relu,
                                                  OpId clip) {
  if (op == relu) return ClipAttributes{.min = 0};
  if (op != clip) return std::nullopt;
  const auto& bounds = attributes.As<ClipAttributes>();
  if (bounds.min > 0 || bounds.max < 0) return std::nullopt;
  return bounds;
}

// Returns the attributes of a batch_norm, or of its gradient, with these bounds.
inline Attributes Clipping(const Node& batch_norm, const ClipAttributes& bounds) {
  auto attributes = batch_norm.attributes.As<BatchNormAttributes>();
  attributes.min = bounds.min;
  attributes.max = bounds.max;
  return Attributes::Of(attributes);
}

}  // namespace cgrun::passes

#endif  // CGRUN_PASSES_CLIP_IN_NORM_H_
