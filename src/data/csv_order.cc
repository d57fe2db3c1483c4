// Each known column is looked for among those that are listed; what is left on either side differs.
#include "src/data/csv_order.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <unordered_set>

#include "src/data/csv_layout.h"
#include "src/data/options.h"
#include "src/data/text_number.h"

namespace cgrun {
namespace {

// The columns of a table are compared in one of these ways with those that are known.
enum class Compared { kNames, kNumbers, kNot };

// If the training data's columns are known by number, a table is compared by number. If it lacks
// some of them, as one without the label, it has another layout; if it has names, it may have one.
// Such tables are not compared.
Compared HowToCompare(const std::vector<std::string>& names, const std::vector<std::string>& known,
                      const CsvOptions& csv) {
  if (!AreNumbered(known, csv.header ? names : std::vector<std::string>())) {
    return csv.header ? Compared::kNames : Compared::kNot;
  }
  const bool all_there = std::ranges::all_of(
      known, [&](const std::string& number) { return *ParseInt32(number) <= std::ssize(names); });
  return !csv.header && all_there ? Compared::kNumbers : Compared::kNot;
}

void ReportOthers(const std::string& key, const std::vector<std::string>& lacking,
                  const std::vector<std::string>& added, const DataOptions& options,
                  Diagnostics& diagnostics) {
  const std::string whose =
      options.kept != nullptr ? "the weights were trained with" : "the training data have";
  std::string what = "`" + key + "` lists other columns than " + whose + ": ";
  if (!lacking.empty()) what += "it lacks " + QuotedNames(lacking);
  if (!added.empty()) what += (lacking.empty() ? "it adds " : ", and adds ") + QuotedNames(added);
  diagnostics.Error(FindOption(options, key)->mark, what,
                    "leave `" + key +
                        "` out: the columns of the training data are found, in whatever order they "
                        "stand" +
                        (options.kept != nullptr ? "; other columns want a new training" : ""));
}

}  // namespace

bool AreNumbered(const std::vector<std::string>& columns, const std::vector<std::string>& names) {
  const bool all_numbers = std::ranges::all_of(columns, [](const std::string& column) {
    const std::optional<int32_t> number = ParseInt32(column);
    return number.value_or(0) > 0 && std::to_string(*number) == column;
  });
  if (columns.empty() || !all_numbers) return false;
  const std::unordered_set<std::string_view> called(names.begin(), names.end());
  return std::ranges::none_of(columns,
                              [&](const std::string& column) { return called.contains(column); });
}

std::vector<size_t> InTrainingOrder(const std::string& key, std::vector<size_t> columns,
                                    const std::vector<std::string>& names,
                                    const std::vector<std::string>& known, const CsvOptions& csv,
                                    const DataOptions& options, Diagnostics& diagnostics) {
  const Compared compared = HowToCompare(names, known, csv);
  if (compared == Compared::kNot) return columns;
  const auto called = [&](size_t column) {
    return compared == Compared::kNames ? names[column] : std::to_string(column + 1);
  };
  std::map<std::string, std::deque<size_t>> rest;
  for (const size_t column : columns) rest[called(column)].push_back(column);
  std::vector<size_t> ordered;
  std::vector<std::string> lacking, added;
  for (const std::string& name : known) {
    const auto found = rest.find(name);
    if (found == rest.end() || found->second.empty()) {
      lacking.push_back(name);
      continue;
    }
    ordered.push_back(found->second.front());
    found->second.pop_front();  // of columns of one name the next one is the next
  }
  const std::set<size_t> taken(ordered.begin(), ordered.end());
  for (const size_t column : columns) {
    if (!taken.contains(column)) added.push_back(called(column));
  }
  if (lacking.empty() && added.empty()) return ordered;
  ReportOthers(key, lacking, added, options, diagnostics);
  return columns;
}

}  // namespace cgrun
