// Rules are applied one after the other, so that a table has prefixes and suffixes apart.
#include "src/run/weight_names.h"

namespace cgrun {
namespace {

// Puts the texts in place of the `*` of `replacement`, in their order.
std::string WithStars(std::string_view replacement, const std::vector<std::string>& stars) {
  std::string text;
  size_t next = 0;
  for (const char c : replacement) {
    if (c != '*') {
      text += c;
    } else {
      text += stars[next++];
    }
  }
  return text;
}

}  // namespace

std::optional<std::string> Renamed(std::string name, const std::vector<RenameRule>& rules) {
  for (const RenameRule& rule : rules) {
    const auto stars = MatchStars(rule.pattern.value, name);
    if (!stars) continue;
    if (!rule.name) return std::nullopt;
    name = WithStars(rule.name->value, *stars);
  }
  return name;
}

}  // namespace cgrun
