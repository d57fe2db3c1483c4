// Builds the schema from small to large: operators, items of `ops`, maps of keys, the file. If a
// key or the kind of a value tells forms apart, an `if` chooses between them, not `anyOf`. Editors
// then say what is wrong with the form that was meant, not that none fits.
#include "src/frontend/json_schema.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "src/base/check.h"
#include "src/base/json_text.h"
#include "src/frontend/common_keys.h"
#include "src/frontend/op_lookup.h"
#include "src/frontend/parameter_options.h"
#include "src/frontend/shared_draw.h"
#include "src/frontend/supported.h"
#include "src/frontend/value_schemas.h"
#include "src/ir/op_def.h"
#include "src/model/read_ops.h"
#include "src/model/schema.h"
#include "src/model/types.h"
#include "src/ops/initializers.h"

namespace cgrun {
namespace json_schema {
namespace {

// ---- names with arguments: initialisers, schedules

// `NAME`, where it needs no arguments, or `{NAME: ARGUMENTS}`.
class NamesWithArguments {
 public:
  void Add(const std::string& name, std::string_view doc, const Json& arguments, bool alone) {
    if (alone) names_.push_back(name);
    properties_[name] = Described(doc, arguments);
  }
  Json Schema() const {
    return AnyOf({{{"enum", names_}},
                  {{"type", "object"},
                   {"minProperties", 1},
                   {"maxProperties", 1},
                   {"properties", properties_},
                   {"additionalProperties", false}},
                  Ref("placeholder")});
  }

