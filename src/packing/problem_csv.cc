// Reading and writing packing problems as CSV. A line is cut into cells, cells become buffers, and
// what only the buffers together show (ProblemFaults) is reported at the cells it came from.
#include "src/packing/problem_csv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/printable.h"

namespace cgrun {
namespace {

enum Column : size_t { kId, kLower, kUpper, kSize, kAlignment, kOffset, kNoColumn };
constexpr std::array<std::string_view, 6> kColumns = {"id",   "lower",     "upper",
                                                      "size", "alignment", "offset"};
// MiniMalloc's older files have these names for the columns. An `end` is the last step, not the one
// behind it.
constexpr std::pair<std::string_view, Column> kOlderNames[] = {
    {"buffer", kId}, {"buffer_id", kId}, {"begin", kLower}, {"start", kLower}, {"end", kUpper}};
constexpr std::string_view kLastStep = "end";

std::optional<Column> ColumnNamed(std::string_view name) {
  const auto known = std::find(kColumns.begin(), kColumns.end(), name);
  if (known != kColumns.end()) return static_cast<Column>(known - kColumns.begin());
  for (const auto& [older, column] : kOlderNames) {
    if (older == name) return column;
  }
  return std::nullopt;
}

// Messages call a cell by these nouns.
constexpr std::array<std::string_view, 6> kNouns = {"id",   "lower step", "upper step",
                                                    "size", "alignment",  "offset"};
constexpr size_t kRequiredColumns = 4;  // the first of them
constexpr int kMostErrors = 1000;
constexpr size_t kMostRows = 100'000;  // an order passes all that is placed for each of them

struct Place {
  int line = 0;
  int column = 1;
  int length = 1;
};

struct Cell {
  std::string text;
  Place place;
};

bool IsBlank(char c) { return c == ' ' || c == '\t'; }
bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

// Makes a text for messages that is short, and harmless on a terminal.
std::string Shown(std::string_view text) {
  constexpr size_t kMost = 40;
  size_t cut = std::min(text.size(), kMost);
  const auto in_character = [&](size_t i) {  // of UTF-8, beyond its first byte
    return i < text.size() && (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80;
  };
  while (cut > 0 && in_character(cut)) --cut;
  std::string shown(text.substr(0, cut));
  std::replace_if(shown.begin(), shown.end(), IsControl, '?');
  return "'" + shown + (cut < text.size() ? "…'" : "'");
}

class Reader {
 public:
  Reader(const std::shared_ptr<const SourceFile>& file, Diagnostics& diagnostics)
      : file_(file), diagnostics_(diagnostics), rest_(file->text) {
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);
  }

  std::optional<MemoryProblem> Run() {
    if (!ReadHeader()) return std::nullopt;
    // A line whose cells cannot be told apart is reported as that alone.
    for (int before = errors_; const auto cells = NextLine(); before = errors_) {
      if (problem_.buffers.size() == kMostRows) {
        Error({line_}, "more than " + std::to_string(kMostRows) + " buffers",
              "pack parts that share no step as files of their own");
        return std::nullopt;
      }
      if (errors_ == before) ReadBuffer(*cells);
      if (errors_ < kMostErrors) continue;
      Error({line_}, "too many errors: the rest of the file was not read",
            "mend those above, then try again");
      return std::nullopt;
    }
    ReportFaults();
    if (errors_ > 0) return std::nullopt;
    return std::move(problem_);
  }

 private:
  // Holds the places of a buffer's cells, by column.
  using Places = std::array<Place, kColumns.size()>;

  void Error(Place place, std::string message, std::string help) {
    diagnostics_.Error({file_, place.line, place.column, place.length}, std::move(message),
                       std::move(help));
    ++errors_;
  }

  // The cells of the next line that is not blank.
  std::optional<std::vector<Cell>> NextLine() {
    while (!rest_.empty()) {
      const size_t end = std::min(rest_.find('\n'), rest_.size());
      std::string_view line = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++line_;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (!std::all_of(line.begin(), line.end(), IsBlank)) return Cells(line);
    }
    return std::nullopt;
  }

  std::vector<Cell> Cells(std::string_view line) {
    std::vector<Cell> cells;
    for (size_t i = 0;; ++i) {  // past the comma
      while (i < line.size() && IsBlank(line[i])) ++i;
      const size_t begin = i;
      Cell& cell = cells.emplace_back();
      const bool quoted = i < line.size() && line[i] == '"';
      // Names are written again, to files that others read, too.
      cell.text = PrintableText(quoted ? QuotedText(line, i) : PlainText(line, i));
      const size_t length = std::max<size_t>(cell.text.size(), 1);
      cell.place = {line_, static_cast<int>(begin) + 1, static_cast<int>(length)};
      if (i >= line.size()) return cells;
    }
  }

  // Both leave `i` at the comma behind the cell, or at the end of the line.
  static std::string PlainText(std::string_view line, size_t& i) {
    const size_t begin = i;
    i = std::min(line.find(',', i), line.size());
    size_t end = i;
    while (end > begin && IsBlank(line[end - 1])) --end;
    return std::string(line.substr(begin, end - begin));
  }

  std::string QuotedText(std::string_view line, size_t& i) {
    const Place quote = {line_, static_cast<int>(i) + 1};
    std::string text;
    for (++i; i < line.size(); ++i) {
      if (line[i] == '"') {
        if (i + 1 >= line.size() || line[i + 1] != '"') break;
        ++i;
      }
      text += line[i];
    }
    if (i >= line.size()) {
      Error(quote, "the quote is not closed", "end the cell with '\"' in the same line");
      return text;
    }
    const Place behind = {line_, static_cast<int>(++i) + 1};
    if (!PlainText(line, i).empty()) {
      Error(behind, "text behind a closing quote", "write a quote inside a quoted cell as '\"\"'");
    }
    return text;
  }

  bool ReadHeader() {
    const std::optional<std::vector<Cell>> header = NextLine();
    if (!header) {
      Error({}, "the file is empty", "its first line must name the columns: id,lower,upper,size");
      return false;
    }
    if (IsOther(*header)) return false;
    for (const Cell& cell : *header) {
      const auto known = ColumnNamed(cell.text);
      const Column column = known.value_or(kNoColumn);
      const bool repeated = std::find(header_.begin(), header_.end(), column) != header_.end();
      ends_with_last_step_ |= cell.text == kLastStep;
      if (!known) {
        const std::vector<std::string> names(kColumns.begin(), kColumns.end());
        Error(cell.place, "unknown column " + Shown(cell.text), SuggestName(cell.text, names));
      } else if (repeated) {
        Error(cell.place, "the column " + Shown(cell.text) + " appears twice",
              "remove one of them");
      }
      header_.push_back(column);
    }
    for (size_t column = 0; column < kRequiredColumns; ++column) {
      if (std::find(header_.begin(), header_.end(), column) != header_.end()) continue;
      Error(header->front().place, "the column '" + std::string(kColumns[column]) + "' is missing",
            "the first line must name the columns id, lower, upper and size");
    }
    return errors_ == 0;
  }

  // Reports a header that names hardly a column of a list of buffers.
  bool IsOther(const std::vector<Cell>& header) {
    const auto named = std::ranges::count_if(header, [&](const Cell& cell) {
      return ColumnNamed(cell.text).value_or(kNoColumn) < kRequiredColumns;
    });
    if (named > 1) return false;
    const Cell &first = header.front(), &last = header.back();
    const int length = last.place.column + last.place.length - first.place.column;
    const size_t mark = first.text.find_first_of(";\t|");
    if (mark != std::string::npos && first.text.find("lower") != std::string::npos) {
      const std::string by = first.text[mark] == '\t' ? "tabs" : std::string(1, first.text[mark]);
      Error({first.place.line, first.place.column, length},
            "no comma parts the cells of this line, as " + by + " may do",
            "write `id,lower,upper,size`, and commas in all lines");
      return true;
    }
    Error({first.place.line, first.place.column, length},
          "this seems to be a table of data, not a list of buffers, whose first line names the "
          "columns id, lower, upper and size",
          "a model file names tables, `data: {train: {format: csv, file: " + file_->name +
              ", label: COLUMN}}`, and `cgrun plan MODEL.yaml` plans their model");
    return true;
  }

  void ReadBuffer(const std::vector<Cell>& cells) {
    if (cells.size() != header_.size()) {
      Error(cells.front().place,
            "the line has " + std::to_string(cells.size()) + " of the " +
                std::to_string(header_.size()) + " cells that the header names",
            "leave a cell empty by writing nothing between its commas");
      return;
    }
    const int errors_before = errors_;
    Buffer buffer;
    buffer.alignment = 1;
    Places places;
    for (size_t i = 0; i < cells.size(); ++i) {
      places[header_[i]] = cells[i].place;
      ReadCell(cells[i], header_[i], buffer);
    }
    if (errors_ > errors_before) return;
    problem_.buffers.push_back(std::move(buffer));
    places_.push_back(places);
  }

  void ReadCell(const Cell& cell, Column column, Buffer& buffer) {
    const bool optional = column >= kRequiredColumns;
    if (optional && cell.text.empty()) return;
    if (column == kId) {
      ReadId(cell, buffer);
      return;
    }
    const int64_t number = ReadNumber(cell, column);
    if (column == kLower) buffer.lower = number;
    if (column == kUpper) buffer.upper = number + (ends_with_last_step_ && number < INT64_MAX);
    if (column == kSize) buffer.bytes = number;
    if (column == kAlignment) buffer.alignment = number;
    if (column == kOffset) buffer.offset = number;
  }

  void ReadId(const Cell& cell, Buffer& buffer) {
    buffer.name = cell.text;
    const auto [first, is_new] = lines_of_ids_.try_emplace(cell.text, line_);
    if (cell.text.empty()) {
      Error(cell.place, "the id is missing", "give every buffer a name of its own");
    } else if (std::any_of(cell.text.begin(), cell.text.end(), IsControl)) {
      Error(cell.place, "the id holds a control character", "use printable characters");
    } else if (!is_new) {
      Error(cell.place,
            "the id " + Shown(cell.text) + " was used in line " + std::to_string(first->second),
            "give every buffer a name of its own");
    }
  }

  int64_t ReadNumber(const Cell& cell, Column column) {
    const std::string name(kNouns[column]);
    int64_t number = 0;
    const char* const end = cell.text.data() + cell.text.size();
    const auto [stop, error] = std::from_chars(cell.text.data(), end, number);
    if (cell.text.empty()) {
      Error(cell.place, "the " + name + " is missing", "write a whole number");
    } else if (error == std::errc::result_out_of_range && stop == end) {
      Error(cell.place, "the " + name + " " + Shown(cell.text) + " does not fit in 64 bits",
            "the largest number is 9223372036854775807");
    } else if (error != std::errc() || stop != end) {
      Error(cell.place, "the " + name + " " + Shown(cell.text) + " is not a whole number",
            "write digits alone: sizes are in bytes, lifespans in steps");
    }
    return number;
  }

  void ReportFaults() {
    for (const ProblemFault& fault : ProblemFaults(problem_, kMostErrors)) {
      std::string help = fault.help;
      if (fault.second.valid()) {
        help += "; " + DisplayName(problem_, fault.first) + " stands in line " +
                std::to_string(PlaceOf(fault.first, kOffset).line);
      }
      const BufferId culprit = fault.second.valid() ? fault.second : fault.first;
      const Place place = culprit.valid() ? PlaceOf(culprit, ColumnOf(fault.field)) : Place();
      Error(place, fault.message, std::move(help));
    }
  }

  static Column ColumnOf(ProblemFault::Field field) {
    using Field = ProblemFault::Field;
    if (field == Field::kBytes || field == Field::kProblem) return kSize;
    if (field == Field::kLifespan) return kUpper;
    return field == Field::kAlignment ? kAlignment : kOffset;
  }

  Place PlaceOf(BufferId id, Column column) const {
    return places_[static_cast<size_t>(id.index)][column];
  }

  std::shared_ptr<const SourceFile> file_;
  Diagnostics& diagnostics_;
  std::string_view rest_;  // not yet read
  int line_ = 0;
  int errors_ = 0;
  bool ends_with_last_step_ = false;
  std::vector<Column> header_;
  std::map<std::string, int, std::less<>> lines_of_ids_;
  MemoryProblem problem_;
  std::vector<Places> places_;  // by BufferId
};

// A cell as it must be written to be read back.
std::string Quoted(const std::string& text) {
  const bool plain = text.find_first_of(",\"") == std::string::npos && !IsBlank(text.front()) &&
                     !IsBlank(text.back());
  if (plain) return text;
  std::string quoted = "\"";
  for (char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

// A name that no earlier line has.
std::string UniqueId(const MemoryProblem& problem, size_t i, std::set<std::string>& used) {
  std::string id = problem.buffers[i].name;
  std::replace_if(id.begin(), id.end(), IsControl, '?');
  if (id.empty()) id = std::to_string(i);
  while (!used.insert(id).second) id += "#" + std::to_string(i);
  return id;
}

}  // namespace

std::optional<MemoryProblem> ReadProblemCsv(const std::shared_ptr<const SourceFile>& file,
                                            Diagnostics& diagnostics) {
  return Reader(file, diagnostics).Run();
}

std::string WriteProblemCsv(const MemoryProblem& problem, const MemoryPlan* plan) {
  bool with_alignment = false, with_offset = plan != nullptr;
  for (const Buffer& buffer : problem.buffers) {
    with_alignment |= buffer.alignment != 1;
    with_offset |= buffer.offset.has_value();
  }
  std::string text = "id,lower,upper,size";
  text += with_alignment ? ",alignment" : "";
  text += with_offset ? ",offset\n" : "\n";
  std::set<std::string> used;
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& buffer = problem.buffers[i];
    const std::optional<Bytes> offset = plan ? plan->offsets[i] : buffer.offset;
    text += Quoted(UniqueId(problem, i, used)) + "," + std::to_string(buffer.lower) + "," +
            std::to_string(buffer.upper) + "," + std::to_string(buffer.bytes);
    if (with_alignment) text += "," + std::to_string(buffer.alignment);
    if (with_offset) text += "," + (offset ? std::to_string(*offset) : "");
    text += "\n";
  }
  return text;
}

}  // namespace cgrun
