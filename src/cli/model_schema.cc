// The tables of src/data and src/run, which the front end does not see.
#include "src/cli/model_schema.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "src/base/json_text.h"
#include "src/data/dataset.h"
#include "src/frontend/json_schema.h"
#include "src/run/rate_schedule.h"

namespace cgrun {
namespace {

using Json = nlohmann::ordered_json;

Json TextType(bool list) { return {{"$ref", list ? "#/definitions/texts" : "#/definitions/text"}}; }

// Options are texts, whatever YAML takes them for: `true` and `"true"` are one.
Json OptionType(const DataOptionValues& values) {
  if (values.integer) return {{"type", {"integer", "string"}}, {"pattern", "^-?[0-9]+$"}};
  if (values.choices.empty()) return TextType(values.list);
  Json choices = Json::array();
  for (const std::string_view choice : values.choices) {
    choices.push_back(choice);
    if (choice == "true" || choice == "false") choices.push_back(choice == "true");
  }
  return {{"enum", choices}};
}

std::vector<SchemaChoice> Formats() {
  std::vector<SchemaChoice> formats;
  for (const DataFormat* format : DataFormats()) {
    SchemaChoice choice{std::string(format->name), std::string(format->doc), {}};
    for (const DataOptionSpec& option : format->options) {
      choice.keys.push_back({std::string(option.name), std::string(option.doc),
                             JsonText(OptionType(option.values)), option.required});
    }
    const bool fields = !format->field_option_doc.empty();
    if (fields) choice.others = JsonText(TextType(format->field_option_list));
    formats.push_back(std::move(choice));
  }
  return formats;
}

std::string ArgumentType(const ScheduleArgument& argument) {
  if (argument.number == nullptr) return JsonText(TextType(false));
  return NumberSchema(argument.whole, argument.least, argument.most);
}

std::vector<SchemaChoice> Schedules() {
  std::vector<SchemaChoice> schedules;
  for (const ScheduleKind& kind : ScheduleKinds()) {
    SchemaChoice choice{kind.name, kind.doc, {}};
    for (const ScheduleArgument& argument : kind.arguments) {
      choice.keys.push_back(
          {argument.name, argument.doc, ArgumentType(argument), argument.required});
    }
    schedules.push_back(std::move(choice));
  }
  return schedules;
}

}  // namespace

std::string ModelSchema() { return JsonSchema(Formats(), Schedules()); }

}  // namespace cgrun
