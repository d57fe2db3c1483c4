// Fields of a table: gaps, names, and why a text is no number.
#ifndef CGRUN_DATA_CSV_VALUES_H_
#define CGRUN_DATA_CSV_VALUES_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/dtype.h"
#include "src/data/csv_reader.h"
#include "src/data/text_number.h"

namespace cgrun {

// Returns whether nothing stands in a field. A name may be "NA", in quotes.
bool IsGap(const CsvField& field, bool is_name);

// Returns whether a text is what other programs write where there is nothing: "n/a", "null".
bool IsOtherGap(std::string_view text);

// A class or a category as a field names it.
std::string_view NameIn(const CsvField& field);

// "is not an integer": why `text` is no number of `dtype`.
std::string FaultText(TextNumber error, DType dtype);

// Values of features, a row a sample, that are floats of type `dtype`; NaN stands for a gap. Both
// return the first column that has no mean though it needs one.
std::optional<size_t> FillGaps(DType dtype, std::span<std::byte> features,
                               const std::vector<double>& means);
std::optional<size_t> Standardize(DType dtype, std::span<std::byte> features,
                                  const std::vector<double>& means,
                                  const std::vector<double>& deviations);

// Says how a number with a comma for its point is written.
std::string PointHelp();

// Says what to write for a number with a comma in it, which may stand before thousands.
std::string CommaHelp(std::string_view text);

// Says how a number is written that has marks between its thousands, which no comma alone explains:
// "1,234,567" or "1.234,56". "" for others.
std::string GroupsHelp(std::string_view text);

// Says how a number is written that has a sign of money or a percent sign beside it, with marks
// between its thousands or without; "" for others.
std::string SignHelp(std::string_view text);

}  // namespace cgrun

#endif  // CGRUN_DATA_CSV_VALUES_H_
