// Of a table whose fractions have commas: what commas and points stand for in all of its cells, and
// the line of the shell that mends the file. CommaCensus::Of() is the entry point.
#ifndef CGRUN_DATA_COMMA_CENSUS_H_
#define CGRUN_DATA_COMMA_CENSUS_H_

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "src/data/csv_reader.h"

namespace cgrun {

class CommaCensus {
 public:
  // Reads the file; nothing is counted of one that cannot be read. `header`: its first line holds
  // names.
  static CommaCensus Of(const std::string& path, CsvDelimiter delimiter, bool header);

  // What to write for `text`, a cell with a decimal comma or with marks between its thousands, and
  // for all cells like it. Where commas separate fields, of this cell alone.
  std::string HelpFor(std::string_view text) const;
  // The same of no cell in particular.
  std::string Help() const;

 private:
  enum class Use {
    kNone,
    kCommaFraction,   // "2,5"
    kPointFraction,   // "2.5"
    kPointsAndComma,  // "1.234,56"
    kPoints,          // "1.234.567"
    kOnePoint,        // "1.234", either
    kCommas,          // "1,234.5", "1,234,567"
    kOneComma,        // "1,234", either
    kOtherPoints      // "01.02.2024"
  };
  struct Example {
    std::string text;
    int line = 0;
  };

  static Use UseIn(std::string_view text);
  void Add(size_t column, std::string_view text, int line);
  bool Has(Use use) const { return first_.contains(use); }
  std::string Shown(Use use) const;
  // The first use that says that points stand between thousands; kNone where none does.
  Use Thousands() const;
  std::string Sed(bool points) const;
  std::string OfAll() const;

  char delimiter_ = ',';
  bool zipped_ = false, names_have_commas_ = false, names_have_points_ = false;
  std::map<Use, Example> first_;  // of each use
  // Columns with fractions behind a comma, and the first "1.234" of each column.
  std::map<size_t, bool> with_comma_;
  std::map<size_t, Example> one_points_;
};

}  // namespace cgrun

#endif  // CGRUN_DATA_COMMA_CENSUS_H_
