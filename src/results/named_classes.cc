#include "src/results/named_classes.h"

namespace cgrun {

std::vector<std::string> FindClassNames(const ClassNames& names, std::string_view input,
                                        int64_t count) {
  if (!input.empty() && names.contains(std::string(input))) return names.at(std::string(input));
  const std::vector<std::string>* found = nullptr;
  int lists = 0;
  for (const auto& [name, classes] : names) {
    if (static_cast<int64_t>(classes.size()) != count) continue;
    found = &classes;
    ++lists;
  }
  if (lists == 1) return *found;
  return !input.empty() && names.contains("") ? names.at("") : std::vector<std::string>();
}

}  // namespace cgrun
