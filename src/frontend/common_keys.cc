#include "src/frontend/common_keys.h"

#include <iterator>

#include "src/frontend/shared_draw.h"

namespace cgrun {

std::vector<CommonKey> KeysInCommon(const OpDef& def) {
  if (def.usage == Usage::kOptimizer) {
    return {{"schedule", "how the learning rate changes: `{cosine: {warmup: 1}}`, …"}};
  }
  if (def.usage != Usage::kOperator) return {};
  std::vector<CommonKey> keys = {
      {"activation", "an operator that is applied to the output: `relu`, …"}};
  if (ChangesByChance(def)) {
    keys.push_back({"draws_as",
                    "an operator of this kind, whose draw this one shares: of a mask, that of "
                    "its image"});
  }
  if (def.owned == nullptr) return keys;
  const CommonKey of_parameters[] = {
      {"init", "initial values: `he_normal`, `{weight: {normal: {deviation: 0.02}}}`, …"},
      {"regularize", "`{l1: a}`, `{l2: a}` or both, of the first parameter; or `{bias: {l2: a}}`"},
      {"frozen",
       "`true`: its parameters and running statistics are never changed; or `{weight: true}`"},
      {"lr", "the learning rate is multiplied by this for its parameters; or `{bias: 2}`"}};
  keys.insert(keys.end(), std::begin(of_parameters), std::end(of_parameters));
  return keys;
}

}  // namespace cgrun