 private:
  Json names_ = Json::array();
  Json properties_ = Json::object();
};

Json Closed(const Json& properties, const Json& required = Json::array()) {
  Json map = {{"type", "object"}, {"properties", properties}};
  if (!required.empty()) map["required"] = required;
  map["additionalProperties"] = false;
  return map;
}

Json Initializer() {
  const Json number = OrPlaceholder(Ref("number"));
  NamesWithArguments choices;
  for (const std::string& name : InitializerNames()) {
    if (name == "file") continue;
    Json properties = Json::object();
    for (const InitArgument& argument : InitArguments(name)) {
      properties[argument.name] = AnyOf({number});
      properties[argument.name]["default"] = argument.fallback;
    }
    Json arguments = OrNull(Closed(properties));
    if (properties.size() == 1) arguments = AnyOf({arguments, number});
    choices.Add(name, "initial values", arguments, true);
  }
  const Json file = Closed({{"path", Ref("text")}, {"name", Ref("text")}}, {"path"});
  choices.Add("file", "an `.npy` or `.safetensors` file", AnyOf({Ref("text"), file}), false);
  return choices.Schema();
}

Json Schedule(std::span<const SchemaChoice> schedules) {
  NamesWithArguments choices;
  for (const SchemaChoice& schedule : schedules) {
    Json properties = Json::object(), required = Json::array();
    for (const SchemaKey& key : schedule.keys) {
      properties[key.name] = Described(key.doc, ParseOrderedJson(key.type));
      if (key.required) required.push_back(key.name);
    }
    Json arguments = Closed(properties, required);
    const bool alone = required.empty();
    choices.Add(schedule.name, schedule.doc, alone ? OrNull(arguments) : arguments, alone);
  }
  return choices.Schema();
}

// A value for all parameters of an operator, or a map of a parameter's name to its own.
Json ByParameter(const Json& value) {
  return AnyOf({value, {{"type", "object"}, {"additionalProperties", value}}});
}

// ---- operators

Json CommonKeyType(std::string_view key) {
  if (key == "activation") return OrPlaceholder({{"enum", ActivationNames()}});
  if (key == "draws_as") return Ref("source");
  if (key == "init") return ByParameter(Ref("initializer"));
  if (key == "regularize") return ByParameter(Ref("regularizer"));
  if (key == "frozen") return ByParameter(OrPlaceholder({{"type", "boolean"}}));
  if (key == "lr") return ByParameter(OrPlaceholder(Ref("not_negative")));
  if (key == "schedule") return Ref("schedule");
  CGRUN_CHECK(false) << "a common key without a type: " << key;
}

// A key of items of `ops` of a kind. It may be empty, for its default, and a parameter of a block,
// but for what says what the item is.
Json KeyOfItems(const KeyDoc& key, std::string_view kind) {
  const bool reads = key.name == "in" && kind != "op";  // numbers are for operators alone
  Json type = reads ? Ref("sources") : ParseOrderedJson(key.type.json);
  if (key.name != "block" && key.name != "network") type = OrPlaceholder(type);
  return Described(key.doc, key.group.empty() ? OrNull(type) : type);
}

// An operator's keys, wherever it stands. Its name is left to the place.
Json Operator(const OpDef& def) {
  Json properties = Json::object(), required = Json::array();
  for (const KeyDoc& key : OpKeyDocs("op")) {
    if (def.usage == Usage::kOptimizer && key.name == "in") continue;
    properties[key.name] = Ref("key." + std::string(key.name));
  }
  properties["op"] = {{"description", def.summary}};
  for (const AttributeField& field : def.schema->fields()) {
    if (field.internal) continue;
    Json& property = properties[field.name] = Described(field.doc, OrPlaceholder(TypeOf(field)));
    if (field.required) {
      required.push_back(field.name);
    } else {
      property["default"] = Value(ToString(field.get(def.schema->defaults())));
    }
  }
  for (const CommonKey& key : KeysInCommon(def)) {
    properties[key.name] = Ref("key." + std::string(key.name));
  }
  if (IsOf(def, Usage::kLoss)) properties["weight"] = Ref("key.weight");
  Json schema = Closed(properties, required);
  schema["description"] = def.summary;
  return schema;
}

template <class Visit>
void ForEachOperator(Usage usage, Visit visit) {
  for (int i = 0; i < OpCount(); ++i) {
    const OpDef& def = GetOpDef(static_cast<OpId>(i));
    if (IsOf(def, usage)) visit(def);
  }
}

Json NamesOf(Usage usage) {
  Json names = Json::array();
  ForEachOperator(usage, [&](const OpDef& def) { names.push_back(def.name); });
  return {{"enum", names}};
}

bool NeedsKeys(const OpDef& def) {
  return std::ranges::any_of(def.schema->fields(), &AttributeField::required);
}

// An operator of a usage: its name, where that is enough, or a map.
Json NameOrMap(Usage usage, const Json& map) {
  Json names = Json::array();
  ForEachOperator(usage, [&](const OpDef& def) {
    if (!NeedsKeys(def)) names.push_back(def.name);
  });
  const Json name = OrPlaceholder({{"enum", names}});
  return {{"if", {{"type", "string"}}}, {"then", name}, {"else", map}};
}

// `{op: NAME, …}` of a usage. `weight` is for losses, and an operator of `ops` that is a loss has
// none of the keys that it takes there.
Json Operation(Usage usage) {
  Json properties = {{"op", OrPlaceholder(NamesOf(usage))}};
  if (usage == Usage::kOperator) properties["weight"] = false;
  Json forms = Json::array();
  ForEachOperator(usage, [&](const OpDef& def) {
    if (def.usage != usage) {
      for (const CommonKey& key : KeysInCommon(def)) properties[key.name] = false;
    }
    const Json named = {{"properties", {{"op", {{"const", def.name}}}}}, {"required", {"op"}}};
    forms.push_back({{"if", named}, {"then", Ref("op." + def.name)}});
  });
  return {{"type", "object"}, {"required", {"op"}}, {"properties", properties}, {"allOf", forms}};
}

// `NAME: {in: …}` is the operator of that name.
Json Metrics() {
  Json properties = Json::object();
  ForEachOperator(Usage::kMetric, [&](const OpDef& def) {
    properties[def.name] = {{"description", def.summary},
                            {"if", {{"type", "object"}, {"not", {{"required", {"op"}}}}}},
                            {"then", Ref("op." + def.name)},
                            {"else", OrNull(Ref("metric"))}};
  });
  return {{"type", "object"},
          {"propertyNames", Ref("name")},
          {"properties", properties},
          {"additionalProperties", Ref("metric")}};
}

// ---- items of `ops`

// Describes `{block: NAME, …}` and the other uses.
Json Use(const std::string& kind) {
  Json properties = Json::object();
  for (const KeyDoc& key : OpKeyDocs(kind)) properties[key.name] = KeyOfItems(key, kind);
  return Closed(properties, {kind});
}

// `{op: NAME, …}`, `{block: NAME, …}` …; one key says which.
Json AnyUse() {
  Json forms = Json::array(), targets = Json::array();
  for (const KeyDoc& key : OpKeyDocs()) {
    if (key.group.empty()) continue;
    const std::string kind(key.name);
    targets.push_back({{"required", {kind}}});
    forms.push_back(
        {{"if", targets.back()}, {"then", kind == "op" ? Ref("operation") : Use(kind)}});
  }
  return {{"type", "object"}, {"anyOf", targets}, {"allOf", forms}};
}

// A use, or `NAME: USE`; an operator may be its name alone.
Json Item() {
  const Json named = {{"type", "object"},
                      {"minProperties", 1},
                      {"maxProperties", 1},
                      {"propertyNames", Ref("name")},
                      {"additionalProperties", NameOrMap(Usage::kOperator, Ref("use"))}};
  const Json has_target = {{"anyOf", AnyUse()["anyOf"]}};
  return NameOrMap(Usage::kOperator, {{"if", has_target}, {"then", Ref("use")}, {"else", named}});
}

// Operators, and the places that they stand in.
void DefineOperators(std::span<const SchemaChoice> schedules, Json& definitions) {
  const Json not_negative = OrPlaceholder(Ref("not_negative"));
  definitions["initializer"] = Initializer();
  definitions["regularizer"] = Closed({{"l1", not_negative}, {"l2", not_negative}});
  definitions["schedule"] = Schedule(schedules);
  definitions["item"] = Item();
  definitions["use"] = AnyUse();
  definitions["operation"] = Operation(Usage::kOperator);
  definitions["operator"] = NameOrMap(Usage::kOperator, Ref("operation"));
  definitions["loss"] = NameOrMap(Usage::kLoss, Operation(Usage::kLoss));
  definitions["metric"] = NameOrMap(Usage::kMetric, Operation(Usage::kMetric));
  definitions["metrics"] = Metrics();
  definitions["optimizer"] = NameOrMap(Usage::kOptimizer, Operation(Usage::kOptimizer));
  for (const KeyDoc& key : OpKeyDocs("op")) {
    if (key.group.empty()) definitions["key." + std::string(key.name)] = KeyOfItems(key, "op");
  }
  definitions["key.weight"] = Described("of a loss: what it is multiplied by", Ref("number"));
  for (int i = 0; i < OpCount(); ++i) {
    const OpDef& def = GetOpDef(static_cast<OpId>(i));
    if (def.usage == Usage::kInternal) continue;
    definitions["op." + def.name] = Operator(def);
    for (const CommonKey& key : KeysInCommon(def)) {
      definitions["key." + std::string(key.name)] = Described(key.doc, CommonKeyType(key.name));
    }
  }
}

// ---- maps of keys

// The parser asks these of maps beside their tables.
struct Rule {
  std::string_view place;
  std::string_view schema;
};

constexpr Rule kRules[] = {
    {"", R"({"anyOf": [{"required": ["paths"]}, {"required": ["gan"]}]})"},
    {"", R"({"properties": {"blocks": true},
             "additionalProperties": {"$ref": "#/definitions/plain"}})"},
    {"data", R"({"properties": {"train": {"properties": {"split": false}}}})"},
    {"data.*", R"({"anyOf": [{"required": ["format"]}, {"required": ["split"]}]})"},
    {"data.*", R"({"if": {"required": ["format"]}, "else": {
                     "properties": {"split": true}, "additionalProperties": false}})"},
    {"networks.*", R"({"if": {"required": ["onnx"],
                              "properties": {"onnx": {"not": {"type": "null"}}}},
                       "then": {"if": {"required": ["ops"], "properties": {"ops": {"type": "array"}}},
                                "then": {"properties": {"frozen": false, "train": false}},
                                "else": {"properties": {"out": {"type": "null"}}}},
                       "else": {"required": ["in", "ops"],
                                "properties": {"in": {"not": {"type": "null"}},
                                               "ops": {"not": {"type": "null"}},
                                               "outputs": false, "dims": false,
                                               "constants": false, "frozen": false,
                                               "train": false}}})"},
    {"paths.*", R"({"if": {"properties": {"mode": {"enum": ["backprop", null]}}},
                    "then": {"required": ["loss"],
                             "properties": {"loss": {"not": {"enum": [null, []]}}}},
                    "else": {"properties": {"optimizer": false, "trains": false,
                                            "clip_weights": false}}})"},
    {"gan", R"({"if": {"properties": {"loss": {"const": "wasserstein"}}, "required": ["loss"]},
                "then": {"anyOf": [{"required": ["clip"]}, {"required": ["gradient_penalty"]}]},
                "else": {"properties": {"clip": false, "gradient_penalty": false}}})"},
    {"train.clip", R"({"minProperties": 1})"},
};

