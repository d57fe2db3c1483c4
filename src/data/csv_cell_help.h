// CellHelp says what is wrong with cells of a table, and what to do about them.
#ifndef CGRUN_DATA_CSV_CELL_HELP_H_
#define CGRUN_DATA_CSV_CELL_HELP_H_

#include <string>
#include <string_view>

#include "src/data/cell_errors.h"
#include "src/data/csv_layout.h"
#include "src/data/csv_options.h"
#include "src/data/dataset.h"
#include "src/data/text_number.h"

namespace cgrun {

// The input that takes field `field`, as a model file has it where it holds fractions: ": `label:
// {type: f32, shape: []}`", for the end of a help; "" where there is none.
std::string AsFractions(const CsvLayout& layout, const DataOptions& options, size_t field);

class CellHelp {
 public:
  // The kind of mistakes in a line that seems to hold names.
  static constexpr char kNames[] = "names";

  // All outlive this. `path` is the file's.
  CellHelp(const std::string& path, const CsvOptions& csv, const CsvLayout& layout,
           const DataOptions& options)
      : path_(path), csv_(csv), layout_(layout), options_(options) {}

  // Says what to do about a cell with no value.
  std::string OfGap(const CsvColumn& used) const;
  // Describes a text that is no number of its column's type, for `error`. `first`: it stands in the
  // first line of a table without a header.
  CellMistake OfNumber(TextNumber error, const CsvColumn& used, std::string_view text,
                       bool first) const;

 private:
  std::string OfText(const CsvColumn& used) const;
  std::string OfFirstLine() const;
  std::string OfNoNumber(const CsvColumn& used, std::string_view text) const;
  // The help for a number in another form than ours, or with characters that only look like those
  // of one.
  struct OtherNumber {
    std::string help;  // "" of what is none
    std::string kind;  // the same for those that are told of together
  };
  OtherNumber OfOtherNumber(std::string_view text) const;

  const std::string& path_;
  const CsvOptions& csv_;
  const CsvLayout& layout_;
  const DataOptions& options_;
};

}  // namespace cgrun

#endif  // CGRUN_DATA_CSV_CELL_HELP_H_
