// Entry points and host memory of a run.
#include "src/fit/run_shape.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "src/base/allocation_counter.h"
#include "src/base/json_text.h"
#include "src/data/sampler.h"
#include "src/fit/child_process.h"
#include "src/fit/predict_memory.h"
#include "src/fit/run_memory_json.h"
#include "src/model/model_file.h"
#include "src/model_data/data_findings.h"
#include "src/model_data/model_data.h"
#include "src/model_data/sample_order.h"
#include "src/ops/initializers.h"
#include "src/program/code.h"
#include "src/run/accumulation.h"
#include "src/run/checkpoint.h"
#include "src/run/data_source.h"
#include "src/run/pass_samples.h"
#include "src/run/rate_schedule.h"
#include "src/run/weights.h"

namespace cgrun {

std::vector<EntryRequest> TrainingEntries(int64_t batch, const std::vector<int64_t>& train_sizes,
                                          const std::vector<int64_t>& evaluation_sizes,
                                          int64_t accumulate) {
  std::vector<EntryRequest> requests;
  const auto add = [&](const std::string& name, EntryKind kind, int64_t size) {
    const bool known = std::any_of(requests.begin(), requests.end(), [&](const EntryRequest& r) {
      return r.kind == kind && r.batch == size;
    });
    if (size > 0 && !known) requests.push_back({name, kind, size});
  };
  const auto add_all = [&](EntryKind kind, const std::vector<int64_t>& sizes) {
    const std::string name(Name(kind));
    for (int64_t size : sizes) {
      if (size >= batch) add(name, kind, batch);
    }
    for (int64_t size : sizes) add(name + "." + std::to_string(size % batch), kind, size % batch);
  };
  add_all(EntryKind::kTrain, train_sizes);
  for (int64_t size : train_sizes) {
    if (accumulate > 1 && size > batch) add("accumulate", EntryKind::kAccumulate, batch);
  }
  add_all(EntryKind::kEval, evaluation_sizes);
  return requests;
}

std::vector<EntryRequest> GroupEntries(int64_t batch, const GroupTable& groups,
                                       int64_t accumulate) {
  std::vector<int64_t> evaluation_sizes = groups.valid_sizes();
  evaluation_sizes.insert(evaluation_sizes.end(), groups.test_sizes().begin(),
                          groups.test_sizes().end());
  return TrainingEntries(batch, groups.train_sizes(), evaluation_sizes, accumulate);
}

int64_t GroupWeightsBytes(const std::vector<ImageState>& states, const GroupTable* groups) {
  if (groups == nullptr) return 0;
  int64_t of_model = 0;
  for (const ImageState& state : states) {
    if (!IsRunState(state.role)) of_model += ByteSize(state.type);
  }
  const int64_t copies = groups->valid_sizes().empty() ? 1 : 2;
  return copies * groups->count() * of_model;
}

int64_t GroupBytes(const std::vector<ImageState>& states, const GroupTable* groups) {
  constexpr int64_t kResult = 1536;  // of three sets with a few metrics, as JSON and as CSV too
  if (groups == nullptr) return 0;
  int64_t begin = 0;
  for (const ImageState& state : states) begin += ByteSize(state.type);
  return GroupWeightsBytes(states, groups) + begin + kResult * groups->count();
}

namespace {

// Returns why data is left out of the plan, or "" if it is not.
std::string NoteOf(const ModelData& data) {
  if (!data.missing.empty()) return "without the samples themselves: " + data.missing[0];
  return data.train == nullptr ? "the model names no data" : "";
}

void CheckLength(const ModelSpec& model, const std::vector<PathSchedule>& schedules,
                 int64_t samples, Diagnostics& diagnostics) {
  const int64_t batch = model.train->batch.value.size;
  const Accumulation accumulation(model.train->accumulate.value, samples, batch,
                                  BatchCount(samples, batch));
  const auto steps = TotalSteps(model, accumulation.steps_per_epoch(), diagnostics);
  if (steps) WarnOfLongWarmups(schedules, accumulation.steps_per_epoch(), *steps, diagnostics);
}

}  // namespace

bool PredictsAlone(const ModelSpec& model) {
  return std::ranges::all_of(model.paths, [](const PathSpec& path) {
    return path.losses.empty() && path.metrics.empty();
  });
}

RunShape ShapeOfRun(const ModelSpec& model, Diagnostics& diagnostics) {
  const auto schedules = ReadRateSchedules(model, diagnostics);
  ModelData data = OpenModelData(model, diagnostics, MissingFiles::kAreListed);
  if (!PredictsAlone(model)) CheckOrder(model, data, diagnostics);
  if (diagnostics.has_errors()) return ShapeOfRun(model, ModelData());
  if (data.train != nullptr) WarnOfLargeBatch(model, *data.train, diagnostics);
  if (data.train != nullptr && model.train && schedules) {
    CheckLength(model, *schedules, data.train->size(), diagnostics);
  }
  return ShapeOfRun(model, std::move(data));
}

RunShape ShapeOfRun(const ModelSpec& model, ModelData data) {
  const int64_t batch = model.train ? model.train->batch.value.size : 1;
  const int64_t accumulate = model.train ? model.train->accumulate.value : 1;
  RunShape shape;
  shape.host.batch = batch;
  if (PredictsAlone(model)) {
    shape.data_note = "predictions read samples as they go";
    shape.entries = {{std::string(Name(EntryKind::kPredict)), EntryKind::kPredict, batch}};
    return shape;
  }
  shape.data_note = NoteOf(data);
  shape.data = std::move(data);
  if (!shape.data_note.empty()) {
    shape.entries = TrainingEntries(batch, {2 * batch}, {batch}, accumulate);
    return shape;
  }
  std::vector<int64_t> evaluation_sizes;
  shape.host.decoded_bytes = shape.data.decoded_bytes;
  shape.host.streamable_bytes = shape.data.streamable_bytes;
  for (const auto& set : {shape.data.train, shape.data.valid, shape.data.test}) {
    if (set == nullptr) continue;
    shape.host.sets.push_back(set.get());
    if (set != shape.data.train) evaluation_sizes.push_back(set->size());
  }
  if (ShufflesSamples(model)) shape.host.shuffled = shape.data.train.get();
  shape.host.kept_bytes = CheckpointBytes(FindingsOf(*shape.data.train));
  shape.entries = shape.data.groups != nullptr ? GroupEntries(batch, *shape.data.groups, accumulate)
                                               : TrainingEntries(batch, {shape.data.train->size()},
                                                                 evaluation_sizes, accumulate);
  return shape;
}

HostUse HostUseOf(const HostParts& parts) {
  HostUse use;
  use.decoded = parts.decoded_bytes;
  use.kept = parts.kept_bytes;
  for (const Dataset* set : parts.sets) {
    use.loaders += DataSource::HostBytes(*set, parts.batch, set == parts.shuffled);
  }
  use.states = parts.state_copy + (parts.saves ? CheckpointWriter::kBufferBytes : 0);
  use.streamable = parts.streamable_bytes;
  return use;
}

int64_t StateCopyBytes(const std::vector<ImageState>& states, std::string_view device) {
  const bool on_host = KindOfDevice(device).on_host;
  int64_t most = 0;
  for (const ImageState& state : states) {
    const int64_t copy = ReadsInPlace(state, on_host) ? 0 : ByteSize(state.type);
    most = std::max(most, copy + InitialValueBytes(state.type, state.info));
  }
  return most;
}

bool CallsOneDnn(const ProgramImage& image, const KernelLibrary& library) {
  const auto calls = [&](const ImageInstruction& instruction) {
    return library.TraitsOf(instruction.kernel).calls_onednn;
  };
  return std::ranges::any_of(image.entries, [&](const ImageEntry& entry) {
    return std::ranges::any_of(entry.instructions, calls);
  });
}

std::string SwapFolderOf(const ModelSpec& model) {
  if (!model.train || !model.train->swap) return "";
  if (model.train->swap->value == kSwapToHost) return std::string(kSwapToHost);
  return ResolvePath(model.file_name, model.train->swap->value);
}

RunMemory MeasureRun(CompiledModel& compiled, const RunShape& shape, const KernelLibrary& library,
                     Device& device) {
  HostParts parts = shape.host;
  const int64_t metrics = compiled.entries.empty() ? 0 : SampleMetrics(compiled.entries[0].graph);
  parts.kept_bytes += PassSampleBytes(metrics, parts.sets, shape.data.train.get());
  for (const CompiledEntry& entry : compiled.entries) {
    for (const Output& output : entry.graph.outputs) {
      if (output.kind != OutputKind::kKept) continue;
      parts.kept_bytes += ByteSize(entry.graph.values[output.value].type);
    }
  }
  compiled.entries.clear();
  parts.saves = shape.entries[0].kind != EntryKind::kPredict;
  if (!parts.saves) {  // a batch as its files hold it, as the program takes it, and what it gives
    const ImageEntry& predict = compiled.image.entries[0];
    parts.kept_bytes += 2 * FeedBytes(predict) + ResultBytes(predict);
  }
  parts.state_copy = StateCopyBytes(compiled.image.states, library.name());
  parts.kept_bytes += GroupBytes(compiled.image.states, shape.data.groups.get());
  for (const ImageState& state : compiled.image.states) {
    const int64_t bytes = ByteSize(state.type);
    if (state.role == Role::kRecurrentState) parts.kept_bytes += bytes;  // their zeros
  }
  RunMemory memory;
  memory.arena = compiled.layout.arena_bytes;
  memory.on_host = KindOfDevice(library.name()).on_host;
  memory.parts = HostUseOf(parts);
  memory.data = memory.parts.total();
  ReleaseFreeMemory();                               // as a session does
  const Code code(compiled.image, device, library);  // holds the memory of a run, but for the arena
  const int64_t workers = LoaderOptions().workers;
  // A swap file has a thread, too.
  const int64_t transfers = memory.on_host && compiled.layout.file_bytes > 0 ? 1 : 0;
  const int64_t threads = std::ssize(parts.sets) * workers + transfers;
  memory.start = std::max(PlannedStart(), shape.data.opening_bytes);
  memory.base = PlannedBase(shape.data.decoded_bytes, threads, CallsOneDnn(compiled.image, library),
                            &memory.base_room);
  memory.beside = MeasureFootprint(memory, threads);
  return memory;
}

RunMemory MemoryOfRun(CompiledModel& compiled, const RunShape& shape,
                      const KernelLibrary& library) {
  const auto measure = [&](CompiledModel& model) {
    const std::unique_ptr<Device> device = OpenDevice(library.name());
    return MeasureRun(model, shape, library, *device);
  };
  const auto text = InChild(KindOfDevice(library.name()).on_host,
                            [&] { return JsonText(nlohmann::json(measure(compiled))); });
  if (text) return ParseJson(*text).get<RunMemory>();
  CompiledModel copy = compiled;
  return measure(copy);
}

std::optional<int64_t> TotalSteps(const ModelSpec& model, int64_t steps_per_epoch,
                                  Diagnostics& diagnostics) {
  const TrainSpec& train = *model.train;
  if (train.steps) return train.steps->value;
  if (train.seconds) return 0;
  const int64_t epochs = train.epochs ? train.epochs->value : 1;
  int64_t steps = 0;
  if (!__builtin_mul_overflow(steps_per_epoch, epochs, &steps)) return steps;
  diagnostics.Error(train.epochs->mark,
                    std::to_string(epochs) + " epochs of " + std::to_string(steps_per_epoch) +
                        " steps are more steps than 64 bits count",
                    "`time: 2h` ends a run by the clock");
  return std::nullopt;
}

}  // namespace cgrun
