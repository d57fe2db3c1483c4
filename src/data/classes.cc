// The option `classes`, and the classes of the training set.
#include "src/data/classes.h"

#include <algorithm>

#include "src/data/options.h"

namespace cgrun {
namespace {

std::optional<ClassTable> FromOption(const DataOption& option, Diagnostics& diagnostics) {
  ClassTable classes{{}, "of the option `classes`"};
  const int errors = diagnostics.error_count();
  if (option.items.empty()) {
    diagnostics.Error(option.mark, "'classes' must be a list of names",
                      "for example `classes: [cat, dog]`");
  }
  for (const DataOption& item : option.items) {
    if (std::ranges::find(classes.names, item.value) != classes.names.end()) {
      diagnostics.Error(item.mark, "class '" + item.value + "' stands twice in the list");
    }
    classes.names.push_back(item.value);
  }
  if (diagnostics.error_count() > errors) return std::nullopt;
  return classes;
}

}  // namespace

std::optional<ClassTable> KnownClasses(const DataOptions& options, std::string_view field,
                                       Diagnostics& diagnostics) {
  if (const DataOption* option = FindOption(options, "classes")) {
    return FromOption(*option, diagnostics);
  }
  if (options.train == nullptr) return ClassTable();
  const std::vector<DataField>& fields = options.train->fields();
  for (size_t i = 0; i < fields.size(); ++i) {
    const std::span<const std::string> names = options.train->ClassNames(i);
    if (fields[i].name != field || names.empty()) continue;
    return ClassTable{{names.begin(), names.end()}, "of the training data"};
  }
  return ClassTable();
}

std::map<std::string, int32_t, std::less<>> LabelsOf(const ClassTable& classes) {
  std::map<std::string, int32_t, std::less<>> labels;
  for (const std::string& name : classes.names) {
    labels.emplace(name, static_cast<int32_t>(labels.size()));
  }
  return labels;
}

}  // namespace cgrun
