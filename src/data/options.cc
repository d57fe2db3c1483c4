// Values of options: paths and integers.
#include "src/data/options.h"

#include <charconv>

namespace cgrun {

const DataOption* FindOption(const DataOptions& options, std::string_view name) {
  const auto found = options.values.find(std::string(name));
  return found == options.values.end() ? nullptr : &found->second;
}

std::string ResolvePath(const DataOptions& options, const DataOption& option) {
  const bool absolute = option.value.starts_with('/');
  if (absolute || options.folder.empty() || option.value.empty()) return option.value;
  return options.folder + (options.folder.ends_with('/') ? "" : "/") + option.value;
}

std::optional<int64_t> IntegerOption(const DataOptions& options, std::string_view name, int64_t low,
                                     int64_t high, int64_t otherwise, Diagnostics& diagnostics) {
  const DataOption* option = FindOption(options, name);
  if (option == nullptr) return otherwise;
  const char* end = option->value.data() + option->value.size();
  int64_t value = 0;
  const auto [stop, error] = std::from_chars(option->value.data(), end, value);
  if (error == std::errc() && stop == end && value >= low && value <= high) return value;
  diagnostics.Error(option->mark, "option '" + std::string(name) + "' is '" + option->value +
                                      "', but must be an integer from " + std::to_string(low) +
                                      " to " + std::to_string(high));
  return std::nullopt;
}

}  // namespace cgrun
