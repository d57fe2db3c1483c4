// Parts of a JSON Schema: the values of model files, and how schemas are put together. Included by
// json_schema.cc alone.
#ifndef CGRUN_FRONTEND_VALUE_SCHEMAS_H_
#define CGRUN_FRONTEND_VALUE_SCHEMAS_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "src/ir/attributes.h"

namespace cgrun::json_schema {

using Json = nlohmann::ordered_json;

// The definitions of values: "name", "ratio", "bytes" …, which Ref() names.
Json Values();

Json Ref(std::string_view name);
Json AnyOf(const std::vector<Json>& schemas);
Json OrNull(const Json& schema);
// Also accepts a parameter of a block, `${…}`.
Json OrPlaceholder(const Json& schema);
Json ListOf(const Json& items);

// Adds the text that editors show for a key. In draft 7 nothing counts that stands beside a `$ref`.
Json Described(std::string_view doc, const Json& schema);
// A default as its table writes it: in YAML.
Json Value(const std::string& text);

// Accepts numbers of a JSON type within the bounds of an attribute.
Json InRange(std::string_view type, double minimum, double maximum);
// Accepts the values of an operator's attribute.
Json TypeOf(const AttributeField& field);

}  // namespace cgrun::json_schema

#endif  // CGRUN_FRONTEND_VALUE_SCHEMAS_H_