// At most one key of a group may have a value.
void AddGroups(const std::vector<KeyDoc>& keys, Json& rules) {
  const Json given = {{"not", {{"type", "null"}}}};
  for (size_t i = 0; i < keys.size(); ++i) {
    for (size_t j = i + 1; j < keys.size(); ++j) {
      if (keys[i].group.empty() || keys[i].group != keys[j].group) continue;
      const Json both = {{"required", {keys[i].name, keys[j].name}},
                         {"properties", {{keys[i].name, given}, {keys[j].name, given}}}};
      rules.push_back({{"not", both}});
    }
  }
}

// The tables of FormatReference(), each a definition that is called as its place: "paths.*".
class Maps {
 public:
  explicit Maps(std::span<const SchemaChoice> formats) : formats_(formats) {}

  Json File() const { return Table(maps_.front()); }

  void Define(Json& definitions) const {
    for (const MapDoc& map : maps_) {
      const bool apart = map.place.empty() || map.place == "ops[]";  // the file; see Item()
      if (!apart) definitions[map.place] = Table(map);
    }
  }

 private:
  Json Table(const MapDoc& map) const {
    Json properties = Json::object(), required = Json::array(), rules = Json::array();
    for (const KeyDoc& key : map.keys) {
      properties[key.name] = Property(map.place, key);
      if (key.fallback == kRequired) required.push_back(key.name);
    }
    for (const Rule& rule : kRules) {
      if (rule.place == map.place) rules.push_back(ParseOrderedJson(rule.schema));
    }
    if (map.place == "data.*") AddFormats(rules);
    AddGroups(map.keys, rules);
    Json schema = Closed(properties, required);
    if (map.open) schema.erase("additionalProperties");
    if (!rules.empty()) schema["allOf"] = rules;
    return schema;
  }

