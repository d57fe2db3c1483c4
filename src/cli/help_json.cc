// Read from the command line's one description, as the help in words is.
#include "src/cli/help_json.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "src/base/json_text.h"
#include "src/cli/command.h"
#include "src/cli/command_line.h"
#include "src/cli/version.h"
#include "src/kernels/kernel.h"

namespace cgrun {
namespace {

using Json = nlohmann::ordered_json;

// Without "value", where there is none; with "words" where it is one of a few.
Json JsonOf(const CLI::Option& option) {
  const ArgumentValues values = ValuesOf(option);
  Json json = Json::object();
  if (option.get_positional()) json["name"] = option.get_name();
  for (const std::string& name : option.get_snames()) json["names"].push_back("-" + name);
  for (const std::string& name : option.get_lnames()) json["names"].push_back("--" + name);
  if (values.kind != ArgumentValues::Kind::kNone) {
    json["value"] = values.name;
    json["value_is_optional"] = values.optional;
  }
  if (!values.words.empty()) json["words"] = values.words;
  json["required"] = option.get_required();
  json["description"] = option.get_description();
  return json;
}

Json OptionsOf(const CLI::App& app, bool positional) {
  Json list = Json::array();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() == positional) list.push_back(JsonOf(*option));
  }
  return list;
}

Json ExamplesOf(const std::string& verb) {
  Json lines = Json::array();
  for (const CommandEntry& entry : Commands()) {
    if (entry.name != verb) continue;
    std::istringstream text(entry.examples);
    for (std::string line; std::getline(text, line);) lines.push_back(line);
  }
  return lines;
}

Json JsonOf(const CLI::App& verb) {
  return {{"name", verb.get_name()},
          {"summary", verb.get_description()},
          {"arguments", OptionsOf(verb, /*positional=*/true)},
          {"flags", OptionsOf(verb, /*positional=*/false)},
          {"examples", ExamplesOf(verb.get_name())}};
}

std::string TextOf(const Json& json) { return JsonText(json, 2) + "\n"; }

}  // namespace

std::string HelpJson(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  if (!chosen.empty()) return TextOf(JsonOf(*chosen.back()));
  Json json = {{"name", app.get_name()},
               {"summary", app.get_description()},
               {"flags", OptionsOf(app, /*positional=*/false)},
               {"verbs", Json::array()}};
  for (const CommandEntry& entry : Commands()) {
    json["verbs"].push_back(JsonOf(*app.get_subcommand(entry.name)));
  }
  return TextOf(json);
}

std::string VersionJson() {
  Json libraries = Json::object();
  for (const auto& [name, version] : LibraryVersions()) libraries[name] = version;
  return TextOf({{"version", kVersion},
                 {"libraries", libraries},
                 {"kernels", DescribeKernels(FastestHostDevice())}});
}

}  // namespace cgrun
