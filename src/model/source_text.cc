// Checks encodings and indentation, hides brackets, and makes marks from offsets.
#include "src/model/source_text.h"

#include <algorithm>
#include <utility>

#include "src/base/printable.h"
#include "src/model/tree.h"
#include "src/model/values.h"

namespace cgrun {
namespace {

// Brackets are hidden as control characters, which a checked text cannot hold.
constexpr std::string_view kBrackets = "{}[]";
constexpr std::string_view kHidden = "\x01\x02\x03\x04";

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

bool IsControl(std::string_view text, size_t at) {
  const auto c = static_cast<unsigned char>(text[at]);
  if (c == 0xC2) return static_cast<unsigned char>(text[at + 1]) < 0xA0;  // U+0080 to U+009F
  return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7F;
}

struct BadByte {
  size_t offset;
  bool control;  // else: not UTF-8
};

// The first byte that a model file must not hold; all such become '?', so that the text can be
// shown.
std::optional<BadByte> ReplaceBadBytes(std::string& text) {
  std::optional<BadByte> first;
  for (size_t i = 0; i < text.size();) {
    const size_t bytes = Utf8Bytes(std::string_view(text).substr(i));
    const bool control = bytes > 0 && IsControl(text, i);
    if (bytes == 0 || control) {
      if (!first) first = BadByte{i, control};
      for (size_t j = 0; j < std::max<size_t>(bytes, 1); ++j) text[i + j] = '?';
    }
    i += std::max<size_t>(bytes, 1);
  }
  return first;
}

std::string NormalLineEnds(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const bool pair = text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    if (!pair) out += text[i] == '\r' ? '\n' : text[i];
  }
  return out;
}

// The first tab that indents a line with something on it.
std::optional<size_t> FindTabIndentation(std::string_view text) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const size_t content = std::min(text.find_first_not_of(" \t", begin), end);
    const size_t tab = text.substr(begin, content - begin).find('\t');
    const bool empty = content == end || text[content] == '#';
    if (tab != std::string_view::npos && !empty) return begin + tab;
    begin = end + 1;
  }
  return std::nullopt;
}

// Returns the offset of a bracket that stands in so many open ones that no file needs them, in
// texts and comments neither. The YAML library takes hundreds of bytes for each bracket of a line
// before it tells how deep they are.
std::optional<size_t> FindDeepBracket(std::string_view text) {
  constexpr int64_t kMostOpen = 100'000;
  int64_t open = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[' || text[i] == '{') ++open;
    if (text[i] == ']' || text[i] == '}') --open;
    if (open > kMostOpen) return i;
  }
  return std::nullopt;
}

// Hides the bracket at `begin`, of the kind `open` in kBrackets, and the one that closes it, if
// only `inside` stands between them.
void HidePair(std::string& text, size_t begin, size_t open, bool (*inside)(char)) {
  size_t end = begin + 1;
  while (end < text.size() && inside(text[end])) ++end;
  if (end == text.size() || end == begin + 1 || text[end] != kBrackets[open + 1]) return;
  text[begin] = kHidden[open];
  text[end] = kHidden[open + 1];
}

std::string Mask(std::string text) {
  const auto in_braces = [](char c) {  // the characters of an expression
    return IsIdentifier(std::string{'_', c}) ||
           std::string_view(" +-*/%()=!<>").find(c) != std::string_view::npos;
  };
  const auto in_brackets = [](char c) { return c >= '0' && c <= '9'; };
  for (size_t i = 1; i < text.size(); ++i) {
    const bool name = IsIdentifier(std::string{'_', text[i - 1]});
    if (text[i] == '{' && text[i - 1] == '$') HidePair(text, i, 0, in_braces);
    if (text[i] == '[' && name) HidePair(text, i, 2, in_brackets);
  }
  return text;
}

// The error of a text that starts like UTF-16 or UTF-32, or is too large.
std::optional<std::string> WrongKindOfFile(std::string_view text) {
  if (text.size() > kMaxFileBytes) {
    return "a model file has at most " + std::to_string(kMaxFileBytes >> 20) + " MiB";
  }
  const bool wide = text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF") ||
                    text.starts_with(std::string_view("\0\0\xFE\xFF", 4));
  if (wide) return "the file is UTF-16 or UTF-32, and must be UTF-8";
  return std::nullopt;
}

}  // namespace

