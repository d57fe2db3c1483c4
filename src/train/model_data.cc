// Opening data sets, matching their fields with inputs, rings of their own mapping.
#include "src/train/model_data.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>

#include "src/data/sampler.h"

namespace cgrun {
namespace {

std::vector<DataField> WantedFields(const ModelSpec& model) {
  std::vector<DataField> fields;
  for (const InputSpec& input : model.inputs) {
    fields.push_back({input.name.value, input.type.value, input.shape.value});
  }
  return fields;
}

std::shared_ptr<const Dataset> OpenSet(const ModelSpec& model, const DataSpec& spec,
                                       Diagnostics& diagnostics) {
  DataOptions options;
  options.mark = spec.mark;
  options.folder = std::filesystem::path(model.file_name).parent_path().string();
  options.fields = WantedFields(model);
  bool plain = true;
  for (const Attribute& option : spec.options) {
    if (!option.value.IsScalar()) {
      diagnostics.Error(option.value.mark,
                        "'" + option.key + "' must be one value, not " + Describe(option.value));
      plain = false;
    }
    options.values[option.key] = {option.value.scalar, option.value.mark, option.key_mark};
  }
  if (!plain) return nullptr;
  return OpenDataset({spec.format->value, spec.format->mark}, options, diagnostics);
}

const InputSpec* FindInput(const ModelSpec& model, const std::string& name) {
  for (const InputSpec& input : model.inputs) {
    if (input.name.value == name) return &input;
  }
  return nullptr;
}

std::string TypeText(DType dtype, const Shape& shape) {
  return std::string(Name(dtype)) + shape.ToString();
}

}  // namespace

ModelData OpenModelData(const ModelSpec& model, Diagnostics& diagnostics) {
  ModelData data;
  if (!model.data) return data;
  const auto open = [&](const std::optional<DataSpec>& spec) -> std::shared_ptr<const Dataset> {
    if (!spec || !spec->format) return nullptr;
    std::shared_ptr<const Dataset> set = OpenSet(model, *spec, diagnostics);
    if (set) data.decoded_bytes += set->decoded_bytes();
    if (set) MatchInputs(model, *set, spec->format->mark, diagnostics);
    return set;
  };
  data.train = open(model.data->train);
  data.valid = open(model.data->valid);
  data.test = open(model.data->test);
  const auto& valid = model.data->valid;
  if (data.train && valid && valid->split) {
    const uint64_t seed = model.train ? static_cast<uint64_t>(model.train->seed.value) : 0;
    try {
      DatasetSplit split = SplitDataset(data.train, valid->split->value, seed);
      data.decoded_bytes += split.train->decoded_bytes() + split.valid->decoded_bytes();
      data.train = std::move(split.train);
      data.valid = std::move(split.valid);
    } catch (const UserError& error) {
      diagnostics.Error(valid->split->mark, error.what(), error.help());
    }
  }
  return data;
}

std::vector<std::string> MatchInputs(const ModelSpec& model, const Dataset& dataset,
                                     const SourceMark& mark, Diagnostics& diagnostics) {
  const std::vector<DataField>& fields = dataset.fields();
  const bool by_name = std::all_of(fields.begin(), fields.end(), [&](const DataField& field) {
    return FindInput(model, field.name) != nullptr;
  });
  if (!by_name && fields.size() != model.inputs.size()) {
    std::string names;
    for (const DataField& field : fields) names += (names.empty() ? "" : ", ") + field.name;
    diagnostics.Error(mark,
                      "the data has " + std::to_string(fields.size()) + " fields (" + names +
                          ") and the model " + std::to_string(model.inputs.size()) + " inputs",
                      "name the inputs as the fields, or give as many in the same order");
    return {};
  }
  for (const InputSpec& input : model.inputs) {
    const auto feeds = [&](const DataField& field) { return field.name == input.name.value; };
    if (!by_name || std::any_of(fields.begin(), fields.end(), feeds)) continue;
    diagnostics.Error(input.mark, "no field of the data feeds input '" + input.name.value + "'",
                      "idx data have 'image', and 'label' where `labels:` is given");
    return {};
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < fields.size(); ++i) {
    const InputSpec& input = by_name ? *FindInput(model, fields[i].name) : model.inputs[i];
    const bool same_size = input.shape.value.Elements() == fields[i].shape.Elements();
    if (input.type.value != fields[i].dtype || !same_size) {
      diagnostics.Error(input.mark,
                        "input '" + input.name.value + "' is " +
                            TypeText(input.type.value, input.shape.value) + ", but the data's '" +
                            fields[i].name + "' is " + TypeText(fields[i].dtype, fields[i].shape),
                        "write `" + input.name.value +
                            ": {type: " + std::string(Name(fields[i].dtype)) +
                            ", shape: " + fields[i].shape.ToString() + "}`");
      return {};
    }
    names.push_back(input.name.value);
  }
  return names;
}

void DataSource::Unmap::operator()(std::byte* memory) const {
  munmap(memory, static_cast<size_t>(bytes));
}

int64_t DataSource::RingBytes(const Dataset& dataset, int64_t batch, int slots) {
  return Loader::RingBytes(dataset.fields(), std::min(batch, dataset.size()), slots);
}

int64_t DataSource::HostBytes(const Dataset& dataset, int64_t batch) {
  const int64_t order = dataset.size() * static_cast<int64_t>(sizeof(int64_t));
  return RingBytes(dataset, batch, LoaderOptions().slots) + order;
}

DataSource::DataSource(const Dataset& dataset, const LoaderOptions& options) {
  const int64_t bytes = RingBytes(dataset, options.batch, options.slots);
  void* memory = mmap(nullptr, static_cast<size_t>(std::max<int64_t>(1, bytes)),
                      PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw UserError("cannot take " + std::to_string(bytes) + " bytes for the loader",
                    "a smaller batch needs less");
  }
  ring_ = std::unique_ptr<std::byte, Unmap>(static_cast<std::byte*>(memory), Unmap{bytes});
  std::memset(memory, 0, static_cast<size_t>(bytes));  // touched before the first step
  LoaderOptions fitting = options;
  fitting.batch = std::min(options.batch, dataset.size());
  loader_ = std::make_unique<Loader>(dataset, fitting,
                                     std::span<std::byte>(ring_.get(), static_cast<size_t>(bytes)));
}

}  // namespace cgrun
