// Read from the command line's one description, as the help in words is.
#include "src/cli/help_json.h"

#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "src/base/json_text.h"
#include "src/cli/argument_values.h"
#include "src/cli/command.h"
#include "src/cli/command_line.h"
#include "src/cli/version.h"
#include "src/kernels/kernel.h"

namespace cgrun {
namespace {

using Json = nlohmann::ordered_json;

// The object has "value" unless there is none, and "words" where it is one of a few.
Json JsonOf(const Flag& flag) {
  const ArgumentValues values = ValuesOf(flag);
  Json json = Json::object();
  if (flag.is_argument()) json["name"] = flag.name();
  for (const std::string& name : flag.short_names()) json["names"].push_back("-" + name);
  for (const std::string& name : flag.long_names()) json["names"].push_back("--" + name);
  if (values.kind != ArgumentValues::Kind::kNone) {
    json["value"] = values.name;
    json["value_is_optional"] = values.optional;
  }
  if (!values.words.empty()) json["words"] = values.words;
  json["required"] = flag.is_required();
  json["description"] = flag.description();
  return json;
}

Json OptionsOf(const Verb& verb, bool positional) {
  Json list = Json::array();
  for (const Flag& flag : verb.flags()) {
    if (flag.is_argument() == positional) list.push_back(JsonOf(flag));
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

Json JsonOf(const Verb& verb) {
  return {{"name", verb.name()},
          {"summary", verb.summary()},
          {"arguments", OptionsOf(verb, /*positional=*/true)},
          {"flags", OptionsOf(verb, /*positional=*/false)},
          {"examples", ExamplesOf(verb.name())}};
}

std::string TextOf(const Json& json) { return JsonText(json, 2) + "\n"; }

}  // namespace

std::string HelpJson(const CommandLine& line) {
  if (const std::optional<Verb> verb = line.chosen()) return TextOf(JsonOf(*verb));
  Json json = {{"name", line.program().name()},
               {"summary", line.program().summary()},
               {"flags", OptionsOf(line.program(), /*positional=*/false)},
               {"verbs", Json::array()}};
  for (const CommandEntry& entry : Commands()) {
    json["verbs"].push_back(JsonOf(line.verb(entry.name)));
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
