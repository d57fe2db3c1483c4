#include "src/data/gap_census.h"

#include <fmt/format.h>

#include "src/base/diagnostics.h"

namespace cgrun {
namespace {

constexpr size_t kMostNamed = 5;

// "line 32", "lines 32, 42, …"
std::string LinesText(const std::vector<int>& first, int64_t all) {
  return fmt::format("{} {}{}", all == 1 ? "line" : "lines", fmt::join(first, ", "),
                     all > static_cast<int64_t>(first.size()) ? ", …" : "");
}

std::string FillerText(const CsvOptions& csv, int64_t count) {
  if (csv.missing != CsvMissing::kMean) return csv.filler;
  return count == 1 ? "the mean of its column" : "the means of their columns";
}

}  // namespace

void GapCensus::Drop(int line) {
  ++dropped_;
  if (first_.size() < kMostNamed) first_.push_back(line);
}

std::vector<std::string> GapCensus::Texts(const std::string& path, const CsvOptions& csv,
                                          int64_t kept) const {
  std::vector<std::string> texts;
  const std::string file = "'" + path + "': ";
  const auto are = [](int64_t count) { return count == 1 ? " is " : " are "; };
  if (dropped_ > 0) {
    const bool all = csv.missing == CsvMissing::kDrop;
    texts.push_back(file + std::to_string(dropped_) + " of its " +
                    CountText(kept + dropped_, "row") + are(dropped_) + "left out, " +
                    (all ? "with no value in a column that is used: " : "with no label: ") +
                    LinesText(first_, dropped_));
  }
  if (features_ > 0) {
    texts.push_back(file + CountText(features_, "gap") + are(features_) + "filled with " +
                    FillerText(csv, features_));
  }
  if (categories_ > 0) {
    texts.push_back(file + CountText(categories_, "gap") + " in columns of categories" +
                    are(categories_) + "read as unknown, with the id 0");
  }
  return texts;
}

}  // namespace cgrun
