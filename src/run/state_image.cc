// Eager mode has no arena in which states lie side by side: they are copied one by one.
#include "src/run/state_image.h"

#include <algorithm>

namespace cgrun {
namespace {

int64_t ImageBytes(Engine& engine) {
  if (const Program* const program = engine.program()) return program->StateImageBytes();
  int64_t bytes = 0;
  for (const EngineState& state : engine.model().states) bytes += ByteSize(state.type);
  return bytes;
}

}  // namespace

StateImage::StateImage(Engine& engine) : copy_(static_cast<size_t>(ImageBytes(engine))) {
  if (const Program* const program = engine.program()) {
    program->SaveStates(copy_.bytes());
    return;
  }
  std::span<std::byte> to = copy_.bytes();
  for (size_t i = 0; i < engine.model().states.size(); ++i) {
    const auto bytes = static_cast<size_t>(ByteSize(engine.model().states[i].type));
    engine.ReadState(i, to.first(bytes));
    to = to.subspan(bytes);
  }
}

void StateImage::Restore(Engine& engine) const {
  if (Program* const program = engine.program()) return program->RestoreStates(copy_.bytes());
  std::span<const std::byte> from = copy_.bytes();
  for (size_t i = 0; i < engine.model().states.size(); ++i) {
    const auto bytes = static_cast<size_t>(ByteSize(engine.model().states[i].type));
    engine.FillState(i, [&](std::span<std::byte> plain) {
      std::ranges::copy(from.first(bytes), plain.begin());
    });
    from = from.subspan(bytes);
  }
}

}  // namespace cgrun