SourceText::SourceText(SourceFile file) : masked_(Mask(file.text)) {
  file_ = std::make_shared<const SourceFile>(std::move(file));
  const std::string_view text = file_->text;
  line_begins_.push_back(0);
  characters_.reserve(text.size() + 1);
  uint32_t characters = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    characters_.push_back(characters);
    characters += IsContinuation(text[i]) ? 0 : 1;
    if (text[i] == '\n') line_begins_.push_back(i + 1);
  }
  characters_.push_back(characters);
}

std::optional<SourceText> SourceText::Prepare(SourceFile file, Diagnostics& diagnostics) {
  if (const auto error = WrongKindOfFile(file.text)) {
    file.text.clear();
    diagnostics.Error({std::make_shared<const SourceFile>(std::move(file)), 0, 0}, *error);
    return std::nullopt;
  }
  if (file.text.starts_with("\xEF\xBB\xBF")) file.text.erase(0, 3);
  file.text = NormalLineEnds(file.text);
  const std::optional<BadByte> bad = ReplaceBadBytes(file.text);
  const std::optional<size_t> tab = FindTabIndentation(file.text);
  SourceText text(std::move(file));
  if (bad) {
    diagnostics.Error(text.MarkAt(bad->offset),
                      bad->control ? "a control character" : "a byte that is not UTF-8",
                      bad->control ? "remove it" : "save the file as UTF-8");
    return std::nullopt;
  }
  if (tab) {
    diagnostics.Error(text.MarkAt(*tab), "a tab in the indentation", "indent with spaces");
    return std::nullopt;
  }
  if (const auto deep = FindDeepBracket(text.text())) {
    diagnostics.Error(text.MarkAt(*deep),
                      "nested deeper than " + std::to_string(kMaxTreeDepth) + " levels");
    return std::nullopt;
  }
  return text;
}

std::string SourceText::Unmask(std::string scalar) {
  for (char& c : scalar) {
    const size_t hidden = kHidden.find(c);
    if (hidden != std::string_view::npos) c = kBrackets[hidden];
  }
  return scalar;
}

int SourceText::LineOf(size_t offset) const {
  const auto next = std::upper_bound(line_begins_.begin(), line_begins_.end(), offset);
  return static_cast<int>(next - line_begins_.begin());
}

int SourceText::ColumnOf(size_t offset) const {
  return static_cast<int>(characters_[offset] - characters_[BeginOfLine(LineOf(offset))]) + 1;
}

size_t SourceText::EndOfLine(size_t offset) const {
  const auto next = static_cast<size_t>(LineOf(offset));  // lines count from 1
  return next < line_begins_.size() ? line_begins_[next] - 1 : text().size();
}

size_t SourceText::EndOfQuoted(size_t offset) const {
  const char quote = text()[offset];
  for (size_t i = offset + 1; i < text().size(); ++i) {
    if (quote == '"' && text()[i] == '\\') {
      ++i;
    } else if (text()[i] == quote) {
      const bool escaped = quote == '\'' && i + 1 < text().size() && text()[i + 1] == quote;
      if (!escaped) return i + 1;
      ++i;
    }
  }
  return std::string_view::npos;
}

size_t SourceText::EndOfBlockHeader(size_t offset) const {
  return std::min(text().find_first_not_of("+-0123456789", offset + 1), text().size());
}

SourceMark SourceText::MarkAt(size_t offset, size_t bytes) const {
  offset = std::min(offset, text().size());
  const size_t end = std::min(offset + std::min(bytes, text().size()), EndOfLine(offset));
  const auto length = static_cast<int>(characters_[end] - characters_[offset]);
  return {file_, LineOf(offset), ColumnOf(offset), std::max(length, 1)};
}

std::string_view SourceText::TextBehind(const SourceMark& mark) const {
  const uint32_t before =
      characters_[BeginOfLine(mark.line)] + static_cast<uint32_t>(mark.column + mark.length - 1);
  // The last byte that so many characters begin before is the first of the next character.
  const auto next = std::upper_bound(characters_.begin(), characters_.end(), before);
  return text().substr(static_cast<size_t>(next - characters_.begin()) - 1);
}

}  // namespace cgrun
