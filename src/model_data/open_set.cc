// Options of the model file become options of formats.
#include "src/model_data/open_set.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "src/data/field_values.h"
#include "src/data/sampler.h"
#include "src/data/streams.h"
#include "src/frontend/frontend.h"
#include "src/model_data/stream_folder.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

std::vector<DataField> WantedFields(const ModelSpec& model) {
  std::vector<DataField> fields;
  for (const InputSpec& input : FedInputs(model)) {
    fields.push_back({input.name.value, input.type.value, input.shape.value});
  }
  return fields;
}

// Errors of the values of options, but for those that no such data have: of these that was said.
void ReportValues(const DataSpec& spec, Diagnostics& diagnostics) {
  const std::vector<Diagnostic> reported = diagnostics.Sorted();
  const auto is_unknown = [&](const Attribute& option) {
    return std::ranges::any_of(
        reported, [&](const Diagnostic& item) { return IsSamePlace(item.mark, option.key_mark); });
  };
  for (const Attribute& option : spec.options) {
    if (is_unknown(option)) continue;
    Diagnostics of_option;
    ToDataOption(option, of_option);
    for (const Diagnostic& item : of_option.Sorted()) {
      diagnostics.Error(item.mark, item.message, item.help);
    }
  }
}

// An element of a sample by its index, as NumPy has it: "[2, 0]"; "" of a sample that is a number.
std::string IndexText(const Shape& shape, int64_t element) {
  std::vector<int64_t> index = shape.Sizes();
  for (auto axis = index.rbegin(); axis != index.rend(); ++axis) {
    const int64_t size = *axis;
    *axis = element % size;
    element /= size;
  }
  return index.empty() ? "" : Shape::Of(index).ToString();
}

// Returns the share of the training data that a set asks for, or null.
const Marked<double>* PartOf(const std::optional<DataSpec>& spec) {
  return spec && spec->split ? &*spec->split : nullptr;
}

}  // namespace

std::vector<InputSpec> FedInputs(const ModelSpec& model) {
  std::vector<InputSpec> fed;
  for (const InputSpec& input : model.inputs) {
    if (input.batch.value && !IsCarried(model, input.name.value)) fed.push_back(input);
  }
  return fed;
}

bool IsSamePlace(const SourceMark& a, const SourceMark& b) {
  return a.file != nullptr && a.file == b.file && a.line == b.line && a.column == b.column;
}

DataOption ToDataOption(const Attribute& option, Diagnostics& diagnostics) {
  const TreeNode& value = option.value;
  DataOption result{value.scalar, value.mark, option.key_mark};
  if (value.IsScalar()) return result;
  if (!value.IsSequence() || value.items.empty()) {
    diagnostics.Error(value.mark, "'" + option.key + "' must be one value or a list of them, not " +
                                      (value.IsSequence() ? "an empty list" : Describe(value)));
  }
  for (const TreeNode& item : value.items) {
    result.items.push_back({item.scalar, item.mark});
    if (item.IsScalar()) continue;
    diagnostics.Error(item.mark,
                      "an item of '" + option.key + "' must be one value, not " + Describe(item));
  }
  return result;
}

DataOptions OptionsOfSet(const ModelSpec& model, const DataSpec& spec, Diagnostics& of_values) {
  DataOptions options;
  options.mark = spec.mark;
  options.folder = fs::path(model.file_name).parent_path().string();
  options.fields = WantedFields(model);
  options.may_have_more_fields = model.incomplete;
  for (const InputSpec& input : model.inputs) options.field_marks[input.name.value] = input.mark;
  options.stream_folder = StreamFolder();
  if (model.data->group_by) {
    const auto& [column, mark] = *model.data->group_by;
    options.group_by = DataOption{column, mark};
  }
  for (const Attribute& option : spec.options) {
    if (option.value.IsNull()) continue;  // stands for the default
    const int errors = of_values.error_count();
    DataOption& read = options.values[option.key] = ToDataOption(option, of_values);
    read.reported = of_values.error_count() > errors;
    read.mended = option.value.mended;
  }
  return options;
}

