#include "src/base/word_list.h"

#include <fmt/format.h>

#include <algorithm>

namespace cgrun {

std::string ListWords(std::span<const std::string> words, std::string_view before_last) {
  if (words.size() < 2) return fmt::format("{}", fmt::join(words, ""));
  return fmt::format("{} {} {}", fmt::join(words.first(words.size() - 1), ", "), before_last,
                     words.back());
}

std::string ListFirst(std::span<const std::string> words, size_t most) {
  const std::string first =
      fmt::format("{}", fmt::join(words.first(std::min(most, words.size())), ", "));
  return words.size() <= most ? first : fmt::format("{} and {} more", first, words.size() - most);
}

}  // namespace cgrun
