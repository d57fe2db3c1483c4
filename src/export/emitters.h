// Lists the operators that can be exported, a row each.
#ifndef CGRUN_EXPORT_EMITTERS_H_
#define CGRUN_EXPORT_EMITTERS_H_

#include <span>
#include <string_view>

#include "src/export/node_emitter.h"

namespace cgrun {

struct Emitter {
  using Function = void (*)(NodeEmitter& node, const Emitter& row);

  OpId op;
  Function emit;
  const char* onnx = "";  // the operator of ONNX, where the function serves several
  // The function looks at these attributes. Others must have their defaults, but for those that
  // decide about training. "*": they matter in training alone.
  std::string_view keys = "";
};

// Returns null for an operator that has no row.
const Emitter* FindEmitter(OpId op);

std::span<const Emitter> LayerEmitters();
std::span<const Emitter> ElementwiseEmitters();
std::span<const Emitter> ShapeEmitters();
std::span<const Emitter> ImageEmitters();
std::span<const Emitter> BoxEmitters();
std::span<const Emitter> IndexEmitters();

}  // namespace cgrun

#endif  // CGRUN_EXPORT_EMITTERS_H_
