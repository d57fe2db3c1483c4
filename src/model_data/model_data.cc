// Opening data sets, matching their fields with inputs.
#include "src/model_data/model_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <ranges>
#include <set>

#include "src/data/field_values.h"
#include "src/data/options.h"
#include "src/data/sampler.h"
#include "src/data/streams.h"
#include "src/device/device.h"
#include "src/frontend/frontend.h"
#include "src/io/file_error.h"
#include "src/model/model_file.h"
#include "src/model_data/data_room.h"
#include "src/model_data/group_table.h"
#include "src/model_data/missing_files.h"
#include "src/model_data/open_set.h"
#include "src/model_data/sample_shape.h"
#include "src/model_data/stream_folder.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

// Returns whether an option names files, if under a name that other programs give it: `root`. If
// the format does not have the option, nothing is known.
bool NamesPath(const std::string& format, const std::string& key) {
  std::vector<std::string> names = {"file", "folder", "labels", "masks"};
  for (const DataFormat* known : DataFormats()) {
    if (known->name != format || format == "npy") continue;
    names.clear();
    for (const DataOptionSpec& option : known->options) names.emplace_back(option.name);
    return IsPathOption(format, OurName(key, names, DataOptionSynonyms()));
  }
  const std::string ours = OurName(key, names, DataOptionSynonyms());
  return IsPathOption(format, key) || IsPathOption(format, ours);
}

// The files and folders that the options of a set name and that are not there.
std::vector<MissingFile> FindMissing(const ModelSpec& model, const DataSpec& spec) {
  std::vector<MissingFile> missing;
  const auto look_for = [&](const TreeNode& name) {
    if (!name.IsScalar()) return;
    const std::string path = ResolvePath(model.file_name, name.scalar);
    std::error_code error;
    const bool there = fs::exists(path, error);
    if (!there && !error) missing.push_back({path, name.mark});
  };
  for (const Attribute& option : spec.options) {
    if (!NamesPath(spec.format ? spec.format->value : "", option.key)) continue;
    look_for(option.value);
    for (const TreeNode& item : option.value.items) look_for(item);
  }
  return missing;
}

const InputSpec* FindInput(const std::vector<InputSpec>& inputs, const std::string& name) {
  for (const InputSpec& input : inputs) {
    if (input.name.value == name) return &input;
  }
  return nullptr;
}

std::string FieldsText(const std::vector<DataField>& fields) {
  return fmt::format("{}", fmt::join(fields | std::views::transform(&DataField::name), ", "));
}

// Errors of the lines of `update`, which say what inputs no data feed: of a wrong line, all that
// data could be told to lack follows. Returns false after one.
bool CheckUpdates(const ModelSpec& model, Diagnostics& diagnostics) {
  if (model.update.empty()) return true;
  Diagnostics of_graph;
  BuildForward(model, {EntryKind::kEval, PrecisionOf(model)}, of_graph);
  const int errors = diagnostics.error_count();
  for (const Diagnostic& item : of_graph.Sorted()) {
    const bool of_update = std::ranges::any_of(model.update, [&](const StateUpdate& update) {
      return IsSamePlace(item.mark, update.value.mark);
    });
    if (of_update) diagnostics.Error(item.mark, item.message, item.help);
  }
  return diagnostics.error_count() == errors;
}

// The inputs that errors stand at.
std::vector<std::string> FindMisfits(const ModelSpec& model, const Diagnostics& diagnostics) {
  std::vector<std::string> misfits;
  for (const Diagnostic& item : diagnostics.Sorted()) {
    for (const InputSpec& input : model.inputs) {
      const bool here = IsSamePlace(item.mark, input.mark);
      if (here && item.severity == Severity::kError) misfits.push_back(input.name.value);
    }
  }
  return misfits;
}

// If the data name no label but may, says how to name one; else returns "".
std::string NoLabelHelp(const ModelSpec& model) {
  const std::optional<DataSpec>& train = model.data->train;
  if (!train || !train->format) return "";
  const auto format = std::ranges::find(DataFormats(), train->format->value, &DataFormat::name);
  if (format == DataFormats().end() || (*format)->label_option.empty()) return "";
  const bool labelled = std::ranges::any_of(train->options, [&](const Attribute& given) {
    return given.key == (*format)->label_option && !given.value.IsNull();
  });
  return labelled ? "" : std::string((*format)->label_help) + "; ";
}