  // Finds the table of a place; for "data.train" that of "data.*".
  const MapDoc* Find(const std::string& place) const {
    const std::string any = place.substr(0, place.rfind('.') + 1) + "*";
    const auto found = std::ranges::find_if(
        maps_, [&](const MapDoc& map) { return map.place == place || map.place == any; });
    return found == maps_.end() ? nullptr : &*found;
  }

  static bool IsMap(const KeyDoc& key) { return key.type.text == kMapType.text; }

  Json TypeOf(std::string_view place, const KeyDoc& key) const {
    const std::string below =
        (place.empty() ? "" : std::string(place) + ".") + std::string(key.name);
    const MapDoc* const map = Find(below);
    // "data.*" stands for the maps in `data`, and not for the texts.
    if (map != nullptr && (map->place == below || IsMap(key))) return Ref(map->place);
    if (const MapDoc* items = Find(below + ".*")) {
      return {{"type", "object"},
              {"propertyNames", Ref("name")},
              {"additionalProperties", Ref(items->place)}};
    }
    return Supported(place, key.name, ParseOrderedJson(key.type.json));
  }

  Json Property(std::string_view place, const KeyDoc& key) const {
    const Json type = TypeOf(place, key);
    const bool required = key.fallback == kRequired;
    Json property = Described(key.doc, required ? type : OrNull(type));
    if (!required && !key.fallback.empty()) property["default"] = Value(std::string(key.fallback));
    return property;
  }

  // Leaves out the values that this version does not carry out.
  static Json Supported(std::string_view place, std::string_view name, const Json& type) {
    for (const UnsupportedKey& key : UnsupportedKeys()) {
      if (key.place != place || key.key != name) continue;
      if (key.values.empty()) return {{"enum", {Json::array(), key.fine}}};
      return {{"allOf", {type, {{"not", {{"enum", Choices({key.values, ""})}}}}}}};
    }
    return type;
  }

  // The options of the formats of data sets.
  void AddFormats(Json& rules) const {
    Json names = Json::array();
    for (const SchemaChoice& format : formats_) {
      names.push_back(format.name);
      Json properties = {{"format", {{"description", format.doc}}}, {"split", true}};
      Json required = Json::array();
      for (const SchemaKey& key : format.keys) {
        const Json type = ParseOrderedJson(key.type);
        properties[key.name] = Described(key.doc, key.required ? type : OrNull(type));
        if (key.required) required.push_back(key.name);
      }
      Json options = Closed(properties, required);
      if (!format.others.empty()) options["additionalProperties"] = ParseOrderedJson(format.others);
      rules.push_back(
          {{"if",
            {{"properties", {{"format", {{"const", format.name}}}}}, {"required", {"format"}}}},
           {"then", options}});
    }
    rules.push_back({{"properties", {{"format", OrNull({{"enum", names}})}}}});
  }

  std::span<const SchemaChoice> formats_;
  const std::vector<MapDoc> maps_ = FormatReference();
};

}  // namespace
}  // namespace json_schema

std::string NumberSchema(bool whole, double minimum, double maximum) {
  const char* type = whole ? "integer" : "number";
  return JsonText(json_schema::AnyOf(
      {json_schema::InRange(type, minimum, maximum), json_schema::Ref("ratio")}));
}

std::string JsonSchema(std::span<const SchemaChoice> formats,
                       std::span<const SchemaChoice> schedules) {
  json_schema::Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                              {"title", "A model file of cgrun"}};
  const json_schema::Maps maps(formats);
  schema.update(maps.File());
  json_schema::Json& definitions = schema["definitions"] = json_schema::Values();
  maps.Define(definitions);
  json_schema::DefineOperators(schedules, definitions);
  return JsonText(schema, 1) + "\n";
}

}  // namespace cgrun
