// Compares whole names, and as many parts of their ends as the wrong name has.
#include "src/frontend/near_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "src/base/diagnostics.h"
#include "src/base/word_list.h"

namespace cgrun {
namespace {

constexpr char kWhoLists[] = "`cgrun graph MODEL` and `cgrun plan MODEL --full` list them";

// The last `parts` parts of a name, which dots part.
std::string EndOf(const std::string& name, std::ptrdiff_t parts) {
  size_t begin = name.size();
  for (; parts > 0 && begin != std::string::npos; --parts) {
    begin = begin == 0 ? std::string::npos : name.rfind('.', begin - 1);
  }
  return begin == std::string::npos ? name : name.substr(begin + 1);
}

// "" where there is none.
std::string NearlyCalled(const std::string& name, const std::vector<std::string>& known) {
  const std::string nearest = NearestName(name, known);
  if (!nearest.empty()) return nearest;
  const std::ptrdiff_t parts = std::ranges::count(name, '.') + 1;
  std::vector<std::string> ends;
  for (const std::string& other : known) ends.push_back(EndOf(other, parts));
  const auto end = std::ranges::find(ends, NearestName(name, ends));
  return end == ends.end() ? "" : known[static_cast<size_t>(end - ends.begin())];
}

}  // namespace

std::string ListOfNames(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back("'" + name + "'");
  if (quoted.size() <= kMostListed) return ListWords(quoted, "or");
  return fmt::format("{}, … and {} more; {}",
                     fmt::join(quoted | std::views::take(kMostListed), ", "),
                     quoted.size() - kMostListed, kWhoLists);
}

std::vector<std::string> NamesWithPart(const std::string& name,
                                       const std::vector<std::string>& known) {
  std::vector<std::string> found;
  for (const std::string& other : known) {
    if (other.starts_with(name) || other.find("." + name) != std::string::npos) {
      found.push_back(other);
    }
  }
  return found;
}

std::string HelpWithName(const std::string& name, const std::vector<std::string>& known,
                         const std::vector<std::string>& related) {
  if (!related.empty()) return "names with a part that begins so: " + ListOfNames(related);
  const std::string nearest = NearlyCalled(name, known);
  return nearest.empty() ? kWhoLists : "did you mean '" + nearest + "'?";
}

}  // namespace cgrun
