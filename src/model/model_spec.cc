// Questions to a model file that several phases ask.
#include "src/model/model_spec.h"

#include <algorithm>

namespace cgrun {

std::vector<MarkedText> OutputNames(const OpSpec& op) {
  if (!op.out.empty()) return op.out;
  return op.name ? std::vector<MarkedText>{*op.name} : std::vector<MarkedText>();
}

bool IsCarried(const ModelSpec& model, const std::string& input) {
  return std::any_of(model.update.begin(), model.update.end(),
                     [&](const StateUpdate& update) { return update.state.value == input; });
}

}  // namespace cgrun
