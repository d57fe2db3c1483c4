// Enumerations in messages. A list without a last word of its own is fmt::join()'s.
#ifndef CGRUN_BASE_WORD_LIST_H_
#define CGRUN_BASE_WORD_LIST_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace cgrun {

// "a, b and c" with "and" as `before_last`.
std::string ListWords(std::span<const std::string> words, std::string_view before_last);

// The first `most` words: "a, b and 7 more".
std::string ListFirst(std::span<const std::string> words, size_t most);

}  // namespace cgrun

#endif  // CGRUN_BASE_WORD_LIST_H_
