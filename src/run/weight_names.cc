// Rules are applied one after the other, so that a table has prefixes and suffixes apart.
#include "src/run/weight_names.h"

#include <algorithm>
#include <array>

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

std::string CommonFront(const std::vector<std::string_view>& names) {
  constexpr std::array<std::string_view, 4> kFronts = {"state_dict.", "module.", "model.",
                                                       "_orig_mod."};
  std::string front;
  for (bool found = !names.empty(); found;) {
    found = false;
    for (const std::string_view next : kFronts) {
      const std::string longer = front + std::string(next);
      if (!std::ranges::all_of(names, [&](auto name) { return name.starts_with(longer); }))
        continue;
      front = longer;
      found = true;
    }
  }
  return front;
}

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
