// Values as the parser takes them: what the types of keys and of attributes come to.
#include "src/frontend/value_schemas.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "src/base/check.h"
#include "src/base/json_text.h"
#include "src/ir/range_text.h"

namespace cgrun::json_schema {
namespace {

// The types of src/model/types.h refer to these definitions. A `placeholder` may stand only in the
// body of a block: all else is `plain`.
constexpr std::string_view kValues = R"json({
  "text": {"type": ["string", "number", "boolean"], "minLength": 1},
  "texts": {"anyOf": [{"$ref": "#/definitions/text"},
                      {"type": "array", "items": {"$ref": "#/definitions/text"}, "minItems": 1}]},

  "name": {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
  "names": {"anyOf": [{"$ref": "#/definitions/name"},
                      {"type": "array", "items": {"$ref": "#/definitions/name"},
                       "uniqueItems": true}]},
  "named": {"type": "object", "propertyNames": {"$ref": "#/definitions/name"}},

  "reference": {"type": "string", "pattern":
      "^[A-Za-z_][A-Za-z0-9_]*(\\[[0-9]+\\])?(\\.[A-Za-z_][A-Za-z0-9_]*(\\[[0-9]+\\])?)*$"},
  "references": {"anyOf": [{"$ref": "#/definitions/reference"},
                           {"type": "array", "items": {"$ref": "#/definitions/reference"}}]},
  "kept_value": {"anyOf": [
      {"$ref": "#/definitions/reference"},
      {"type": "string", "pattern": "^([A-Za-z_][A-Za-z0-9_]*\\.)?grad\\([A-Za-z_][A-Za-z0-9_.\\[\\]]*\\)$"}]},
  "kept": {"anyOf": [{"$ref": "#/definitions/kept_value"},
                     {"type": "array", "items": {"$ref": "#/definitions/kept_value"}}]},
  "states": {"type": "object", "propertyNames": {"$ref": "#/definitions/reference"},
             "additionalProperties": {"$ref": "#/definitions/name"}},
  "sequence": {"type": "array", "minItems": 1, "items": {"anyOf": [
      {"$ref": "#/definitions/name"},
      {"type": "object", "propertyNames": {"$ref": "#/definitions/name"},
       "minProperties": 1, "maxProperties": 1,
       "additionalProperties": {"type": "integer", "minimum": 1}}]}},

  "ratio": {"type": "string", "pattern": "^[-+.0-9eE]+ */ *[-+.0-9eE]+$"},
  "number": {"anyOf": [{"type": "number"}, {"$ref": "#/definitions/ratio"}]},
  "positive": {"anyOf": [{"type": "number", "exclusiveMinimum": 0},
                         {"$ref": "#/definitions/ratio"}]},
  "not_negative": {"anyOf": [{"type": "number", "minimum": 0}, {"$ref": "#/definitions/ratio"}]},
  "fraction": {"anyOf": [{"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
                         {"$ref": "#/definitions/ratio"}]},
  "bytes": {"type": ["number", "string"], "minimum": 1048576,
            "pattern": "^[0-9.]+ *(B|[kKMGT](iB|B)?)? *$"},
  "duration": {"type": ["number", "string"], "exclusiveMinimum": 0, "minLength": 1,
               "pattern": "^ *([0-9.]+|([0-9.]+ *d)? *([0-9.]+ *h)? *([0-9.]+ *m)? *([0-9.]+ *s)?) *$"},

  "placeholder": {"type": "string", "pattern": "\\$\\{"},
  "plain": {"not": {"$ref": "#/definitions/placeholder"},
            "items": {"$ref": "#/definitions/plain"},
            "additionalProperties": {"$ref": "#/definitions/plain"}},
  "source": {"anyOf": [{"$ref": "#/definitions/reference"}, {"$ref": "#/definitions/placeholder"}]},
  "sources": {"anyOf": [{"$ref": "#/definitions/source"},
                        {"type": "array", "items": {"$ref": "#/definitions/source"}}]},
  "operand": {"anyOf": [{"$ref": "#/definitions/source"}, {"$ref": "#/definitions/number"}]},
  "operands": {"anyOf": [{"$ref": "#/definitions/operand"},
                         {"type": "array", "items": {"$ref": "#/definitions/operand"}}]},
  "output": {"anyOf": [{"$ref": "#/definitions/name"}, {"$ref": "#/definitions/placeholder"}]},
  "outputs": {"anyOf": [{"$ref": "#/definitions/output"},
                        {"type": "array", "items": {"$ref": "#/definitions/output"},
                         "uniqueItems": true}]},

  "losses": {"if": {"type": "array"}, "then": {"items": {"$ref": "#/definitions/loss"}},
             "else": {"$ref": "#/definitions/loss"}},
  "optimizers": {"if": {"anyOf": [{"required": ["discriminator"]}, {"required": ["generator"]}],
                        "type": "object"},
                 "then": {"properties": {"discriminator": {"$ref": "#/definitions/optimizer"},
                                         "generator": {"$ref": "#/definitions/optimizer"}},
                          "additionalProperties": false},
                 "else": {"$ref": "#/definitions/optimizer"}}
})json";

// Bounds that are whole numbers, written as such.
Json Bound(double bound) {
  constexpr double kExact = 0x1p53;
  const bool whole = bound == std::floor(bound) && std::abs(bound) <= kExact;
  return whole ? Json(static_cast<int64_t>(bound)) : Json(bound);
}

Json Integer(const AttributeField& field) {
  return InRange("integer", field.minimum, field.maximum);
}

Json Real(const AttributeField& field) {
  return AnyOf({InRange("number", field.minimum, field.maximum), Ref("ratio")});
}

// One integer for all places, or a list of which each value stands for as many places.
Json Integers(const AttributeField& field) {
  const Json integer = OrPlaceholder(Integer(field));
  Json list = ListOf(integer);
  for (int count = 1; count <= field.expand_to; ++count) {
    if (field.expand_to % count != 0) continue;
    list["anyOf"].push_back({{"minItems", count}, {"maxItems", count}});
  }
  std::vector<Json> forms = {integer, list};
  if (field.allow_same) forms.push_back({{"const", "same"}});
  return AnyOf(forms);
}

}  // namespace

Json Values() { return ParseOrderedJson(kValues); }

Json Ref(std::string_view name) { return {{"$ref", "#/definitions/" + std::string(name)}}; }

Json AnyOf(const std::vector<Json>& schemas) {
  Json any = Json::array();
  for (const Json& schema : schemas) {
    if (schema.size() == 1 && schema.contains("anyOf")) {
      any.insert(any.end(), schema["anyOf"].begin(), schema["anyOf"].end());
    } else {
      any.push_back(schema);
    }
  }
  return {{"anyOf", any}};
}

Json OrNull(const Json& schema) { return AnyOf({schema, {{"type", "null"}}}); }

Json OrPlaceholder(const Json& schema) { return AnyOf({schema, Ref("placeholder")}); }

Json ListOf(const Json& items) { return {{"type", "array"}, {"items", items}}; }

Json Described(std::string_view doc, const Json& schema) {
  Json described = {{"description", doc}};
  if (schema.contains("$ref")) {
    described["allOf"] = Json::array({schema});
  } else {
    described.update(schema);
  }
  return described;
}

Json Value(const std::string& text) {
  Json value = TryParseOrderedJson(text);
  return value.is_discarded() ? Json(text) : value;
}

Json InRange(std::string_view type, double minimum, double maximum) {
  Json schema = {{"type", type}};
  if (minimum == kAboveZero) {
    schema["exclusiveMinimum"] = 0;
  } else if (std::isfinite(minimum)) {
    schema["minimum"] = Bound(minimum);
  }
  if (maximum == kBelowOne) {
    schema["exclusiveMaximum"] = 1;
  } else if (std::isfinite(maximum)) {
    schema["maximum"] = Bound(maximum);
  }
  return schema;
}

Json TypeOf(const AttributeField& field) {
  switch (field.kind) {
    case AttributeKind::kBool:
      return {{"type", "boolean"}};
    case AttributeKind::kInt:
      return Integer(field);
    case AttributeKind::kReal:
      return Real(field);
    case AttributeKind::kReals: {
      const Json number = OrPlaceholder(Real(field));
      return AnyOf({number, ListOf(number)});
    }
    case AttributeKind::kString:
      return field.choices.empty() ? Ref("text") : Json{{"enum", field.choices}};
    case AttributeKind::kInts:
      return Integers(field);
    case AttributeKind::kShape:
      return ListOf(OrPlaceholder({{"type", "integer"}, {"minimum", -1}}));
    case AttributeKind::kDType: {
      Json names = Json::array();
      for (DType dtype : kAllDTypes) names.push_back(Name(dtype));
      return {{"enum", names}};
    }
  }
  CGRUN_CHECK(false) << "an attribute of unknown kind";
}

}  // namespace cgrun::json_schema
