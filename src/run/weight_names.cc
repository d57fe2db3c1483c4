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

// The parts between stars are found from the left, each at its first place: the last part ends the
// name. That finds a match if there is one.
std::optional<std::vector<std::string>> MatchStars(std::string_view pattern,
                                                   std::string_view name) {
  std::vector<std::string> stars;
  const size_t star = pattern.find('*');
  if (!name.starts_with(pattern.substr(0, star))) return std::nullopt;
  if (star == pattern.npos) return name == pattern ? std::optional(stars) : std::nullopt;
  name.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  for (;;) {
    const size_t next = pattern.find('*');
    const std::string_view part = pattern.substr(0, next);
    if (next == pattern.npos) {
      if (!name.ends_with(part)) return std::nullopt;
      stars.emplace_back(name.substr(0, name.size() - part.size()));
      return stars;
    }
    const size_t found = name.find(part);
    if (found == name.npos) return std::nullopt;
    stars.emplace_back(name.substr(0, found));
    name.remove_prefix(found + part.size());
    pattern.remove_prefix(next + 1);
  }
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
