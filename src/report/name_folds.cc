// From the deepest parts to the first.
#include "src/report/name_folds.h"

#include <algorithm>
#include <set>
#include <utility>

namespace cgrun {
namespace {

constexpr int kLeastParts = 2;

int PartsOf(std::string_view name) {
  return static_cast<int>(std::count(name.begin(), name.end(), '.')) + 1;
}

}  // namespace

std::string_view FirstParts(std::string_view name, int count) {
  size_t at = 0;
  for (int i = 0; i < count; ++i) {
    at = name.find('.', at + (i > 0));
    if (at == name.npos) return name;
  }
  return name.substr(0, at);
}

int CommonParts(std::string_view a, std::string_view b) {
  const int most = std::min(PartsOf(a), PartsOf(b));
  int common = 0;
  while (common < most && FirstParts(a, common + 1) == FirstParts(b, common + 1)) ++common;
  return common;
}

std::vector<std::string> FoldNames(const std::vector<std::string>& names,
                                   const std::vector<int>& kinds, size_t most) {
  if (names.size() <= most) return names;
  int parts = kLeastParts;
  for (const std::string& name : names) parts = std::max(parts, PartsOf(name));
  for (; parts > kLeastParts; --parts) {
    std::set<std::pair<int, std::string_view>> blocks;
    for (size_t i = 0; i < names.size(); ++i) {
      blocks.emplace(kinds[i], FirstParts(names[i], parts));
    }
    if (blocks.size() <= most) break;
  }
  std::vector<std::string> folded;
  for (const std::string& name : names) folded.emplace_back(FirstParts(name, parts));
  return folded;
}

}  // namespace cgrun