std::shared_ptr<const Dataset> OpenSet(const ModelSpec& model, const DataSpec& spec, Look look,
                                       const Dataset* train, const std::optional<DataSplit>& split,
                                       const DataFindings* kept, const MemoryLeft& left,
                                       int64_t most_in_memory, Diagnostics& diagnostics) {
  Diagnostics of_values;
  DataOptions options = OptionsOfSet(model, spec, of_values);
  options.kept = kept;
  options.split = split;
  options.train = train;
  options.memory_limit = left.bytes;
  options.memory_cap = left.cap;
  options.cap_flag = left.flag;
  options.most_in_memory = most_in_memory;
  const DataOption format = {spec.format->value, spec.format->mark};
  if (look == Look::kAll && !of_values.has_errors()) {
    return OpenDataset(format, options, diagnostics);
  }
  const DataFormat* found = CheckDataset(format, options, diagnostics);
  if (of_values.has_errors()) {
    ReportValues(spec, diagnostics);
    return nullptr;
  }
  if (look == Look::kFiles && found != nullptr && found->check_files != nullptr) {
    found->check_files(options, diagnostics);
  }
  return nullptr;
}

void CheckFinite(const Dataset& dataset, Diagnostics& diagnostics) {
  for (size_t i = 0; i < dataset.fields().size(); ++i) {
    const std::optional<NotFiniteNumbers> bad = FindNotFinite(dataset, i);
    if (!bad) continue;
    const SamplePlace place = dataset.PlaceOf(i, bad->sample, std::nullopt);
    const std::string at = IndexText(dataset.fields()[i].shape, bad->element);
    const int64_t more = bad->samples - 1;
    diagnostics.Error(
        place.mark,
        "'" + place.file + "': sample " + std::to_string(place.sample) + " holds " +
            (bad->nan ? "NaN" : "an infinite number") + (at.empty() ? "" : " at " + at) +
            (more == 0 ? ""
                       : "; and " + CountText(more, "more sample") +
                             (more == 1 ? " has" : " have") + " numbers that are not finite"),
        "nothing can be learned from such a number: leave the sample out, or put another number "
        "in its place, as `numpy.nan_to_num` does");
  }
}

std::optional<DataSplit> SplitOf(const ModelSpec& model) {
  const Marked<double>* valid = PartOf(model.data->valid);
  const Marked<double>* test = PartOf(model.data->test);
  if (valid == nullptr && test == nullptr) return std::nullopt;
  const uint64_t seed = model.train ? static_cast<uint64_t>(model.train->seed.value) : 0;
  return DataSplit{valid == nullptr ? 0.0 : valid->value, seed, test == nullptr ? 0.0 : test->value,
                   model.update.empty() ? SplitOrder::kRandom : SplitOrder::kInOrder};
}

void SplitTrain(const ModelSpec& model, const DataSplit& split, ModelData& data,
                Diagnostics& diagnostics) {
  try {
    DatasetSplit parts =
        SplitDataset(data.train, split.fraction, split.seed, split.test, split.order);
    data.decoded_bytes += parts.train->decoded_bytes();
    data.train = std::move(parts.train);
    const auto take = [&](std::unique_ptr<Subset> part, std::shared_ptr<const Dataset>& to) {
      if (part == nullptr) return;
      data.decoded_bytes += part->decoded_bytes();
      to = std::move(part);
    };
    take(std::move(parts.valid), data.valid);
    take(std::move(parts.test), data.test);
  } catch (const UserError& error) {
    const Marked<double>* valid = PartOf(model.data->valid);
    diagnostics.Error((valid == nullptr ? PartOf(model.data->test) : valid)->mark, error.what(),
                      error.help());
  }
}

void WalkInStreams(const ModelSpec& model, ModelData& data, Diagnostics& diagnostics) {
  if (model.update.empty()) return;
  const int64_t streams = model.train ? model.train->batch.value.size : 1;
  const auto walk = [&](const std::string& name, std::shared_ptr<const Dataset>& set) {
    if (set == nullptr) return;
    if (set->size() >= streams) {
      auto in_streams = std::make_shared<const Streams>(std::move(set), streams);
      if (in_streams->left_out() > 0) data.left_out.emplace_back(name, in_streams->left_out());
      set = std::move(in_streams);
      return;
    }
    const bool given = model.train && model.train->batch.mark.file;
    diagnostics.Error(given ? model.train->batch.mark : model.data->mark,
                      "a batch of " + std::to_string(streams) + " is as many streams, but '" +
                          name + "' has " + CountText(set->size(), "sample"),
                      "with `update` each row of a batch goes on where that of the batch before "
                      "ended: take a smaller `batch`, or more data");
  };
  walk("train", data.train);
  walk("valid", data.valid);
  walk("test", data.test);
}

void CountSet(const Dataset& set, ModelData& data) {
  data.opening_bytes = std::max(data.opening_bytes, data.decoded_bytes + set.opening_bytes());
  data.decoded_bytes += set.decoded_bytes();
  data.streamable_bytes += set.streamable_bytes();
}

}  // namespace cgrun
