// Matches part by part, from the left.
#include "src/model/name_pattern.h"

namespace cgrun {

// The parts between stars are found from the left, each at its first place. The last part must end
// the name. This finds a match if there is one.
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

}  // namespace cgrun
