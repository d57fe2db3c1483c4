// Lines are put together until no quote is open; then the record is cut into fields.
#include "src/data/csv_reader.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "src/data/encoding.h"
#include "src/data/options.h"
#include "src/data/table_rows.h"
#include "src/data/text_number.h"
#include "src/io/file_error.h"

namespace cgrun {
namespace {

constexpr size_t kBlock = size_t{1} << 18;
constexpr size_t kStart = 16;  // bytes of a file, of which binary formats have a zero
constexpr size_t kMostPreamble = 100;
constexpr std::string_view kSeparator = "sep=";

bool IsLineEnd(char c) { return c == '\n' || c == '\r'; }
bool IsUtf8Continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Returns the delimiter that the first line, without its end, declares; nothing if it declares
// none. Excel takes such a line in quotes, too, and in capitals.
std::optional<char> SaidDelimiter(std::string_view line) {
  const bool quoted = line.size() > 1 && line.starts_with('"') && line.ends_with('"');
  const std::string_view text = quoted ? line.substr(1, line.size() - 2) : line;
  if (text.size() != kSeparator.size() + 1) return std::nullopt;
  const auto is_same = [](char a, char b) {
    return a == b || (a >= 'A' && a <= 'Z' && a - 'A' + 'a' == b);
  };
  const std::string_view key = text.substr(0, kSeparator.size());
  return std::ranges::equal(key, kSeparator, is_same) ? std::optional(text.back()) : std::nullopt;
}

int Characters(std::string_view text) {
  return static_cast<int>(text.size()) -
         static_cast<int>(std::ranges::count_if(text, IsUtf8Continuation));
}

}  // namespace

CsvReader::CsvReader(const std::string& path, CsvDelimiter delimiter, Diagnostics& diagnostics,
                     bool can_choose)
    : path_(path),
      chosen_(delimiter),
      delimiter_(delimiter.character),
      can_choose_(can_choose),
      diagnostics_(diagnostics),
      buffer_(kBlock) {
  reader_.emplace(path);
}

CsvReader::CsvReader(const TablePart& part, Diagnostics& diagnostics)
    : path_(part.table->path()),
      part_(&part),
      delimiter_(part.table->delimiter()),
      can_choose_(true),
      diagnostics_(diagnostics) {}

// Appends the next line, or what of it fits the longest record. Returns false at the end of the
// file.
bool CsvReader::AppendLine() {
  bool any = false;
  while (record_.size() < kMostRecordBytes) {
    if (used_ == filled_) {
      filled_ = reader_->ReadSome(std::as_writable_bytes(std::span(buffer_)));
      used_ = 0;
      if (filled_ == 0) return any;
      if (reader_->position() == static_cast<int64_t>(filled_)) {
        SkipMark();
        FindLineEnd();
      }
      continue;
    }
    any = true;
    const char* begin = buffer_.data() + used_;
    const void* end = std::memchr(begin, line_end_, filled_ - used_);
    const size_t size = end == nullptr
                            ? filled_ - used_
                            : static_cast<size_t>(static_cast<const char*>(end) - begin) + 1;
    record_.append(begin, size);
    used_ += size;
    if (end == nullptr) continue;
    ++next_line_;
    return true;
  }
  return any;
}

// The byte order mark of UTF-8 is left out; UTF-16 and what is no text are not read.
void CsvReader::SkipMark() {
  const std::string_view start(buffer_.data(), filled_);
  RefuseUtf16(path_, start);
  if (start.substr(0, kStart).find('\0') != start.npos) {
    ThrowFileError(path_, ": this is no text, but binary data",
                   "a table is text, with a row a line; a spreadsheet can be saved as CSV");
  }
  if (start.starts_with("\xEF\xBB\xBF")) used_ = 3;
}

// Old spreadsheets end lines with a CR alone.
void CsvReader::FindLineEnd() {
  const std::string_view start(buffer_.data(), filled_);
  if (start.find('\n') == start.npos && start.find('\r') != start.npos) line_end_ = '\r';
}

// Passes a first line over that is no record, and takes the delimiter that it says.
bool CsvReader::SkipPreamble() {
  const std::string_view line =
      std::string_view(record_).substr(0, record_.find_last_not_of("\r\n") + 1);
  const bool is_comment =
      delimiter_ != '|' && line.starts_with('|') && line.find(delimiter_) == line.npos;
  const std::optional<char> said = SaidDelimiter(line);
  if (!said && !is_comment) return false;
  preamble_ = line.substr(0, kMostPreamble);
  if (said && !chosen_.is_given) delimiter_ = *said;
  return true;
}

std::string CsvReader::PreambleNote() const {
  if (preamble_.empty()) return "";
  std::string text = "'" + path_ + "': its first line, " + QuotedText(preamble_) +
                     ", is no row and is passed over";
  const std::optional<char> said = SaidDelimiter(preamble_);
  if (!said) return text;
  return text + (said == delimiter_ ? ": it says what separates fields"
                                    : ": the option `delimiter` says what separates fields");
}

// Takes the next record of a table in memory: its line of names first, where it has one.
bool CsvReader::TakeRecord() {
  const size_t header = part_->has_header ? 1 : 0;
  if (taken_ >= header + part_->rows.size()) return false;
  const int32_t record = taken_ < header ? 0 : part_->rows[taken_ - header];
  ++taken_;
  record_ = part_->table->text(record);
  line_ = part_->table->line(record);
  fields_.clear();
  at_ = 0;
  if (ScanFields()) ResolveTexts();  // they were whole when the table was read
  return !failed_;
}

bool CsvReader::Next() {
  if (failed_) return false;
  return part_ != nullptr ? TakeRecord() : NextRecord();
}

bool CsvReader::NextRecord() {
  while (true) {
    record_.clear();
    line_ = next_line_;
    if (!AppendLine()) return false;
    if (line_ == 1 && SkipPreamble()) continue;
    if (std::ranges::all_of(record_, IsLineEnd)) {
      if (empty_lines_++ == 0) first_empty_line_ = line_;
      continue;
    }
    fields_.clear();
    at_ = 0;
    while (!ScanFields() && !failed_) {
      if (record_.size() < kMostRecordBytes && AppendLine()) continue;
      Fail(fields_.back().begin, "this quote is never closed",
           "a quote inside a quoted field is doubled: \"say \"\"yes\"\"\"");
    }
    if (!failed_ && record_.size() >= kMostRecordBytes) {
      Fail(0, "a line of more than " + std::to_string(kMostRecordBytes >> 20) + " MiB",
           "is this a CSV file?");
    }
    if (!failed_ && line_ > INT_MAX) Fail(0, "there are more than 2147483647 lines");
    if (!failed_) ResolveTexts();
    return !failed_;
  }
}

// Cuts the record into fields_, from at_ on. Returns false after an error, and where a quote is
// open: then the last field begins with it, and the next call goes on with what was appended.
bool CsvReader::ScanFields() {
  bool open = at_ > 0;  // the last field is
  while (true) {
    if (!open) {
      fields_.push_back({{}, at_ < record_.size() && record_[at_] == '"', at_, at_});
      if (fields_.back().quoted) ++at_;
    }
    open = false;
    CsvField& field = fields_.back();
    if (field.quoted && !SkipQuoted()) return false;
    const size_t closed = at_;
    while (at_ < record_.size() && record_[at_] != delimiter_ && !IsLineEnd(record_[at_])) ++at_;
    if (field.quoted && at_ > closed) {
      if (record_.find('\n', field.begin) < closed) {
        return Fail(field.begin, "this quote is closed in a later line, with text behind that",
                    "one before it may be missing; a quote inside a quoted field is doubled: \"say "
                    "\"\"yes\"\"\"");
      }
      return Fail(closed, "text behind the closing quote", HelpBehindQuote(record_[closed]));
    }
    field.end = at_;
    if (at_ == record_.size() || record_[at_] != delimiter_) break;
    ++at_;
  }
  const std::string_view end = std::string_view(record_).substr(at_);
  if (end.empty() || end == "\n" || end == "\r\n" || end == "\r") return true;
  return FailAtLineEnd(end);
}

// Reports a record that goes on behind a line end of another kind of file.
bool CsvReader::FailAtLineEnd(std::string_view end) {
  const bool is_cr = end[0] == '\r';
  const std::string others = !is_cr ? "CR" : record_.ends_with("\r\n") ? "CRLF" : "LF";
  return Fail(at_,
              std::string("line ends are mixed: ") + (is_cr ? "a CR alone" : "an LF") +
                  " stands here, where other lines end with " + others,
              "all lines of a file end alike, with LF, CRLF or CR: `tr '\\r' '\\n' < FILE > NEW` "
              "makes each of them an LF");
}

// If another character than the delimiter stands between two fields, the help names it.
std::string CsvReader::HelpBehindQuote(char next) const {
  const std::string other = next == delimiter_ ? "" : DelimiterHelp(next);
  if (other.empty()) return "a quote inside a quoted field is doubled: \"say \"\"yes\"\"\"";
  const std::string by = delimiter_ == '\t' ? "a tab" : "'" + std::string(1, delimiter_) + "'";
  return "the fields are separated by " + by + (can_choose_ ? "; " + other : "");
}

// Moves at_ behind the closing quote; to the end of the record, and false, where there is none.
bool CsvReader::SkipQuoted() {
  while (true) {
    at_ = std::min(record_.find('"', at_), record_.size());
    if (at_ == record_.size()) return false;
    const bool doubled = at_ + 1 < record_.size() && record_[at_ + 1] == '"';
    at_ += doubled ? 2 : 1;
    if (!doubled) return true;
  }
}

// Resolves the texts of the fields, now that the record is whole.
void CsvReader::ResolveTexts() {
  unescaped_.clear();
  unescaped_.reserve(record_.size());  // views into it stay valid
  for (CsvField& field : fields_) {
    field.text = std::string_view(record_).substr(field.begin, field.end - field.begin);
    const size_t nul = field.text.find('\0');
    if (nul != field.text.npos) {
      Fail(field.begin + nul, "a NUL byte", "is this a CSV file?");
      return;
    }
    if (field.quoted) Unescape(field);
  }
}

void CsvReader::Unescape(CsvField& field) {
  field.text = field.text.substr(1, field.text.size() - 2);
  if (field.text.find('"') == field.text.npos) return;
  const size_t begin = unescaped_.size();
  for (size_t i = 0; i < field.text.size(); ++i) {
    unescaped_ += field.text[i];
    if (field.text[i] == '"') ++i;  // the second of two
  }
  field.text = std::string_view(unescaped_).substr(begin);
}

SourceMark CsvReader::MarkAt(size_t begin, size_t length) const {
  const std::string_view before = std::string_view(record_).substr(0, begin);
  const size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
  const auto line = static_cast<int>(line_ + std::ranges::count(before, '\n'));
  const std::string_view marked = std::string_view(record_).substr(begin, length);
  return {std::make_shared<const SourceFile>(SourceFile{path_, record_, static_cast<int>(line_)}),
          line, Characters(before.substr(line_begin)) + 1,
          std::max(1, Characters(marked.substr(0, marked.find('\n'))))};
}

SourceMark CsvReader::MarkOf(const CsvField& field) const {
  return MarkAt(field.begin, field.end - field.begin);
}

SourceMark CsvReader::mark() const {
  const size_t end = record_.find_last_not_of("\r\n");
  return MarkAt(0, end == record_.npos ? 0 : end + 1);
}

bool CsvReader::Fail(size_t at, std::string message, std::string help) {
  diagnostics_.Error(MarkAt(at, 1), std::move(message), std::move(help));
  failed_ = true;
  return false;
}

std::string DelimiterHelp(char next) {
  if (next == '\0' || std::string_view(";\t|,").find(next) == std::string_view::npos) return "";
  const std::string name = next == '\t' ? "tab" : std::string(1, next);
  return "if another character separates them: `delimiter: \"" + name + "\"`";
}

SourceMark FindField(const std::string& path, CsvDelimiter delimiter, int line, size_t column,
                     std::string* text) {
  Diagnostics ignored;
  try {
    CsvReader reader(path, delimiter, ignored);
    while (reader.Next()) {
      if (reader.line() != line || column >= reader.fields().size()) continue;
      const CsvField& field = reader.fields()[column];
      if (text != nullptr) *text = field.quoted ? field.text : Trimmed(field.text);
      return reader.MarkOf(field);
    }
  } catch (const UserError&) {  // it is gone
  }
  return {std::make_shared<const SourceFile>(SourceFile{path, ""}), line, 1};
}

}  // namespace cgrun
