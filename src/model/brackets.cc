// A walk over the text that knows as much of YAML as brackets need: quotes, comments, block texts,
// and where a value may begin.
#include "src/model/brackets.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace cgrun {
namespace {

bool IsOpening(char c) { return c == '{' || c == '['; }
bool IsClosing(char c) { return c == '}' || c == ']'; }
char PartnerOf(char opening) { return opening == '{' ? '}' : ']'; }

std::string Quoted(char c) { return std::string("'") + c + "'"; }

class BracketScanner {
 public:
  explicit BracketScanner(const SourceText& source) : source_(source), text_(source.masked()) {}

  std::optional<BracketFault> Run() {
    while (at_ < text_.size() && !fault_) {
      if (at_ == 0 || text_[at_ - 1] == '\n') BeginLine();
      if (at_ < text_.size()) Step();
    }
    if (fault_) return fault_;
    if (open_.empty()) return std::nullopt;
    return broken_off_ ? broken_off_ : NotClosed(text_.size());
  }

 private:
  void Step() {
    const char c = text_[at_];
    const bool spaced = at_ == 0 || text_[at_ - 1] == ' ' || text_[at_ - 1] == '\n';
    if (c == '#' && spaced) {
      at_ = source_.EndOfLine(at_);
    } else if (at_value_ && (c == '"' || c == '\'')) {
      SkipQuoted(c);
    } else if (at_value_ && open_.empty() && (c == '|' || c == '>')) {
      SkipBlockText();
    } else if (IsOpening(c) && (at_value_ || !open_.empty())) {
      open_.push_back(at_++);
      at_value_ = true;
    } else if (IsClosing(c) && !open_.empty()) {
      Close(c);
    } else {
      const bool ends = at_ + 1 >= text_.size() || text_[at_ + 1] == ' ' || text_[at_ + 1] == '\n';
      const bool item = c == '-' && ends && at_value_;
      const bool separator = (c == ':' && ends) || (c == ',' && !open_.empty());
      if (c != ' ' && c != '\n') at_value_ = item || separator;
      ++at_;
    }
  }

  void BeginLine() {
    const int line = source_.LineOf(at_);
    const size_t content = text_.find_first_not_of(' ', at_);
    if (content == std::string_view::npos || text_[content] == '\n' || text_[content] == '#') {
      return;
    }
    const size_t indentation = content - at_;
    at_value_ = true;
    const bool deeper = indentation > indentation_;
    if (open_.empty()) {
      indentation_ = indentation;
    } else if (!deeper && !IsClosing(text_[content]) && !broken_off_) {
      broken_off_ = NotClosed(content);
    }
    last_line_ = line;
  }

  void SkipQuoted(char quote) {
    for (++at_; at_ < text_.size(); ++at_) {
      if (quote == '"' && text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == quote) {
        break;
      }
    }
    at_ = std::min(at_ + 1, text_.size());
    at_value_ = false;
  }

  // `|` and what is indented deeper than its line.
  void SkipBlockText() {
    const size_t indentation = indentation_;
    at_ = source_.EndOfLine(at_) + 1;
    while (at_ < text_.size()) {
      const size_t content = text_.find_first_not_of(" \n", at_);
      if (content == std::string_view::npos) break;
      const int line = source_.LineOf(content);
      if (content - source_.BeginOfLine(line) <= indentation) {
        at_ = source_.BeginOfLine(line);
        return;
      }
      at_ = source_.EndOfLine(content) + 1;
    }
    at_ = text_.size();
  }

  void Close(char c) {
    const auto partner = [&](size_t opening) { return PartnerOf(text_[opening]) == c; };
    if (partner(open_.back())) {
      open_.pop_back();
      if (open_.empty()) broken_off_.reset();
      at_value_ = false;
      ++at_;
    } else if (broken_off_) {
      fault_ = broken_off_;
    } else if (std::ranges::any_of(open_, partner)) {
      fault_ = NotClosed(at_);
    } else {
      const std::string open = Quoted(text_[open_.back()]);
      fault_ = BracketFault{at_, at_, "this " + Quoted(c) + " closes nothing",
                            "what is open here is the " + open + " of " + PlaceOf(open_.back())};
    }
  }

  std::string PlaceOf(size_t offset) const {
    return "line " + std::to_string(source_.LineOf(offset)) + ", column " +
           std::to_string(source_.ColumnOf(offset));
  }

  // Reports that the innermost open bracket is not closed. The character at `noticed` cannot stand
  // in it.
  BracketFault NotClosed(size_t noticed) const {
    const char opening = text_[open_.back()];
    const bool closing = noticed < text_.size() && IsClosing(text_[noticed]);
    const std::string missing = "a " + Quoted(PartnerOf(opening)) + " is missing ";
    return {open_.back(), noticed, "this " + Quoted(opening) + " is not closed",
            missing + (closing ? "before the " + Quoted(text_[noticed]) + " of " + PlaceOf(noticed)
                               : "at the end of line " + std::to_string(last_line_))};
  }

  const SourceText& source_;
  const std::string_view text_;
  size_t at_ = 0;
  int last_line_ = 1;                       // with something on it
  size_t indentation_ = 0;                  // of the line that the outermost open bracket is in
  bool at_value_ = true;                    // whether a value may begin here
  std::vector<size_t> open_;                // offsets of brackets
  std::optional<BracketFault> fault_;       // for certain
  std::optional<BracketFault> broken_off_;  // unless it is closed after all
};

}  // namespace

std::optional<BracketFault> FindBracketFault(const SourceText& text) {
  return BracketScanner(text).Run();
}

}  // namespace cgrun
