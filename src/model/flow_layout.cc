// Lines and brackets between what the parser tells of.
#include "src/model/flow_layout.h"

#include <algorithm>
#include <string_view>

namespace cgrun {

int FlowLayout::LeastColumn(size_t offset, int column) const {
  const size_t line = text_.BeginOfLine(text_.LineOf(offset));
  const size_t content = text_.text().find_first_not_of(' ', line);
  return std::min(column, text_.ColumnOf(content));
}

void FlowLayout::Begin(size_t offset, int column) {
  column_ = LeastColumn(offset, column);
  reached_ = offset;
}

std::optional<size_t> FlowLayout::FindShallow(size_t begin, size_t end, int column,
                                              std::string_view ignored) const {
  const std::string_view text = text_.masked();
  for (size_t line = text_.EndOfLine(begin); line < end; line = text_.EndOfLine(line + 1)) {
    const size_t content = text.find_first_not_of(" \t", line + 1);
    if (content > end || content >= text.size()) break;
    const bool is_text = text[content] != '\n' && ignored.find(text[content]) == ignored.npos;
    if (is_text && text_.ColumnOf(content) <= column) return content;
  }
  return std::nullopt;
}

std::optional<size_t> FlowLayout::FindShallowQuoted(size_t begin, size_t end, int column) const {
  return FindShallow(begin, end, LeastColumn(begin, column), "");
}

std::optional<size_t> FlowLayout::Reach(size_t end) {
  const std::optional<size_t> shallow = FindShallow(reached_, end, column_, "#]}");
  reached_ = std::max(reached_, end);
  return shallow;
}

// Since what was reached there are blanks, comments and the rest of a plain text, which holds no
// bracket.
size_t FlowLayout::ClosingBracket() const {
  const std::string_view text = text_.masked();
  size_t at = reached_;
  for (; at < text.size() && text[at] != ']' && text[at] != '}'; ++at) {
    const bool is_comment = text[at] == '#' && (text[at - 1] == ' ' || text[at - 1] == '\n');
    if (is_comment) at = text_.EndOfLine(at);
  }
  return at;
}

}  // namespace cgrun
