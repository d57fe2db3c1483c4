// Reads comma-separated text record by record (RFC 4180). It accepts quoted fields with doubled
// quotes and line ends in them; LF, CRLF and CR alone; a byte order mark; and gzip. A first line
// may be no record: Excel's `sep=;`, which declares the delimiter, or the comment of a C4.5 file,
// `|1x3 Cross validator`. CsvReader::Next() is the entry point.
#ifndef CGRUN_DATA_CSV_READER_H_
#define CGRUN_DATA_CSV_READER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/io/read_file.h"

namespace cgrun {

struct CsvField {
  std::string_view text;  // without its quotes; blanks around an unquoted field are its own
  bool quoted = false;
  size_t begin = 0, end = 0;  // in the record's text, quotes included
};

// The character between two fields. One that the user gave counts whatever the file's `sep=` says.
struct CsvDelimiter {
  CsvDelimiter(char separates = ',', bool given = false) : character(separates), is_given(given) {}

  char character;
  bool is_given;
};

struct TablePart;

class CsvReader {
 public:
  static constexpr size_t kMostRecordBytes = size_t{16} << 20;

  // UserError where the file cannot be opened. `can_choose`: an option says what `delimiter` is.
  CsvReader(const std::string& path, CsvDelimiter delimiter, Diagnostics& diagnostics,
            bool can_choose = true);
  // Reads a part of a table that is in memory, which outlives the reader.
  CsvReader(const TablePart& part, Diagnostics& diagnostics);

  // Reads the next record that is not an empty line. Returns false at the end of the file, and
  // after an error of syntax, which is reported with its place. UserError where the file cannot be
  // read.
  bool Next();

  // The fields of the record are valid until Next() is called again.
  std::span<const CsvField> fields() const { return fields_; }
  // The text of the record as the file has it, its line end included.
  std::string_view record() const { return record_; }
  // The character that separates fields: the option's, or the one that the file declares.
  char delimiter() const { return delimiter_; }
  SourceMark MarkOf(const CsvField& field) const;
  // Marks the whole record.
  SourceMark mark() const;
  // Returns the line on which the record begins.
  int line() const { return static_cast<int>(line_); }
  // Lines without anything that were passed over on the way to the record, and the first of them.
  int64_t empty_lines() const { return empty_lines_; }
  int first_empty_line() const { return static_cast<int>(first_empty_line_); }
  // Returns a note on a first line that is no record and was passed over; "" where there is none.
  std::string PreambleNote() const;

 private:
  bool AppendLine();
  bool TakeRecord();
  bool NextRecord();
  void SkipMark();
  void FindLineEnd();
  bool SkipPreamble();
  bool ScanFields();
  bool SkipQuoted();
  bool FailAtLineEnd(std::string_view end);
  std::string HelpBehindQuote(char next) const;
  void ResolveTexts();
  void Unescape(CsvField& field);
  SourceMark MarkAt(size_t begin, size_t length) const;
  bool Fail(size_t at, std::string message, std::string help = "");

  const std::string path_;
  std::optional<FileReader> reader_;  // nothing of a table in memory
  const TablePart* part_ = nullptr;   // of such a table
  size_t taken_ = 0;                  // records of it that were read, that of the names included
  CsvDelimiter chosen_;               // as the caller has it
  char delimiter_;                    // as it is used
  char line_end_ = '\n';
  const bool can_choose_;
  Diagnostics& diagnostics_;
  std::vector<char> buffer_;
  size_t used_ = 0, filled_ = 0;  // of buffer_
  std::string record_;            // as in the file, line ends included
  size_t at_ = 0;                 // of record_: what is not scanned yet
  std::string unescaped_;         // of quoted fields with quotes in them
  std::vector<CsvField> fields_;
  int64_t line_ = 1;       // on which the record begins; an int, once Next() has been true
  int64_t next_line_ = 1;  // on which the one after it begins
  int64_t empty_lines_ = 0, first_empty_line_ = 0;
  std::string preamble_;  // the start of a first line that is no record
  bool failed_ = false;
};

// Suggests a value of the option `delimiter` if `next` is another character that often separates
// fields: "if another character separates them: `delimiter: \";\"`". Returns "" for other
// characters.
std::string DelimiterHelp(char next);

// Field `column` of the record that begins on `line`, for errors: the file is read again. Its line
// alone where that cannot be. `text`, where it is given, becomes what stands there.
SourceMark FindField(const std::string& path, CsvDelimiter delimiter, int line, size_t column,
                     std::string* text = nullptr);

}  // namespace cgrun

#endif  // CGRUN_DATA_CSV_READER_H_
