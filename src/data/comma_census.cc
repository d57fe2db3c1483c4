// A cell is told by its groups of three digits and by what stands behind them.
#include "src/data/comma_census.h"

#include <algorithm>

#include "src/base/diagnostics.h"
#include "src/data/csv_reader.h"
#include "src/data/csv_values.h"
#include "src/data/options.h"
#include "src/data/text_number.h"

namespace cgrun {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kZipped[] = {".gz"};

size_t CountDigits(std::string_view text) {
  return std::min(text.find_first_not_of(kDigits), text.size());
}

// A number with `mark` between its thousands.
struct Groups {
  int count = 0;          // of three digits behind a mark; 0 of other texts
  bool fraction = false;  // whether the other mark and digits stand behind them
};

Groups GroupsIn(std::string_view text, char mark, char point) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const size_t head = CountDigits(text);
  if (head == 0 || head > 3 || text[0] == '0') return {};
  text.remove_prefix(head);
  Groups groups;
  while (text.starts_with(mark) && CountDigits(text.substr(1)) == 3) {
    text.remove_prefix(4);
    ++groups.count;
  }
  groups.fraction =
      text.size() > 1 && text[0] == point && CountDigits(text.substr(1)) + 1 == text.size();
  return text.empty() || groups.fraction ? groups : Groups();
}

}  // namespace

CommaCensus CommaCensus::Of(const std::string& path, CsvDelimiter delimiter, bool header) {
  CommaCensus census;
  census.delimiter_ = delimiter.character;
  census.zipped_ = HasEnding(path, kZipped);
  if (delimiter.character == ',') return census;  // the help is of single cells
  Diagnostics ignored;
  try {
    CsvReader reader(path, delimiter, ignored);
    for (bool first = header; reader.Next(); first = false) {
      for (size_t i = 0; i < reader.fields().size(); ++i) {
        const std::string_view text = reader.fields()[i].text;
        if (first) {
          census.names_have_commas_ |= text.find(',') != text.npos;
          census.names_have_points_ |= text.find('.') != text.npos;
        } else {
          census.Add(i, Trimmed(text), reader.line());
        }
      }
    }
  } catch (const UserError&) {  // what was read so far is looked at
  }
  return census;
}

CommaCensus::Use CommaCensus::UseIn(std::string_view text) {
  if (text.find_first_of(".,") == text.npos) return Use::kNone;
  const Groups points = GroupsIn(text, '.', ','), commas = GroupsIn(text, ',', '.');
  if (points.count > 0 && points.fraction) return Use::kPointsAndComma;
  if (points.count > 0) return points.count > 1 ? Use::kPoints : Use::kOnePoint;
  if (commas.count > 0) {
    return commas.count > 1 || commas.fraction ? Use::kCommas : Use::kOneComma;
  }
  if (IsFiniteNumber(text)) return Use::kPointFraction;
  if (HasDecimalComma(text)) return Use::kCommaFraction;
  return text.find('.') == text.npos ? Use::kNone : Use::kOtherPoints;
}

void CommaCensus::Add(size_t column, std::string_view text, int line) {
  const Use use = UseIn(text);
  if (use == Use::kNone) return;
  if (!Has(use)) first_[use] = {QuotedText(text), line};
  if (use == Use::kCommaFraction || use == Use::kPointsAndComma) with_comma_[column] = true;
  if (use == Use::kOnePoint) one_points_.try_emplace(column, Example{QuotedText(text), line});
}

std::string CommaCensus::Shown(Use use) const {
  const Example& example = first_.at(use);
  return example.text + " in line " + std::to_string(example.line);
}

// "1.234" beside "2,5" in a column has its point before thousands.
CommaCensus::Use CommaCensus::Thousands() const {
  if (Has(Use::kPointsAndComma)) return Use::kPointsAndComma;
  if (!Has(Use::kCommaFraction)) return Use::kNone;
  if (Has(Use::kPoints)) return Use::kPoints;
  const bool beside = std::ranges::any_of(
      one_points_, [&](const auto& of_column) { return with_comma_.contains(of_column.first); });
  return beside ? Use::kOnePoint : Use::kNone;
}

// Names of columns stay as they are.
std::string CommaCensus::Sed(bool points) const {
  const std::string lines = names_have_commas_ || (points && names_have_points_) ? "2,$" : "";
  const std::string sed = "sed '" + (points ? lines + "s/\\.//g; " : "") + lines + "s/,/./g'";
  return "`" + (zipped_ ? "zcat FILE | " + sed : sed + " FILE") + " > NEW`";
}

// Of all cells; "" where there is nothing to say of them.
std::string CommaCensus::OfAll() const {
  const Use thousands = Thousands();
  if (thousands == Use::kNone) {
    if (Has(Use::kCommas) && !Has(Use::kCommaFraction)) return "";
    std::string help = Sed(false) + " puts one for every comma";
    if (!Has(Use::kOnePoint) || Has(Use::kPointFraction)) return help;
    return help + "; but if " + Shown(Use::kOnePoint) + " has its point before thousands, " +
           Sed(true);
  }
  for (const Use other : {Use::kPointFraction, Use::kOtherPoints, Use::kCommas}) {
    if (!Has(other)) continue;
    return "points are mixed: they stand before thousands (" + Shown(thousands) +
           ") and elsewhere do not (" + Shown(other) +
           "), so that no line of the shell mends all: save the table anew from where it comes, "
           "with a point before fractions and nothing before thousands";
  }
  return "points stand before thousands here (" + Shown(thousands) + "): " + Sed(true) +
         " takes them out, and puts one for every comma";
}

std::string CommaCensus::Help() const {
  const std::string help = PointHelp(), all = delimiter_ == ',' ? "" : OfAll();
  return help + (all.empty() ? "" : "; " + all);
}

std::string CommaCensus::HelpFor(std::string_view text) const {
  const std::string groups = GroupsHelp(text);
  if (delimiter_ == ',') return groups.empty() ? CommaHelp(text) : groups;
  const Use use = UseIn(Trimmed(text));
  if (!groups.empty()) {
    const bool by_points = use == Use::kPointsAndComma || use == Use::kPoints;
    return groups + (by_points && Thousands() != Use::kNone ? "; " + OfAll() : "");
  }
  const bool is_fraction = Has(Use::kCommaFraction) || Has(Use::kPointsAndComma);
  return use == Use::kOneComma && !is_fraction ? CommaHelp(text) : Help();
}

}  // namespace cgrun
