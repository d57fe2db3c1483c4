// Mixed precision: a forward graph of f32 keeps its activations in bfloat16. Parameters, states,
// statistics, losses, metrics and what is read from outside stay f32; gradients follow from this,
// since that of a cast is a cast.
#ifndef CGRUN_AUTODIFF_MIXED_PRECISION_H_
#define CGRUN_AUTODIFF_MIXED_PRECISION_H_

#include "src/ir/graph.h"

namespace cgrun {

// Comes before Differentiate(). Each operator takes part as its definition says (OpDef::narrow), by
// casts in front of what it reads. Values keep their ids, and become bf16 where their operators
// compute so. Readers of a value share its cast, but for parameters: there each use has its own,
// which common subexpressions make one again, so that the gradients of the uses are added in f32.
// Values of f64 stay f64.
Graph KeepActivationsInBF16(Graph forward);

}  // namespace cgrun

#endif  // CGRUN_AUTODIFF_MIXED_PRECISION_H_