// The inputs that a model needs for fields that feed none, as they are written.
std::string MissingInputsHelp(const std::vector<InputSpec>& inputs,
                              const std::vector<DataField>& fields) {
  std::string missing;
  for (const DataField& field : fields) {
    if (FindInput(inputs, field.name) != nullptr) continue;
    missing += (missing.empty() ? "`" : ", `") + InputText(field.name, field) + "`";
  }
  const bool some_named = std::ranges::any_of(
      fields, [&](const DataField& field) { return FindInput(inputs, field.name) != nullptr; });
  if (missing.empty() || !some_named || inputs.size() > fields.size()) {
    return "name the inputs as the fields, or give as many in the same order";
  }
  return "`inputs` lacks " + missing;
}

// Reads which rows are whose, where the tables could be opened.
void ReadGroups(const ModelSpec& model, int64_t cap, ModelData& data, Diagnostics& diagnostics) {
  if (!model.data->group_by || data.train == nullptr || !data.missing.empty()) return;
  try {
    data.groups = GroupTable::Read(model, *data.whole,
                                   LeftUnder(model, cap, data.decoded_bytes).bytes, diagnostics);
  } catch (const UserError& error) {
    diagnostics.Error(model.data->group_by->mark, error.what(), error.help());
  }
  if (data.groups == nullptr) return;
  if (data.groups->train_sizes().empty()) {
    const GroupTable& groups = *data.groups;
    diagnostics.Error(model.data->group_by->mark,
                      "no group can be trained, of " + CountText(groups.count(), "group") +
                          "; the first one: " + groups.ProblemOf(0),
                      "each value of the column is a group: is it the column that was meant?");
    return;
  }
  data.decoded_bytes += data.groups->bytes();
  std::ranges::move(data.groups->Notes(), std::back_inserter(data.notes));
}

}  // namespace

ModelData OpenModelData(const ModelSpec& model, Diagnostics& diagnostics, MissingFiles missing,
                        const DataFindings* kept, DataCap cap) {
  ModelData data;
  if (!model.data) return data;
  if (!CheckUpdates(model, diagnostics)) {
    if (missing == MissingFiles::kAreErrors) CheckDataFiles(model, diagnostics);
    return data;
  }
  std::vector<MissingFile> all_missing;
  const std::optional<DataSplit> split = SplitOf(model);
  bool train_failed = false;
  const int64_t bytes = cap == DataCap::kOfRun ? CapOnHost(model) : 0;
  const auto open = [&](const std::optional<DataSpec>& spec) -> std::shared_ptr<const Dataset> {
    if (!spec || !spec->format) return nullptr;
    const int errors = diagnostics.error_count();
    const bool is_train = &spec == &model.data->train;
    const std::vector<MissingFile> files = FindMissing(model, *spec);
    all_missing.insert(all_missing.end(), files.begin(), files.end());
    // An input that does not fit the training data has been told of.
    const Look look = !files.empty()         ? Look::kOptions
                      : !train_failed        ? Look::kAll
                      : data.misfits.empty() ? Look::kFiles
                                             : Look::kOptions;
    const int64_t taken = data.decoded_bytes;
    std::shared_ptr<const Dataset> set =
        OpenSet(model, *spec, look, data.train.get(), is_train ? split : std::nullopt, kept,
                LeftUnder(model, bytes, taken), MostInMemory(model, bytes, taken), diagnostics);
    if (set) CountSet(*set, data);
    if (set) std::ranges::move(set->Notes(), std::back_inserter(data.notes));
    if (set) MatchInputs(model, *set, spec->format->mark, diagnostics);
    if (set) CheckFinite(*set, diagnostics);
    if (diagnostics.error_count() > errors) data.misfits = FindMisfits(model, diagnostics);
    if (is_train) train_failed = !files.empty() || diagnostics.error_count() > errors;
    return set;
  };
  data.train = open(model.data->train);
  data.valid = open(model.data->valid);
  data.test = open(model.data->test);
  for (const MissingFile& file : all_missing) data.missing.push_back(file.Text());
  if (missing == MissingFiles::kAreErrors) ReportMissing(all_missing, model.file_name, diagnostics);
  data.whole = data.train;
  const bool has_errors = train_failed || diagnostics.has_errors();
  if (data.train && split) SplitTrain(model, *split, data, diagnostics);
  WalkInStreams(model, data, diagnostics);
  if (!has_errors) ReadGroups(model, bytes, data, diagnostics);
  return data;
}

