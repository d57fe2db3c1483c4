// Numbers are added as they are stored.
#include "src/data/csv_features.h"

#include <cstring>
#include <iterator>
#include <optional>

#include "src/data/csv_values.h"
#include "src/data/options.h"
#include "src/data/sampler.h"

namespace cgrun {
namespace {

bool HasFeatures(const CsvLayout& layout) { return layout.used[0].role == CsvRole::kFeature; }

}  // namespace

CsvFeatures::CsvFeatures(const DataOptions& options, Diagnostics& diagnostics)
    : options_(options),
      diagnostics_(diagnostics),
      shared_(SharedFindings(options)),
      known_(shared_.names.contains(kCsvColumns)) {}

std::vector<double> CsvFeatures::Shared(const char* key) const {
  const auto shared = shared_.numbers.find(key);
  return shared == shared_.numbers.end() ? std::vector<double>() : shared->second;
}

void CsvFeatures::Prepare(const CsvLayout& layout, int64_t rows) {
  if (!own() || !HasFeatures(layout) || !IsFloat(layout.fields[0].dtype)) return;
  dtype_ = layout.fields[0].dtype;
  moments_ = ColumnMoments(static_cast<size_t>(layout.fields[0].shape.Elements()));
  held_out_ = HeldOut(options_.split, rows);
}

void CsvFeatures::Add(int64_t row, const CsvColumn& used, const std::byte* value) {
  if (used.role != CsvRole::kFeature || held_out_.empty()) return;
  if (held_out_[static_cast<size_t>(row)]) return;
  double number = 0.0;
  if (dtype_ == DType::kF64) {
    std::memcpy(&number, value, sizeof(number));
  } else {
    float single = 0.0F;
    std::memcpy(&single, value, sizeof(single));
    number = static_cast<double>(single);
  }
  moments_.Add(static_cast<size_t>(used.offset / SizeOf(dtype_)), number);
}

// Always by the training data, whatever that fills its own gaps with.
void CsvFeatures::Finish(const CsvOptions& csv, const CsvLayout& layout, const std::string& path,
                         std::span<std::byte> features) {
  const bool fills = csv.missing == CsvMissing::kMean;
  if (!HasFeatures(layout) || (!fills && !csv.standardize)) return;
  if (!known_ && !own()) {
    diagnostics_.Error(FindOption(options_, fills ? "missing" : "standardize")->mark,
                       "the means are those of the training data, which are not csv",
                       fills ? "`missing: zero` or a number fills gaps without them" : "");
    return;
  }
  const std::vector<double> means = own() ? moments_.Means() : Shared(kCsvMean);
  const std::vector<double> deviations = own() ? moments_.Deviations() : Shared(kCsvDeviation);
  if (std::ssize(means) != layout.fields[0].shape.Elements()) return;  // not the input's: reported
  std::optional<size_t> without;
  const DType dtype = layout.fields[0].dtype;
  if (fills) without = FillGaps(dtype, features, means);
  if (!without && csv.standardize && deviations.size() == means.size()) {
    without = Standardize(dtype, features, means, deviations);
  }
  if (without) ReportNoMean(path, layout.Quoted(layout.used[*without].column));
}

void CsvFeatures::ReportNoMean(const std::string& path, const std::string& column) {
  const char* where = !own()           ? " in the training data"
                      : options_.split ? " in the training samples"
                                       : "";
  diagnostics_.Error(
      FindOption(options_, "file")->mark,
      "'" + path + "': column " + column + " has no value at all" + where + ", so it has no mean");
}

DataFindings CsvFeatures::Findings(const CsvOptions& csv, const CsvLayout& layout) const {
  if (known_) return shared_;
  DataFindings findings;
  findings.names[kCsvColumns] = layout.NamesOf(CsvRole::kFeature);
  if (!layout.categories.empty()) {
    findings.names[kCsvCategories] = layout.NamesOf(CsvRole::kCategory);
  }
  std::vector<std::string> labels = layout.NamesOf(CsvRole::kLabel);
  if (!csv.header && !labels.empty()) findings.names[kCsvLabel] = std::move(labels);
  for (const auto& [column, categories] : layout.categories) {
    findings.names[CategoriesKey(layout.names[column])] = categories.names();
  }
  if (held_out_.empty()) return findings;
  findings.numbers[kCsvMean] = moments_.Means();
  if (csv.standardize) findings.numbers[kCsvDeviation] = moments_.Deviations();
  return findings;
}

}  // namespace cgrun
