// ReportSyntaxError(): yaml-cpp's messages reworded, and what it misunderstands explained.
#include "src/model/syntax_error.h"

#include <yaml-cpp/exceptions.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

#include "src/model/brackets.h"
#include "src/model/glued_key.h"
#include "src/model/values.h"

namespace cgrun {
namespace {

struct Rewording {
  const char* theirs;  // the beginning of yaml-cpp's message
  const char* message;
  const char* help;
};

constexpr const char* kQuoteHelp = "put the text in quotes, or check the indentation";

const Rewording kRewordings[] = {
    {YAML::ErrorMsg::MAP_VALUE, "a ':' is not expected here", kQuoteHelp},
    {YAML::ErrorMsg::MAP_KEY, "a key is not expected here", kQuoteHelp},
    {YAML::ErrorMsg::BLOCK_ENTRY, "a '-' is not expected here", kQuoteHelp},
    {YAML::ErrorMsg::END_OF_MAP_FLOW, "a '}' or ',' is missing before this", ""},
    {YAML::ErrorMsg::END_OF_SEQ_FLOW, "a ']' or ',' is missing before this", ""},
    {YAML::ErrorMsg::END_OF_MAP, "this does not continue the map before it",
     "the keys of one map begin in one column"},
    {YAML::ErrorMsg::END_OF_SEQ, "this does not continue the list before it",
     "the '-' of one list stand in one column"},
    {YAML::ErrorMsg::FLOW_END, "this bracket closes nothing", ""},
    {YAML::ErrorMsg::EOF_IN_SCALAR, "a quote is never closed", ""},
    {YAML::ErrorMsg::UNKNOWN_TOKEN, "a value cannot begin with this", "put it in quotes"},
    {YAML::ErrorMsg::UNKNOWN_ANCHOR, "the anchor of this alias is not defined before it", ""},
    {YAML::ErrorMsg::DOC_IN_SCALAR, "the document ends within a quoted text", ""},
};

struct Finding {
  SourceMark mark;
  std::string message;
  std::string help;
};

// The first character of a line that is no space; npos in an empty line.
size_t ContentOf(const SourceText& text, int line) {
  const size_t begin = text.BeginOfLine(line), end = text.EndOfLine(begin);
  const size_t content = text.text().find_first_not_of(' ', begin);
  return content < end ? content : std::string_view::npos;
}

// The line above with something on it; 0 where there is none.
int LineAbove(const SourceText& text, int line) {
  do {
    --line;
  } while (line > 0 && ContentOf(text, line) == std::string_view::npos);
  return line;
}

// "-flatten": no item of a list, but a text that goes on with the lines below.
bool IsDashWithoutSpace(const SourceText& text, size_t content) {
  const std::string_view rest = text.text().substr(content);
  return rest.size() > 1 && rest[0] == '-' &&
         (std::isalpha(static_cast<unsigned char>(rest[1])) != 0 || rest[1] == '{');
}

// Explains from a line's indentation why a key or its ':' is not expected at `offset`. A plain text
// goes on with lines that are indented deeper, and the parser notices only at their ':'.
std::optional<Finding> ExplainIndentation(const SourceText& text, size_t offset) {
  const int line = text.LineOf(offset), above = LineAbove(text, line);
  for (const int candidate : {line, above}) {
    if (candidate == 0) continue;
    const size_t content = ContentOf(text, candidate);
    if (content == std::string_view::npos || !IsDashWithoutSpace(text, content)) continue;
    return Finding{text.MarkAt(content), "a space is missing behind this '-'",
                   "the items of a list are written `- item`"};
  }
  if (above == 0) return std::nullopt;
  const size_t content = ContentOf(text, line), before = ContentOf(text, above);
  const size_t end = text.EndOfLine(before);
  const bool key_above = text.text().substr(before, end - before).find(": ") != std::string::npos;
  const bool deeper = text.ColumnOf(content) > text.ColumnOf(before);
  const size_t key_end = text.text().find(':', content);
  if (!key_above || !deeper || key_end >= text.EndOfLine(content)) return std::nullopt;
  const std::string column = std::to_string(text.ColumnOf(before));
  return Finding{text.MarkAt(content, key_end - content),
                 "this key is indented deeper than the one before it",
                 "the keys of one map begin in one column: line " + std::to_string(above) +
                     " begins in column " + column + ", and this one in column " +
                     std::to_string(text.ColumnOf(content))};
}

bool IsItem(const SourceText& text, int line) {
  return text.text().substr(ContentOf(text, line)).starts_with("- ");
}

// Explains a line that is no item of the list that goes on around it. The line begins in the column
// of a '-' above it or below it, or, if `deeper`, in that of an item's text.
std::optional<Finding> ExplainMissingDash(const SourceText& text, size_t offset, bool deeper) {
  const int line = text.LineOf(offset);
  const size_t content = ContentOf(text, line);
  if (content == std::string_view::npos) return std::nullopt;
  const int column = text.ColumnOf(content);
  for (int above = LineAbove(text, line); above > 0; above = LineAbove(text, above)) {
    const int other = text.ColumnOf(ContentOf(text, above));
    if (other > column || text.text()[ContentOf(text, above)] == '#') continue;
    const bool below = IsItem(text, line);  // it is the line above that lacks one
    const bool in_place = other == column || (deeper && !below && other + 2 == column);
    if (!in_place || IsItem(text, above) == below) return std::nullopt;
    const size_t begin = below ? ContentOf(text, above) : content;
    const std::string item(text.text().substr(begin, text.EndOfLine(begin) - begin));
    if (item.starts_with('-')) return std::nullopt;  // it lacks the space behind it
    return Finding{text.MarkAt(begin), "a '-' is missing in front of this item of a list",
                   "write `- " + item + "`, in the column of the other '-'"};
  }
  return std::nullopt;
}

// A '-' that stands in another column than those before it: of an item that is nearest to it, of a
// list that has not ended above.
std::optional<Finding> ExplainDashColumn(const SourceText& text, size_t offset) {
  const int line = text.LineOf(offset);
  const size_t content = ContentOf(text, line);
  if (content == std::string_view::npos || !IsItem(text, line)) return std::nullopt;
  const int column = text.ColumnOf(content);
  int other_column = 0, other_line = 0;
  for (int above = LineAbove(text, line); above > 0; above = LineAbove(text, above)) {
    const size_t begin = ContentOf(text, above);
    if (text.text()[begin] == '#') continue;
    const int of_above = text.ColumnOf(begin);
    const bool is_item = IsItem(text, above);
    if (is_item && of_above == column) return std::nullopt;
    if (is_item && (other_line == 0 || (of_above > column && of_above < other_column))) {
      other_column = of_above;
      other_line = above;
    }
    if (of_above <= column) break;
  }
  if (other_line == 0) return std::nullopt;
  return Finding{text.MarkAt(content), "this '-' does not stand below the '-' before it",
                 "the '-' of one list stand in one column: that in line " +
                     std::to_string(other_line) + " in column " + std::to_string(other_column) +
                     ", and this one in column " + std::to_string(column)};
}

// "- a: {op: relu}, {op: linear}": brackets end a value.
std::optional<Finding> ExplainBehindBracket(const SourceText& text, size_t offset) {
  const std::string_view all = text.text();
  const size_t begin = ContentOf(text, text.LineOf(offset));
  if (begin >= offset) return std::nullopt;
  const size_t before = all.find_last_not_of(' ', offset - 1);
  if (all[before] != '}' && all[before] != ']') return std::nullopt;
  const std::string_view behind = all.substr(offset, text.EndOfLine(offset) - offset);
  const size_t value = behind.find_first_not_of(", ");
  const bool is_item = behind[0] == ',' && value != behind.npos && behind[value] == '{';
  return Finding{
      text.MarkAt(offset),
      std::string("nothing can stand behind this '") + all[before] + "', which ends " + "the value",
      is_item ? "an item of a list stands in a line of its own: `- " +
                    std::string(behind.substr(value)) + "`"
              : "write what follows within the brackets, or in a line of its own"};
}

// Explains why a map or a list ends at `offset`, though a line goes on.
std::optional<Finding> ExplainEnd(const SourceText& text, size_t offset, bool of_list) {
  std::optional<Finding> found = ExplainBehindBracket(text, offset);
  if (!found) found = ExplainDashColumn(text, offset);
  return found ? found : ExplainMissingDash(text, offset, of_list);
}

// "test: folder: pics": a map within a line stands in brackets.
std::optional<Finding> ExplainSecondColon(const SourceText& text, size_t offset) {
  const std::string_view all = text.text();
  size_t begin = ContentOf(text, text.LineOf(offset));
  if (begin >= offset) return std::nullopt;
  const std::string line(all.substr(begin, text.EndOfLine(begin) - begin));
  const size_t first = line.find(": ");
  if (first == line.npos || begin + first >= offset || !IsIdentifier(line.substr(0, first)))
    return std::nullopt;
  const size_t value = std::min(line.find_first_not_of(' ', first + 1), line.size());
  if (!IsIdentifier(line.substr(value, offset - begin - value))) return std::nullopt;
  return Finding{
      text.MarkAt(offset), "a second ':' is not expected in a line",
      "write `" + line.substr(0, first) + ": {" + line.substr(value) +
          "}`, or the second key in a line of its own, indented deeper; a text is put in quotes"};
}

// Explains a key above or in the line of `offset` that has no colon, or no blank behind it. YAML
// reads such a key as a text that goes on below.
std::optional<Finding> ExplainColon(const SourceText& text, size_t offset) {
  const std::string_view all = text.text();
  const int line = text.LineOf(offset), above = LineAbove(text, line);
  for (const int candidate : {line, above}) {
    size_t begin = candidate == 0 ? std::string_view::npos : ContentOf(text, candidate);
    if (begin == std::string_view::npos) continue;
    bool is_item = false;
    for (; all.substr(begin).starts_with("- "); is_item = true) {
      begin = std::min(all.find_first_not_of(' ', begin + 2), all.size());
    }
    size_t end = text.EndOfLine(begin);
    const std::string_view line_text = all.substr(begin, end - begin);
    const size_t open = std::min(line_text.find_first_of("{["), line_text.find(" #"));
    const bool opens = open != line_text.npos && line_text[open] != ' ';
    std::string_view head = line_text.substr(0, open);
    if (!opens) head = head.substr(0, head.find_last_not_of(' ') + 1);
    if (head.find(": ") != head.npos || (!opens && head.ends_with(':'))) continue;
    if (std::optional<GluedKey> glued = FindGluedKey(std::string(head) + (opens ? "{" : ""))) {
      if (opens) glued->value = line_text[open] + std::string("…");
      return Finding{glued->has_colon ? text.MarkAt(begin + glued->colon)
                                      : text.MarkAt(begin, glued->key.size()),
                     glued->Message(), glued->Help()};
    }
    const bool lone = candidate == above && !is_item && IsIdentifier(head);
    if (lone) {
      return Finding{text.MarkAt(begin, head.size()),
                     "a ':' is missing behind '" + std::string(head) + "'",
                     "write `" + std::string(head) + ":`, with what belongs to it indented below"};
    }
  }
  return std::nullopt;
}

// Explains a bracket that touches its key, "shape:[3]", within brackets.
std::optional<Finding> ExplainGluedBracket(const SourceText& text, size_t offset) {
  const std::string_view all = text.text();
  const bool glued = offset > 1 && offset < all.size() && all[offset - 1] == ':' &&
                     (all[offset] == '[' || all[offset] == '{');
  if (!glued) return std::nullopt;
  return Finding{text.MarkAt(offset - 1), "a blank is missing behind this ':'",
                 "behind a key stand a colon and a blank: `key: [3]`"};
}

// yaml-cpp's message in our words, or as it is.
Finding Reworded(const SyntaxError& error, const SourceMark& mark) {
  for (const Rewording& r : kRewordings) {
    if (error.message.starts_with(r.theirs)) return {mark, r.message, r.help};
  }
  return {mark, error.message, ""};
}

}  // namespace

void ReportSyntaxError(const SyntaxError& error, const SourceText& text, Diagnostics& diagnostics) {
  const size_t last = text.text().find_last_not_of(" \n");
  const size_t offset =
      last == std::string_view::npos ? error.offset : std::min(error.offset, last);
  Finding finding = Reworded(error, text.MarkAt(offset));
  const bool of_map = error.message.starts_with(YAML::ErrorMsg::END_OF_MAP),
             of_list = error.message.starts_with(YAML::ErrorMsg::END_OF_SEQ);
  const bool of_indentation = of_map || error.message.starts_with(YAML::ErrorMsg::MAP_VALUE);
  const bool open = error.open_bracket != nullptr;
  const bool closes_nothing = error.message.starts_with(YAML::ErrorMsg::FLOW_END);
  const std::optional<BracketFault> fault = FindBracketFault(text);
  std::optional<Finding> colon = open ? ExplainGluedBracket(text, offset) : std::nullopt;
  if (!open && (of_indentation || closes_nothing)) colon = ExplainColon(text, offset);
  if (colon) {
    finding = *std::move(colon);
  } else if (fault && (fault->noticed <= offset || (open && fault->bracket <= offset))) {
    finding = {text.MarkAt(fault->bracket), fault->message, fault->help};
  } else if (open) {
    finding.help += (finding.help.empty() ? "" : "; ") + ("the innermost open bracket is in line " +
                                                          std::to_string(error.open_bracket->line));
  } else if (std::optional<Finding> end =
                 of_map || of_list ? ExplainEnd(text, offset, of_list) : std::nullopt) {
    finding = *std::move(end);
  } else if (of_indentation) {
    std::optional<Finding> second = ExplainSecondColon(text, offset);
    if (!second) second = ExplainIndentation(text, offset);
    finding = std::move(second).value_or(finding);
  }
  diagnostics.Error(finding.mark, "this is not YAML: " + finding.message, finding.help);
}

}  // namespace cgrun
