// The random numbers are a function of key, step, sample and attributes: those must be the same.
#include "src/frontend/shared_draw.h"

#include <algorithm>

#include "src/frontend/frontend.h"
#include "src/model/values.h"

namespace cgrun {
namespace {

constexpr char kName[] = "draws_as";

// Returns whether an attribute says what becomes of the pixels, not what is drawn.
bool IsFree(const AttributeField& field) {
  constexpr std::string_view kFree[] = {"axes", "fill", "value"};
  return field.internal || std::ranges::find(kFree, field.name) != std::end(kFree);
}

bool SameHeightAndWidth(const Shape& a, const Shape& b) {
  if (a.rank() < 3 || b.rank() < 3) return false;
  return a[a.rank() - 1] == b[b.rank() - 1] && a[a.rank() - 2] == b[b.rank() - 2];
}

}  // namespace

bool ChangesByChance(const OpDef& def) {
  return def.schema->Find("key") != nullptr && def.schema->Find("varied") != nullptr;
}

std::vector<std::string> KeysBeside(const OpDef& def) {
  std::vector<std::string> keys = CommonKeys();
  if (ChangesByChance(def)) keys.emplace_back(kName);
  return keys;
}

std::optional<MarkedText> FindDrawsAs(const OpSpec& op, Diagnostics& diagnostics) {
  for (const Attribute& attribute : op.attributes) {
    if (attribute.key != kName) continue;
    const auto name = ReadText(attribute.value, kName, diagnostics);
    if (name) return MarkedText{*name, attribute.value.mark};
  }
  return std::nullopt;
}

std::optional<int64_t> SharedKey(const Graph& graph, const OpDef& def, const Attributes& attributes,
                                 ValueId input, ValueId drawn, const MarkedText& name,
                                 Diagnostics& diagnostics) {
  const NodeId producer = graph.values[drawn].producer;
  if (!producer.valid() || &GetOpDef(graph.nodes[producer].op) != &def) {
    diagnostics.Error(name.mark,
                      "'" + name.value + "' is no " + def.name + ", and draws nothing " +
                          "that this one could draw",
                      "`draws_as` names the " + def.name + " of the images");
    return std::nullopt;
  }
  const Node& other = graph.nodes[producer];
  for (const AttributeField& field : def.schema->fields()) {
    if (IsFree(field) || attributes.Get(field) == other.attributes.Get(field)) continue;
    diagnostics.Error(name.mark,
                      "'" + name.value + "' draws something else: its '" + field.name + "' is " +
                          ToString(other.attributes.Get(field)) + ", not " +
                          ToString(attributes.Get(field)),
                      "give both the same '" + field.name + "'");
    return std::nullopt;
  }
  const Shape &x = graph.values[input].type.shape,
              &other_x = graph.values[other.inputs[0]].type.shape;
  if (def.draws_places && !SameHeightAndWidth(x, other_x)) {
    diagnostics.Error(name.mark,
                      "'" + name.value + "' draws places in images " + other_x.ToString() +
                          ", which are not those in " + x.ToString(),
                      "both need images of the same height and width");
    return std::nullopt;
  }
  return std::get<int64_t>(other.attributes.Get(*def.schema->Find("key")));
}

}  // namespace cgrun
