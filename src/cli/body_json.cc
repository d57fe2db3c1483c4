// The JSON has the fields of the text of listings, with numbers for operands.
#include "src/cli/body_json.h"

#include <nlohmann/json.hpp>

namespace cgrun {

nlohmann::ordered_json BodyJson(std::span<const FusedOperator> body) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const FusedOperator& inner : body) {
    json.push_back({{"op", NameOf(inner.op)},
                    {"attributes", inner.attributes.ToString()},
                    {"operands", inner.operands}});
  }
  return json;
}

}  // namespace cgrun
