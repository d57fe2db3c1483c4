// The data of a session: its sets, and whether they are those that its weights were trained on.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>

#include "src/base/check.h"
#include "src/io/checksum.h"
#include "src/lint/data_lint.h"
#include "src/model_data/data_findings.h"
#include "src/model_data/data_hash.h"
#include "src/model_data/data_identity.h"
#include "src/session/session.h"

namespace cgrun {
namespace {

// The metadata of a weights file, or nothing if it does not exist. Throws UserError for a damaged
// file, whose metadata would put the blame on the data.
SafetensorsMetadata MetadataIn(const std::string& weights) {
  std::error_code error;
  if (!std::filesystem::exists(weights, error)) return {};
  return ReadSafetensorsMetadata(weights);
}

}  // namespace

bool Session::OpenData(bool train, Diagnostics& diagnostics) {
  SafetensorsMetadata kept;  // with the weights of an evaluation
  if (!train && !weights_file_.empty()) kept = MetadataIn(weights_file_);
  if (!train) findings_ = ReadFindings(kept);
  data_ = OpenAndLintData(model_, diagnostics, MissingFiles::kAreErrors,
                          findings_.empty() ? nullptr : &findings_, options_.cap);
  if (diagnostics.has_errors()) return false;
  const auto add = [&](const std::string& name, const std::shared_ptr<const Dataset>& dataset) {
    const auto& wanted = options_.evaluate;
    if (dataset == nullptr || std::find(wanted.begin(), wanted.end(), name) == wanted.end()) return;
    Split split{name, dataset, MatchInputs(model_, *dataset, {}, diagnostics), nullptr, nullptr};
    evaluations_.push_back(std::move(split));
  };
  if (train) {
    if (data_.train == nullptr) {
      diagnostics.Error(model_.data ? model_.data->mark : SourceMark{model_.tree.mark.file},
                        "there is no training data",
                        "give `data: {train: {format: images, folder: FOLDER}}` for images in a "
                        "folder for each class, or `format: csv, file: FILE, label: COLUMN` for a "
                        "table; docs/model-format.md has more");
      return false;
    }
    train_ = Split{"train", data_.train, MatchInputs(model_, *data_.train, {}, diagnostics),
                   nullptr, nullptr};
    class_names_ = ClassNamesOf(*data_.train, train_->inputs);
    TakeFindings(diagnostics);
    WarnOfLargeBatch(model_, *data_.train, diagnostics);
  }
  add("train", data_.train);
  add("valid", data_.valid);
  add("test", data_.test);
  if (!train) WarnOfOtherSplit(ReadIdentity(kept), diagnostics);
  if (!train && !evaluations_.empty()) {
    class_names_ = ClassNamesOf(*evaluations_[0].dataset, evaluations_[0].inputs);
  }
  return !diagnostics.has_errors();
}

void Session::TakeFindings(Diagnostics& diagnostics) {
  findings_ = FindingsOf(*data_.train);
  const bool goes_on = !options_.checkpoint.empty();
  const std::string& file = goes_on ? options_.checkpoint : weights_file_;
  if (file.empty()) return;
  const SafetensorsMetadata kept = MetadataIn(file);
  const int errors = diagnostics.error_count();
  CheckFindings(ReadFindings(kept), file, findings_, goes_on, model_.data->mark, diagnostics);
  const std::optional<DataIdentity> before = ReadIdentity(kept);
  if (!goes_on || !before || diagnostics.error_count() > errors) return;
  identity_ = IdentityOf(*data_.whole);
  const DataDifference difference = DifferenceOf(*before, *identity_);
  if (difference.text.empty()) return;
  const std::string message =
      "the training data are not those that " + file + " was trained with: " + difference.text;
  if (difference.is_certain) {
    diagnostics.Error(model_.data->mark, message,
                      "a run goes on with the same data alone; --weights starts a new run from its "
                      "weights");
    return;
  }
  diagnostics.Warning(model_.data->mark, message,
                      "where nothing was changed, another processor or image library decodes them "
                      "a little otherwise; else --weights starts a new run from its weights");
}

// `before`: the data of the weights. Samples that are split off other data are chosen among others.
void Session::WarnOfOtherSplit(const std::optional<DataIdentity>& before,
                               Diagnostics& diagnostics) const {
  if (!before || data_.whole == nullptr) return;
  const auto is_part = [&](const std::string& name, const std::optional<DataSpec>& spec) {
    return spec && spec->split && std::ranges::count(options_.evaluate, name) > 0;
  };
  const bool valid = is_part("valid", model_.data->valid);
  if (!valid && !is_part("test", model_.data->test)) return;
  const std::string difference = DifferenceOf(*before, IdentityOf(*data_.whole)).text;
  if (difference.empty()) return;
  diagnostics.Warning(
      model_.data->mark,
      "the training data are not those that the weights were trained on: " + difference + "; '" +
          (valid ? "valid" : "test") + "' may hold samples that were learned from",
      "files of its own for it stay as they are");
}

std::vector<std::string> Session::data_notes() const {
  if (train_) return data_.notes;
  std::vector<std::string> notes;
  for (const Split& split : evaluations_) {
    std::ranges::move(split.dataset->Notes(), std::back_inserter(notes));
  }
  return notes;
}

int64_t Session::LeftOutOf(const std::string& split) const {
  const auto found = std::ranges::find(data_.left_out, split, &LeftOut::value_type::first);
  return found == data_.left_out.end() ? 0 : found->second;
}

std::string Session::DataHash() const {
  CGRUN_CHECK(train_.has_value()) << "this session cannot train";
  return HashText(HashOf(*train_->dataset));
}

SafetensorsMetadata Session::DataMetadata() const {
  SafetensorsMetadata metadata = FindingsMetadata(findings_);
  metadata.merge(IdentityMetadata(identity_ ? *identity_ : IdentityOf(*data_.whole)));
  return metadata;
}

}  // namespace cgrun
