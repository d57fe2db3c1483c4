// The data of a session: its sets, and whether they are those that its weights were trained on.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>

#include "src/model_data/data_findings.h"
#include "src/model_data/data_identity.h"
#include "src/model_data/model_data.h"
#include "src/model_data/sample_order.h"
#include "src/session/session_parts.h"
#include "src/torch/weights_file.h"

namespace cgrun {
namespace {

// The metadata of a weights file, or nothing if it does not exist. Throws UserError for a damaged
// file, whose metadata would put the blame on the data.
SafetensorsMetadata MetadataIn(const std::string& weights) {
  std::error_code error;
  if (!std::filesystem::exists(weights, error)) return {};
  return ReadWeightsMetadata(weights);
}

Split SplitOf(const ModelSpec& model, const std::string& name,
              const std::shared_ptr<const Dataset>& dataset, Diagnostics& diagnostics) {
  return {name, dataset, MatchInputs(model, *dataset, {}, diagnostics), nullptr, nullptr};
}

void ReportOtherData(const SessionParts& session, const std::string& file,
                     const DataDifference& difference, Diagnostics& diagnostics) {
  const SourceMark& mark = session.model.data->mark;
  const std::string message =
      "the training data are not those that " + file + " was trained with: " + difference.text;
  if (difference.is_certain) {
    diagnostics.Error(mark, message,
                      "a run goes on with the same data alone; --weights starts a new run from its "
                      "weights");
    return;
  }
  diagnostics.Warning(mark, message,
                      "where nothing was changed, another processor or image library decodes them "
                      "a little otherwise; else --weights starts a new run from its weights");
}

// Compares the training data with those that the session's weights keep.
void TakeFindings(SessionParts& session, Diagnostics& diagnostics) {
  SessionData& data = session.data;
  data.findings = FindingsOf(*data.sets.train);
  const bool goes_on = !session.options.checkpoint.empty();
  const std::string& file = goes_on ? session.options.checkpoint : session.weights_file;
  if (file.empty()) return;
  const SafetensorsMetadata kept = MetadataIn(file);
  const int errors = diagnostics.error_count();
  CheckFindings(ReadFindings(kept), file, data.findings, goes_on, session.model.data->mark,
                diagnostics);
  const std::optional<DataIdentity> before = ReadIdentity(kept);
  if (!goes_on || !before || diagnostics.error_count() > errors) return;
  data.identity = IdentityOf(*data.sets.whole);
  const DataDifference difference = DifferenceOf(*before, *data.identity);
  if (!difference.text.empty()) ReportOtherData(session, file, difference, diagnostics);
}

// Warns where the split that is evaluated is a part of training data that the weights do not know:
// samples that are split off other data are chosen among others. `before`: the data of the weights.
void WarnOfOtherSplit(const SessionParts& session, const std::optional<DataIdentity>& before,
                      Diagnostics& diagnostics) {
  const ModelSpec& model = session.model;
  const std::shared_ptr<const Dataset>& whole = session.data.sets.whole;
  if (!before || whole == nullptr) return;
  const auto is_part = [&](const std::string& name, const std::optional<DataSpec>& spec) {
    return spec && spec->split && std::ranges::count(session.options.evaluate, name) > 0;
  };
  const bool valid = is_part("valid", model.data->valid);
  if (!valid && !is_part("test", model.data->test)) return;
  const std::string difference = DifferenceOf(*before, IdentityOf(*whole)).text;
  if (difference.empty()) return;
  diagnostics.Warning(
      model.data->mark,
      "the training data are not those that the weights were trained on: " + difference + "; '" +
          (valid ? "valid" : "test") + "' may hold samples that were learned from",
      "files of its own for it stay as they are");
}

// Sets data.train, or returns false after an error.
bool OpenTraining(SessionParts& session, Diagnostics& diagnostics) {
  const ModelSpec& model = session.model;
  SessionData& data = session.data;
  if (data.sets.train == nullptr) {
    diagnostics.Error(model.data ? model.data->mark : SourceMark{model.tree.mark.file},
                      "there is no training data",
                      "give `data: {train: {format: images, folder: FOLDER}}` for images in a "
                      "folder for each class, or `format: csv, file: FILE, label: COLUMN` for a "
                      "table; docs/reference/data.md has more");
    return false;
  }
  data.train = SplitOf(model, "train", data.sets.train, diagnostics);
  data.class_names = ClassNamesOf(*data.sets.train, data.train->inputs);
  TakeFindings(session, diagnostics);
  if (session.groups != nullptr) return !diagnostics.has_errors();  // the whole data were looked at
  WarnOfLargeBatch(model, *data.sets.train, diagnostics);
  CheckOrder(model, data.sets, diagnostics);
  return !diagnostics.has_errors();
}

}  // namespace

bool OpenData(SessionParts& session, bool train, Diagnostics& diagnostics) {
  const SessionOptions& options = session.options;
  SessionData& data = session.data;
  SafetensorsMetadata kept;  // with the weights of an evaluation
  if (!train && !session.weights_file.empty()) kept = MetadataIn(session.weights_file);
  if (!train) data.findings = ReadFindings(kept);
  if (options.data != nullptr) {
    data.sets = *options.data;
  } else {
    data.sets = OpenModelData(session.model, diagnostics, MissingFiles::kAreErrors,
                              data.findings.empty() ? nullptr : &data.findings, options.cap);
  }
  if (diagnostics.has_errors()) return false;
  if (train && !OpenTraining(session, diagnostics)) return false;
  const std::pair<const char*, const std::shared_ptr<const Dataset>&> all[] = {
      {"train", data.sets.train}, {"valid", data.sets.valid}, {"test", data.sets.test}};
  for (const auto& [name, dataset] : all) {
    if (dataset == nullptr || std::ranges::count(options.evaluate, name) == 0) continue;
    data.evaluations.push_back(SplitOf(session.model, name, dataset, diagnostics));
  }
  if (!train) WarnOfOtherSplit(session, ReadIdentity(kept), diagnostics);
  if (!train && !data.evaluations.empty()) {
    const Split& first = data.evaluations[0];
    data.class_names = ClassNamesOf(*first.dataset, first.inputs);
  }
  return !diagnostics.has_errors();
}

SafetensorsMetadata DataMetadata(const SessionParts& session) {
  const SessionData& data = session.data;
  SafetensorsMetadata metadata = FindingsMetadata(data.findings);
  metadata.merge(IdentityMetadata(data.identity ? *data.identity : IdentityOf(*data.sets.whole)));
  return metadata;
}

Split* SessionData::Find(const std::string& name) {
  const auto found = std::ranges::find(evaluations, name, &Split::name);
  return found == evaluations.end() ? nullptr : &*found;
}

std::vector<std::string> SessionData::Notes() const {
  if (train) return sets.notes;
  std::vector<std::string> notes;
  for (const Split& split : evaluations) {
    std::ranges::move(split.dataset->Notes(), std::back_inserter(notes));
  }
  return notes;
}

}  // namespace cgrun
