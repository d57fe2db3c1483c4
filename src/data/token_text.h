// A text whose lines are samples: TokenText reads it, ForEachLine() and ForEachToken() walk through
// it.
#ifndef CGRUN_DATA_TOKEN_TEXT_H_
#define CGRUN_DATA_TOKEN_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/data/options.h"
#include "src/data/sample_store.h"

namespace cgrun {

enum class TokenKind {
  kWords,  // tokens stand between blanks
  kBytes,
  kIds  // integers between blanks
};

struct TextLine {
  std::string_view text;  // without its end
  int number = 1;
};

// Holds a text file in memory. The file is in UTF-8, plain or compressed by gzip.
class TokenText {
 public:
  // UserError where the file cannot be read, has more bytes than are left or is in UTF-16.
  TokenText(std::string path, const MemoryLeft& left);
  TokenText(const TokenText&) = delete;
  TokenText& operator=(const TokenText&) = delete;

  const std::string& path() const { return path_; }
  std::string_view text() const { return text_; }
  // Returns the bytes of memory that the text takes.
  int64_t bytes() const { return bytes_.bytes(); }
  // Marks `part`, a part of `line`.
  SourceMark MarkOf(const TextLine& line, std::string_view part) const;

 private:
  std::string path_;
  SampleStore bytes_;
  std::string_view text_;  // without the byte order mark
};

inline constexpr std::string_view kBlanks = " \t\v\f\r";

// Calls `act(TextLine)`, for lines that are not empty, until it gives false. Lines end with LF or
// CRLF.
template <class Act>
void ForEachLine(std::string_view text, Act act) {
  for (TextLine line; !text.empty(); ++line.number) {
    const size_t end = text.find('\n');
    line.text = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    if (line.text.ends_with('\r')) line.text.remove_suffix(1);
    if (!line.text.empty() && !act(line)) return;
  }
}

// Calls `act(std::string_view)` for the tokens of a line until it gives false.
template <class Act>
void ForEachToken(std::string_view line, TokenKind kind, Act act) {
  if (kind == TokenKind::kBytes) {
    for (size_t i = 0; i < line.size(); ++i) {
      if (!act(line.substr(i, 1))) return;
    }
    return;
  }
  for (size_t begin = 0; (begin = line.find_first_not_of(kBlanks, begin)) != line.npos;) {
    const size_t end = line.find_first_of(kBlanks, begin);
    if (!act(line.substr(begin, end - begin)) || end == line.npos) return;
    begin = end;
  }
}

}  // namespace cgrun

#endif  // CGRUN_DATA_TOKEN_TEXT_H_
