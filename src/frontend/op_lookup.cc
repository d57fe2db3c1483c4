// Operators and activations by name.
#include "src/frontend/op_lookup.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "src/frontend/synonyms.h"

namespace cgrun {
namespace {

constexpr size_t kLongestHelp = 400;  // characters; more names are found in a list sooner

template <class Predicate>
std::vector<std::string> NamesWhere(Predicate predicate) {
  std::vector<std::string> names;
  for (int i = 0; i < OpCount(); ++i) {
    const OpDef& def = GetOpDef(static_cast<OpId>(i));
    if (predicate(def)) names.push_back(def.name);
  }
  return names;
}

std::string_view KindOf(Usage usage) {
  switch (usage) {
    case Usage::kLoss:
      return "loss";
    case Usage::kMetric:
      return "metric";
    case Usage::kOptimizer:
      return "optimizer";
    default:
      return "operator";
  }
}

// A loss may be any operator that owns nothing; what it gives must be a scalar.
bool IsOf(const OpDef& def, Usage usage) {
  if (def.usage == usage) return true;
  return usage == Usage::kLoss && def.usage == Usage::kOperator && def.owned == nullptr &&
         !def.needs_step;
}

}  // namespace

const OpDef* FindDef(const OpSpec& op, Usage usage, Diagnostics& diagnostics) {
  const std::optional<OpId> id = FindOp(op.target.value);
  if (id && IsOf(GetOpDef(*id), usage)) return &GetOpDef(*id);
  std::string help = SuggestOperator(
      op.target.value, NamesWhere([usage](const OpDef& def) { return def.usage == usage; }));
  if (help.size() > kLongestHelp) help = "`cgrun ops` lists them, with a line on each";
  diagnostics.Error(op.target.mark,
                    "there is no " + std::string(KindOf(usage)) + " '" + op.target.value + "'",
                    help);
  return nullptr;
}

OpId IdOf(const OpDef& def) { return *FindOp(def.name); }

Activation FindActivation(const OpSpec& op, Diagnostics& diagnostics) {
  for (const Attribute& attribute : op.attributes) {
    if (attribute.key != "activation") continue;
    const std::vector<std::string> known =
        NamesWhere([](const OpDef& def) { return def.activation; });
    const std::string& name = attribute.value.scalar;
    if (std::find(known.begin(), known.end(), name) != known.end()) return {FindOp(name), name};
    diagnostics.Error(attribute.value.mark, "there is no activation " + Describe(attribute.value),
                      SuggestOperator(name, known));
  }
  return {};
}

}  // namespace cgrun
