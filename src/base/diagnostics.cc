// Collecting, sorting and printing user errors; the 'did you mean' search.
#include "src/base/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "src/base/lookalikes.h"
#include "src/base/printable.h"

namespace cgrun {
namespace {

bool IsUtf8Continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Finds places in texts. It goes on from the last one, so that places in their order cost one walk.
class PlaceFinder {
 public:
  struct Place {
    std::string_view line;  // without its end
    size_t offset = 0;      // in it; its size where it has fewer columns
  };

  // Line `line` and column `column` of a text; both count from 1.
  Place Find(std::string_view text, int line, int column);

 private:
  void FindLine(int line);

  std::string_view text_;
  int line_ = 0, column_ = 1;   // 0: no text yet
  size_t begin_ = 0, end_ = 0;  // of the line
  size_t offset_ = 0;           // of the column, in the line
};

PlaceFinder::Place PlaceFinder::Find(std::string_view text, int line, int column) {
  if (text.data() != text_.data() || line < line_ || line_ == 0) {
    text_ = text;
    line_ = 0;
  }
  if (line_ != line) FindLine(line);
  std::string_view found = text_.substr(begin_, end_ - begin_);
  if (!found.empty() && found.back() == '\r') found.remove_suffix(1);
  if (column < column_) {
    column_ = 1;
    offset_ = 0;
  }
  for (; column_ < column && offset_ < found.size(); ++column_) {
    ++offset_;
    while (offset_ < found.size() && IsUtf8Continuation(found[offset_])) ++offset_;
  }
  return {found, std::min(offset_, found.size())};
}

void PlaceFinder::FindLine(int line) {
  if (line_ == 0) {
    line_ = 1;
    begin_ = 0;
    end_ = std::min(text_.find('\n'), text_.size());
  }
  for (; line_ < line; ++line_) {
    begin_ = std::min(end_ + 1, text_.size());
    end_ = std::min(text_.find('\n', begin_), text_.size());
  }
  column_ = 1;
  offset_ = 0;
}

// The line and the caret under it. A tab keeps its width in the caret's line, and a very long line
// is cut around the caret.
std::string Excerpt(const SourceMark& mark, PlaceFinder& places, const char* bold,
                    const char* reset) {
  constexpr size_t kWidth = 160;
  const auto [text, column] =
      places.Find(mark.file->text, mark.line - mark.file->first_line + 1, mark.column);
  size_t cut = 0;
  if (text.size() > kWidth && column > kWidth / 2) cut = column - kWidth / 2;
  while (cut > 0 && cut < text.size() && IsUtf8Continuation(text[cut])) --cut;
  size_t end = std::min(text.size(), cut + kWidth);
  while (end < text.size() && IsUtf8Continuation(text[end])) ++end;
  const std::string shown = PrintableText(text.substr(cut, end - cut));
  const size_t place = column - cut;
  std::string caret;
  for (const char c : shown.substr(0, place)) {
    if (!IsUtf8Continuation(c)) caret += c == '\t' ? '\t' : ' ';
  }
  const std::string_view behind = std::string_view(shown).substr(std::min(place, shown.size()));
  const auto inside = std::count_if(behind.begin(), behind.end(), IsUtf8Continuation);
  const int room = std::max(static_cast<int>(behind.size()) - static_cast<int>(inside), 1);
  caret += '^' + std::string(static_cast<size_t>(std::clamp(mark.length, 1, room)) - 1, '~');
  return "    " + shown + "\n    " + bold + caret + reset + "\n";
}

// Returns the optimal string alignment distance of two texts.
int EditDistance(std::string_view a, std::string_view b) {
  const size_t n = a.size(), m = b.size();
  std::vector<int> before(m + 1), previous(m + 1), current(m + 1);
  for (size_t j = 0; j <= m; ++j) previous[j] = static_cast<int>(j);
  for (size_t i = 1; i <= n; ++i) {
    current[0] = static_cast<int>(i);
    for (size_t j = 1; j <= m; ++j) {
      const int substitution = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, substitution});
      const bool transposed = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (transposed) current[j] = std::min(current[j], before[j - 2] + 1);
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[m];
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// The first candidate at the smallest distance, which is at most `limit`; "" where none is so near.
std::string NearestWithin(int limit, std::string_view name, std::span<const std::string> candidates,
                          bool any_case) {
  const std::string wanted = any_case ? LowerCase(name) : std::string(name);
  int best = limit + 1;
  std::string nearest;
  for (const std::string& candidate : candidates) {
    const int longer = static_cast<int>(candidate.size()) - static_cast<int>(name.size());
    if (std::abs(longer) > limit) continue;  // so many letters are to be added or taken out
    const int distance = EditDistance(wanted, any_case ? LowerCase(candidate) : candidate);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

// Cuts long quotations between backticks, since a user can have written megabytes. Commands that
// name files have some hundred bytes.
std::string WithShortQuotes(std::string text) {
  constexpr size_t kMost = 1000, kShown = 160;
  for (size_t begin = text.find('`'); begin != text.npos; begin = text.find('`', begin)) {
    ++begin;
    size_t end = std::min(text.find('`', begin), text.size());
    if (end - begin > kMost) {
      size_t cut = begin + kShown;
      while (IsUtf8Continuation(text[cut])) --cut;
      text.replace(cut, end - cut, "…");
      end = std::min(text.find('`', begin), text.size());
    }
    begin = std::min(end + 1, text.size());
  }
  return text;
}

// Errors of a file as a whole come first. A mark of line −1 stands for what is told last.
auto SortKey(const Diagnostic& d) {
  return std::make_tuple(d.mark.file ? d.mark.file->name : std::string(),
                         d.mark.line < 0 ? INT_MAX : d.mark.line, d.mark.column);
}

}  // namespace

std::string SourceMark::ToString() const {
  if (!file) return "";
  if (line <= 0) return file->name;
  return file->name + ":" + std::to_string(line) + ":" + std::to_string(std::max(column, 1));
}

void Diagnostics::Error(SourceMark mark, std::string message, std::string help) {
  if (!note_.empty()) help += (help.empty() ? "" : "; ") + note_;
  items_.push_back(
      {Severity::kError, std::move(mark), std::move(message), WithShortQuotes(std::move(help))});
  ++error_count_;
}

void Diagnostics::ErrorInstead(SourceMark mark, std::string message, std::string help) {
  if (!note_.empty()) help += (help.empty() ? "" : "; ") + note_;
  Diagnostic error = {Severity::kError, std::move(mark), std::move(message),
                      WithShortQuotes(std::move(help)), true};
  const auto found = std::ranges::find_if(items_, [&](const Diagnostic& item) {
    return item.severity == Severity::kError && SortKey(item) == SortKey(error);
  });
  if (found != items_.end()) {
    *found = std::move(error);
  } else {
    items_.push_back(std::move(error));
    ++error_count_;
  }
}

void Diagnostics::Warning(SourceMark mark, std::string message, std::string help) {
  items_.push_back(
      {Severity::kWarning, std::move(mark), std::move(message), WithShortQuotes(std::move(help))});
}

Diagnostics::Note::Note(Diagnostics& diagnostics, std::string note)
    : diagnostics_(diagnostics), outer_(std::exchange(diagnostics.note_, std::move(note))) {}

Diagnostics::Note::~Note() { diagnostics_.note_ = std::move(outer_); }

std::vector<Diagnostic> Diagnostics::Sorted() const {
  std::vector<Diagnostic> sorted = items_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return SortKey(a) < SortKey(b);
  });
  const auto same = [](const Diagnostic& a, const Diagnostic& b) {
    return SortKey(a) == SortKey(b) && a.message == b.message;
  };
  sorted.erase(std::unique(sorted.begin(), sorted.end(), same), sorted.end());
  return sorted;
}

std::string Diagnostics::ToString(bool color, bool brief) const {
  const char* bold = color ? "\033[1m" : "";
  const char* red = color ? "\033[1;31m" : "";
  const char* yellow = color ? "\033[1;33m" : "";
  const char* cyan = color ? "\033[36m" : "";
  const char* reset = color ? "\033[0m" : "";
  std::string out;
  PlaceFinder places;
  for (const Diagnostic& d : Sorted()) {
    const std::string place = PrintableText(d.mark.ToString());
    if (!place.empty()) out += bold + place + ": " + reset;
    out += d.severity == Severity::kError ? std::string(red) + "error: " + reset
                                          : std::string(yellow) + "warning: " + reset;
    out += PrintableLines(d.message) + "\n";
    if (brief && d.severity == Severity::kWarning) continue;
    if (d.mark.file && d.mark.line > 0) out += Excerpt(d.mark, places, red, reset);
    if (!d.help.empty())
      out += std::string(cyan) + "help: " + reset + PrintableLines(d.help) + "\n";
  }
  return out;
}

std::string CountText(int64_t count, std::string_view noun, std::string_view plural) {
  const std::string many = plural.empty() ? std::string(noun) + "s" : std::string(plural);
  return std::to_string(count) + " " + (count == 1 ? std::string(noun) : many);
}

std::string NearestName(std::string_view name, std::span<const std::string> candidates) {
  const int length = static_cast<int>(name.size());
  const int limit = std::min(std::max(1, length / 3), length - 1);  // some letter is as it was
  std::string nearest = NearestWithin(std::min(limit, 0), name, candidates, /*any_case=*/true);
  if (nearest.empty()) nearest = NearestWithin(limit, name, candidates, /*any_case=*/false);
  if (nearest.empty()) nearest = NearestWithin(limit, name, candidates, /*any_case=*/true);
  return nearest;
}

std::string SuggestName(std::string_view name, std::span<const std::string> candidates) {
  const std::string same = SameLettersHelp(name, candidates);
  if (!same.empty()) return same;
  const std::string nearest = NearestName(name, candidates);
  if (!nearest.empty()) return "did you mean '" + nearest + "'?";
  return candidates.empty() ? "" : fmt::format("known: {}", fmt::join(candidates, ", "));
}

}  // namespace cgrun
