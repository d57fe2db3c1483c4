// Looks an operator up in the tables of the families.
#include "src/export/emitters.h"

#include <algorithm>

namespace cgrun {

const Emitter* FindEmitter(OpId op) {
  for (const auto& family : {LayerEmitters(), ElementwiseEmitters(), ShapeEmitters(),
                             ImageEmitters(), BoxEmitters(), IndexEmitters()}) {
    const auto row = std::ranges::find(family, op, &Emitter::op);
    if (row != family.end()) return &*row;
  }
  return nullptr;
}

}  // namespace cgrun
