// Types in which cgrun does not compute: f16, bf16, and integers of 8, 16, 32 and 64 bits that are
// only stored. An operator on them runs in a wider type, between casts.
#ifndef CGRUN_IMPORT_WIDEN_H_
#define CGRUN_IMPORT_WIDEN_H_

#include "src/import/adapters.h"
#include "src/import/node_context.h"

namespace cgrun {

// Runs an adapter. If the operator computes, and inputs have such types, the adapter sees them in a
// wider type, and its results are cast back. Operators that only move elements take all types.
//
// Integers wrap around and floats are rounded to nearest after each operator, as in ONNX.
void RunAdapter(NodeContext& node, const Adapter& row);

// Emits a Div or Mod of uint64, exactly. Returns false for other nodes.
bool DividesUnsigned(NodeContext& node);

// Emits a ÷ b of uint64 that are stored in int64. It is 0 where b is 0.
NetworkValue UnsignedQuotient(NodeContext& node, const NetworkValue& a, const NetworkValue& b);

// Returns the elements of a constant in another type, to which it may be cast without loss.
Constant ConvertedConstant(const Constant& constant, DType dtype, onnx::OnnxFile& file);

// Adds a cast of a value, named after it. A value that was cast before is not cast again.
NetworkValue CastValue(ImportState& state, const NetworkValue& value, DType dtype);

}  // namespace cgrun

#endif  // CGRUN_IMPORT_WIDEN_H_
