// Delimiters, lines of names, nearly the same names: the first that explains a column is told.
#include "src/data/csv_column_help.h"

#include <algorithm>
#include <optional>

#include "src/base/lookalikes.h"
#include "src/base/printable.h"
#include "src/data/csv_reader.h"
#include "src/data/encoding.h"
#include "src/data/options.h"

namespace cgrun {

std::string ColumnHelp::OfOneColumn() const {
  if (names_.size() != 1) return "";
  for (const char delimiter : {';', '\t', '|', ','}) {
    if (first_.texts[0].find(delimiter) == std::string::npos) continue;
    const std::string help = "there is one column only; ";
    if (!Predicts()) return help + DelimiterHelp(delimiter);
    const std::string name = delimiter == '\t'  ? "tab"
                             : delimiter == ',' ? "\",\""  // bare, it is no YAML
                                                : std::string(1, delimiter);
    return help + "if another character separates them: `--set '" + options_.predicted_as +
           ".delimiter=" + name + "'`";
  }
  if (first_.texts[0].starts_with('#')) {
    return "the first line seems to be a comment: leave such lines out";
  }
  if (first_.texts[0].find(' ') == std::string::npos) return "";
  const std::string blanks = "there is one column only; if single blanks separate them: `";
  return blanks +
         (Predicts() ? "--set '" + options_.predicted_as + ".delimiter=\" \"'"
                     : std::string("delimiter: \" \"")) +
         "`";
}

// The help for a first line that holds values, or may hold some.
std::string ColumnHelp::OfHeader(bool seems_values) const {
  const std::string begin =
      seems_values ? "the first line looks like values, not names: " : "if these are values: ";
  if (Predicts()) return begin + HeaderToPredict();
  return begin +
         "`header: false` says that there are no names, and columns are counted then: from 1, -1 "
         "is the last";
}

// Categories are known by the names of their columns alone.
std::string ColumnHelp::HeaderToPredict() const {
  const std::string line = "put a line with the names of the columns before it";
  if (shared_.names.contains(kCsvCategories)) return line;
  return line + ", or `--set " + options_.predicted_as +
         ".header=false` where they stand in the order of the training data's";
}

std::vector<std::string> ColumnHelp::PrintableNames() const {
  std::vector<std::string> names;
  for (const std::string& name : names_) names.push_back(PrintableText(name));
  return names;
}

std::string ColumnHelp::OfUnknown(const std::string& wanted) const {
  std::string help = OfOneColumn();
  if (!help.empty()) return help;
  if (!csv_.header) return OfNumbered(wanted);
  if (first_.is_doubtful) return OfHeader(/*seems_values=*/true);
  help = OfEncoding(wanted);
  if (!help.empty()) return help;
  help = SuggestName(wanted, PrintableNames());
  const bool may_be_values = !first_.numbers.empty() && help.starts_with("known: ");
  return help + (may_be_values ? "; " + OfHeader(/*seems_values=*/false) : "");
}

// The help for a name, where a table has none.
std::string ColumnHelp::OfNumbered(const std::string& wanted) const {
  const auto found = std::ranges::find(first_.texts, wanted);
  if (found != first_.texts.end()) {
    return "the first line has this name: leave `header: false` out, or write " +
           std::to_string(found - first_.texts.begin() + 1);
  }
  const std::string counted = "with `header: false` a column is called by its number: from 1 to " +
                              std::to_string(names_.size()) + ", -1 is the last";
  if (!Predicts()) return counted;
  return counted + "; or " + HeaderToPredict();
}

std::string ColumnHelp::OfTraining(const std::string& wanted) const {
  const std::string one_column = OfOneColumn();
  if (!one_column.empty()) return one_column;
  const size_t needed = shared_.names.at(kCsvColumns).size();
  const bool too_few = names_.size() < needed;
  const std::string others =
      too_few ? "the training data have " + CountText(static_cast<int64_t>(needed), "column") +
                    " of features, and this table " + CountText(std::ssize(names_), "column") +
                    " in all"
              : "give the column of these values that name: features are found by their names";
  if (first_.is_doubtful) {
    return OfHeader(/*seems_values=*/true) + (too_few ? "; " + others : "");
  }
  const std::string same = SameLettersHelp(PrintableText(wanted), PrintableNames());
  if (!same.empty()) return same;
  const std::string near = NearestName(PrintableText(wanted), PrintableNames());
  const std::string header = first_.numbers.empty() ? "" : OfHeader(/*seems_values=*/false) + "; ";
  if (near.empty()) return header + others;
  return "its column '" + near + "' has nearly that name: give it the same";
}

// The help for a name that is not of ASCII alone, where names of columns are in no UTF-8; else "".
std::string ColumnHelp::OfEncoding(std::string_view wanted) const {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (std::ranges::all_of(wanted, is_ascii)) return "";
  for (const std::string& name : names_) {
    const std::optional<EncodingFault> fault = FindEncodingFault(name);
    if (fault) return "its column " + QuotedText(name) + " " + fault->what + "; " + fault->help;
  }
  return "";
}

}  // namespace cgrun