ModelSpec WithoutMisfits(ModelSpec model, const ModelData& data) {
  for (InputSpec& input : model.inputs) {
    input.broken = input.broken || std::ranges::count(data.misfits, input.name.value) > 0;
  }
  return model;
}

std::shared_ptr<const Dataset> OpenTrainWhole(const ModelSpec& model, Diagnostics& diagnostics) {
  if (!model.data || !model.data->train || !model.data->train->format) return nullptr;
  const DataSpec& spec = *model.data->train;
  const Look look = FindMissing(model, spec).empty() ? Look::kAll : Look::kOptions;
  return OpenSet(model, spec, look, nullptr, SplitOf(model), nullptr, {FreeHostMemory()}, kNoLimit,
                 diagnostics);
}

void CheckModelData(const ModelSpec& model, Diagnostics& diagnostics) {
  if (!model.data) return;
  for (const auto* spec : {&model.data->train, &model.data->valid, &model.data->test}) {
    if (!*spec || (*spec)->split || !(*spec)->format) continue;
    OpenSet(model, **spec, Look::kOptions, nullptr, std::nullopt, nullptr, {}, kNoLimit,
            diagnostics);
  }
  CheckDataFiles(model, diagnostics);
}

void CheckDataFiles(const ModelSpec& model, Diagnostics& diagnostics) {
  if (!model.data) return;
  std::vector<MissingFile> all_missing;
  for (const auto* spec : {&model.data->train, &model.data->valid, &model.data->test}) {
    if (!*spec || (*spec)->split) continue;
    const std::vector<MissingFile> files = FindMissing(model, **spec);
    all_missing.insert(all_missing.end(), files.begin(), files.end());
  }
  ReportMissing(all_missing, model.file_name, diagnostics);
}

std::vector<std::string> MatchInputs(const ModelSpec& model, const Dataset& dataset,
                                     const SourceMark& mark, Diagnostics& diagnostics) {
  const std::vector<DataField>& fields = dataset.fields();
  const std::vector<InputSpec> inputs = FedInputs(model);
  const bool by_name = std::all_of(fields.begin(), fields.end(), [&](const DataField& field) {
    return FindInput(inputs, field.name) != nullptr;
  });
  if (!by_name && fields.size() != inputs.size()) {
    diagnostics.Error(mark,
                      "the data has " + CountText(static_cast<int64_t>(fields.size()), "field") +
                          " (" + FieldsText(fields) + ") and the model " +
                          CountText(static_cast<int64_t>(inputs.size()), "input"),
                      NoLabelHelp(model) + MissingInputsHelp(inputs, fields));
    return {};
  }
  for (const InputSpec& input : inputs) {
    const auto feeds = [&](const DataField& field) { return field.name == input.name.value; };
    if (!by_name || std::any_of(fields.begin(), fields.end(), feeds)) continue;
    diagnostics.Error(input.mark, "no field of the data feeds input '" + input.name.value + "'",
                      NoLabelHelp(model) + "its fields are " + FieldsText(fields) +
                          "; docs/reference/data.md says which options make them");
    return {};
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < fields.size(); ++i) {
    const InputSpec& input = by_name ? *FindInput(inputs, fields[i].name) : inputs[i];
    const DataField wanted = {input.name.value, input.type.value, input.shape.value};
    const std::vector<int64_t> there = fields[i].shape.Sizes(), sizes = wanted.shape.Sizes();
    const bool fits = ShapesAgree(there, sizes) && !HasChannelsLast(sizes, there);
    if (wanted.dtype != fields[i].dtype || !fits) {
      diagnostics.Error(
          input.mark,
          "input '" + wanted.name + "' is " + TypeText(wanted) + ", but the data's '" +
              fields[i].name + "' is " + TypeText(fields[i]),
          (by_name || i == 0 ? "" : NoLabelHelp(model)) + MisfitHelp(wanted, fields[i]));
      return {};
    }
    names.push_back(input.name.value);
  }
  return names;
}

void WarnOfLargeBatch(const ModelSpec& model, const Dataset& train, Diagnostics& diagnostics) {
  // A default asks for nothing.
  if (!model.train || !model.train->batch.mark.file || model.train->batch.value.automatic) return;
  const int64_t batch = model.train->batch.value.size;
  if (batch <= train.size()) return;
  diagnostics.Warning(
      model.train->batch.mark,
      "a batch of " + std::to_string(batch) +
          " is more than the training data has: " + CountText(train.size(), "sample"),
      "each step takes all of them, and an epoch is one step");
}

}  // namespace cgrun
