// Metadata hold lists of names as JSON.
#include "src/model_data/class_names.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "src/base/json_text.h"

namespace cgrun {
namespace {

constexpr std::string_view kPrefix = "classes.";

// The list of the option `classes`; in some formats it is a number.
std::vector<std::string> OptionClasses(const std::optional<DataSpec>& spec) {
  std::vector<std::string> names;
  if (!spec) return names;
  for (const Attribute& option : spec->options) {
    if (option.key != "classes") continue;
    for (const TreeNode& item : option.value.items) names.push_back(item.scalar);
  }
  return names;
}

}  // namespace

ClassNames ClassNamesOf(const Dataset& dataset, const std::vector<std::string>& inputs) {
  ClassNames names;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto of_field = dataset.ClassNames(i);
    if (!of_field.empty()) names[inputs[i]] = {of_field.begin(), of_field.end()};
  }
  return names;
}

ClassNames ClassNamesInFile(const ModelSpec& model) {
  if (!model.data) return {};
  for (const auto* spec : {&model.data->train, &model.data->test, &model.data->valid}) {
    const std::vector<std::string> names = OptionClasses(*spec);
    if (!names.empty()) return {{"", names}};
  }
  return {};
}

SafetensorsMetadata ClassMetadata(const ClassNames& names) {
  SafetensorsMetadata metadata;
  for (const auto& [input, classes] : names) {
    metadata[std::string(kPrefix) + input] = JsonText(nlohmann::json(classes));
  }
  return metadata;
}

ClassNames ReadClassMetadata(const SafetensorsMetadata& metadata) {
  ClassNames names;
  for (const auto& [key, text] : metadata) {
    if (!key.starts_with(kPrefix)) continue;
    const auto json = TryParseJson(text);
    std::vector<std::string> classes;
    if (!json.is_array()) continue;
    for (const auto& name : json) {
      if (name.is_string()) classes.push_back(name.get<std::string>());
    }
    if (classes.size() == json.size()) names[key.substr(kPrefix.size())] = std::move(classes);
  }
  return names;
}

}  // namespace cgrun
