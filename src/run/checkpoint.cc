// Checkpoints: two tensors more than weights have.
#include "src/run/checkpoint.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iterator>

#include "src/base/check.h"
#include "src/base/finite.h"
#include "src/io/file_error.h"
#include "src/model/model_file.h"
#include "src/run/weights.h"
#include "src/torch/torch_file.h"

namespace cgrun {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRunTensors = "cgrun:";  // no name of a model holds a colon
constexpr char kCounters[] = "cgrun:counters";
constexpr char kNumbers[] = "cgrun:numbers";
constexpr size_t kCounterCount = sizeof(RunCounters) / sizeof(int64_t);
constexpr char kStepKey[] = "step", kEpochKey[] = "epoch";  // of the metadata
constexpr int kDigits = 12;                                 // of these two
constexpr size_t kChecksumDigits = 16;
constexpr size_t kNameRoom = 64;  // characters of a file's name
constexpr size_t kKept = 3;       // checkpoints, where nobody says how many
constexpr std::string_view kPrefix = "checkpoint-", kEnding = ".safetensors";

RunCounters CountersOf(const RunState& state) {
  return {state.step,
          state.epoch,
          state.batch,
          state.samples,
          state.kept.evaluations_since,
          state.stopping.evaluations_since};
}

size_t NumberCount(const RunState& shape) {
  return 3 + shape.totals.size() + shape.schedules.size();
}

// Fills `numbers`, which has room.
void PackNumbers(const RunState& state, std::vector<double>& numbers) {
  auto to = numbers.begin();
  *to++ = state.kept.value;
  *to++ = state.stopping.value;
  *to++ = state.seconds;
  to = std::copy(state.totals.begin(), state.totals.end(), to);
  std::copy(state.schedules.begin(), state.schedules.end(), to);
}

RunState Unpack(const RunCounters& counters, std::span<const double> numbers, RunState state) {
  auto from = numbers.begin();
  state.step = counters.step;
  state.epoch = counters.epoch;
  state.batch = counters.batch;
  state.samples = counters.samples;
  state.kept = {*from++, counters.kept_evaluations_since};
  state.stopping = {*from++, counters.stopping_evaluations_since};
  state.seconds = *from++;
  for (double& total : state.totals) total = *from++;
  for (double& number : state.schedules) number = *from++;
  return state;
}

std::vector<TensorSpec> SpecsOf(const Engine& engine, const RunState& shape) {
  std::vector<TensorSpec> specs;
  for (const EngineState& state : engine.model().states) {
    if (IsOwnState(state.name)) continue;
    specs.push_back({state.name, state.type.dtype, state.type.shape});
  }
  const auto size = [](size_t n) { return Shape{static_cast<int64_t>(n)}; };
  specs.push_back({kCounters, DType::kI64, size(kCounterCount)});
  specs.push_back({kNumbers, DType::kF64, size(NumberCount(shape))});
  return specs;
}

// Writes a number into text that has room for it: digits with leading zeros.
void SetNumber(std::string& text, int64_t number) {
  std::snprintf(text.data(), text.size() + 1, "%0*lld", static_cast<int>(text.size()),
                static_cast<long long>(number));
}

// Returns the bytes that the metadata may take as JSON, in which a character may take six.
size_t RoomFor(const SafetensorsMetadata& metadata) {
  size_t room = 4096;
  for (const auto& [key, text] : metadata) room += 6 * (key.size() + text.size()) + 16;
  return room;
}

[[noreturn]] void RefuseOtherModel(const std::string& path, const std::string& what) {
  throw InputError(path + " is not a checkpoint of this run's model:" + what,
                   "a run is resumed with the model file that it was started with");
}

void CheckFits(const WeightsReport& report, const std::string& path) {
  std::string wrong;
  for (const std::string& name : report.missing) wrong += "\n      " + name + ": not in the file";
  for (const std::string& name : report.missing_run_state) {
    wrong += "\n      " + name + ": not in the file";
  }
  for (const std::string& name : report.mismatched) wrong += "\n      " + name;
  for (const std::string& name : report.unused) wrong += "\n      " + name + ": not in the model";
  if (!wrong.empty()) RefuseOtherModel(path, wrong);
}

// Reads the step from the name of a checkpoint file. The result is empty if no checkpoint has such
// a name.
std::optional<int64_t> StepOf(std::string_view file_name) {
  if (!file_name.starts_with(kPrefix) || !file_name.ends_with(kEnding)) return std::nullopt;
  file_name.remove_prefix(kPrefix.size());
  file_name.remove_suffix(kEnding.size());
  int64_t step = 0;
  const char* last = file_name.data() + file_name.size();
  const auto [end, error] = std::from_chars(file_name.data(), last, step);
  if (error != std::errc() || end != last || step < 0) return std::nullopt;
  return step;
}

bool AreCounters(const TensorSpec& tensor) {
  return tensor.name == kCounters && tensor.dtype == DType::kI64 &&
         tensor.shape == Shape{static_cast<int64_t>(kCounterCount)};
}

RunCounters CountersIn(const HostTensor& tensor) {
  RunCounters counters;
  std::ranges::copy(tensor.bytes(), std::as_writable_bytes(std::span(&counters, 1)).begin());
  return counters;
}

[[noreturn]] void RefuseCounters(const std::string& path, const std::string& what) {
  ThrowFileError(path, "is damaged: " + what);
}

// The metadata say again what the counters do.
void CheckMetadata(const std::string& path, const SafetensorsMetadata& metadata,
                   const std::string& key, int64_t counted) {
  const auto found = metadata.find(key);
  if (found == metadata.end()) return;
  std::string text(kDigits, '0');
  SetNumber(text, counted);
  if (found->second == text) return;
  RefuseCounters(path, "it counts " + std::to_string(counted) + " as its " + key +
                           ", and its metadata say '" + found->second + "'");
}

// Throws UserError where no run comes to such a place, or not in a file of this name.
void CheckCounters(const std::string& path, const SafetensorsMetadata& metadata,
                   const RunCounters& counters) {
  for (const int64_t count :
       {counters.step, counters.epoch, counters.batch, counters.samples,
        counters.kept_evaluations_since, counters.stopping_evaluations_since}) {
    if (count < 0) RefuseCounters(path, "it counts fewer than no steps, batches or samples");
  }
  const std::optional<int64_t> of_name = StepOf(fs::path(path).filename().string());
  if (of_name && *of_name != counters.step) {
    RefuseCounters(path, "it is of step " + std::to_string(counters.step));
  }
  if (counters.epoch > counters.step - (counters.batch > 0) ||
      (counters.batch > 0) != (counters.samples > 0)) {
    RefuseCounters(path, "no run has done " + CountText(counters.epoch, "epoch") + ", " +
                             CountText(counters.batch, "batch", "batches") + " and " +
                             CountText(counters.samples, "sample") + " of the next in " +
                             CountText(counters.step, "step"));
  }
  CheckMetadata(path, metadata, kStepKey, counters.step);
  CheckMetadata(path, metadata, kEpochKey, counters.epoch);
}

// Reads the whole file. If it is damaged, adds its fault to `damaged`.
bool IsWhole(const std::string& path, std::vector<std::string>& damaged) {
  try {
    SafetensorsReader reader(path);
    for (const TensorSpec& tensor : reader.tensors()) {
      if (AreCounters(tensor)) {
        CheckCounters(path, reader.metadata(), CountersIn(reader.Read()));
      } else {
        reader.Skip();
      }
    }
    return true;
  } catch (const UserError& error) {
    damaged.emplace_back(error.what());
    return false;
  }
}

}  // namespace

bool BestSoFar::Take(double another, bool higher_is_better) {
  const bool better = higher_is_better ? another > value : another < value;
  if (std::isnan(another) || !(std::isnan(value) || better)) {
    ++evaluations_since;
    return false;
  }
  *this = {another, 0};
  return true;
}

// Gives the tensors of SpecsOf() in their order: states, counters, numbers.
class CheckpointWriter::Source final : public TensorSource {
 public:
  explicit Source(CheckpointWriter& writer) : writer_(writer) {}
  std::span<const std::byte> BytesOf(size_t index) override {
    const size_t states = writer_.states_.size();
    if (index < states) return writer_.StateBytes(writer_.states_[index]);
    return index == states ? std::as_bytes(std::span(&writer_.counters_, 1))
                           : std::as_bytes(std::span(writer_.numbers_));
  }

 private:
  CheckpointWriter& writer_;
};

CheckpointWriter::CheckpointWriter(const Engine& engine, const RunState& shape,
                                   const SafetensorsMetadata& metadata, bool writes)
    : engine_(engine), copy_(engine.LargestCopiedState()), numbers_(NumberCount(shape)) {
  if (writes) writer_.emplace(SpecsOf(engine, shape), RoomFor(metadata));
  const std::vector<EngineState>& states = engine.model().states;
  for (size_t i = 0; i < states.size(); ++i) {
    if (!IsOwnState(states[i].name)) states_.push_back(i);
  }
  metadata_ = metadata;
  metadata_.insert({{"format", "cgrun"},
                    {"model", engine.model().name},
                    {kStepKey, std::string(kDigits, '0')},
                    {kEpochKey, std::string(kDigits, '0')},
                    {kChecksumKey, std::string(kChecksumDigits, '0')}});
}

// The bytes are valid until the next call.
std::span<const std::byte> CheckpointWriter::StateBytes(size_t state) {
  const std::span<const std::byte> in_place = engine_.StateInPlace(state);
  if (!in_place.empty()) return in_place;
  const std::span<std::byte> copy =
      std::span(copy_).first(static_cast<size_t>(ByteSize(engine_.model().states[state].type)));
  engine_.ReadState(state, copy);
  return copy;
}

bool CheckpointWriter::IsFinite() {
  return std::ranges::all_of(states_, [&](size_t state) {
    return IsSound(engine_.model().states[state], StateBytes(state));
  });
}

void CheckpointWriter::Write(std::string_view path, const RunState& state) {
  counters_ = CountersOf(state);
  PackNumbers(state, numbers_);
  SetNumber(metadata_[kStepKey], state.step);
  SetNumber(metadata_[kEpochKey], state.epoch);
  Source source(*this);
  CGRUN_CHECK(writer_.has_value()) << "a checkpoint without a file";
  writer_->WriteWithChecksum(path, source, metadata_);
}

bool IsRunTensor(std::string_view name) { return name.starts_with(kRunTensors); }

RunState LoadCheckpoint(Engine& engine, const std::string& path, RunState shape) {
  CheckFits(LoadWeights(engine, path, WeightsScope::kRun), path);
  SafetensorsReader reader(path);
  std::optional<RunCounters> counters;
  std::optional<HostTensor> numbers;
  for (const TensorSpec& tensor : reader.tensors()) {
    if (AreCounters(tensor)) {
      counters = CountersIn(reader.Read());
    } else if (tensor.name == kNumbers && tensor.dtype == DType::kF64) {
      numbers = reader.Read();
    } else {
      reader.Skip();
    }
  }
  if (!counters && !numbers) {
    throw UserError(path + " holds weights, but no state of a run",
                    "--weights starts a new run from them");
  }
  if (!counters || !numbers || numbers->data<double>().size() != NumberCount(shape)) {
    RefuseOtherModel(path, "\n      it has other losses, metrics or schedules");
  }
  CheckCounters(path, reader.metadata(), *counters);
  return Unpack(*counters, numbers->data<double>(), std::move(shape));
}

std::optional<WeightsPlace> PlaceOfWeights(const std::string& path) {
  if (torch::BeginsAsTorchFile(path)) return std::nullopt;
  SafetensorsReader reader(path);
  for (const TensorSpec& tensor : reader.tensors()) {
    if (AreCounters(tensor)) {
      const RunCounters counters = CountersIn(reader.Read());
      return WeightsPlace{counters.step, counters.epoch + (counters.batch > 0)};
    }
    reader.Skip();
  }
  return std::nullopt;
}

CheckpointFolder::CheckpointFolder(const std::string& folder, int64_t keep, int64_t step)
    : keep_(keep > 0 ? static_cast<size_t>(keep) : kKept),
      keep_first_(keep == 0),
      path_(folder + "/") {
  folder_size_ = path_.size();
  path_.reserve(path_.size() + kNameRoom);
  for (const CheckpointFile& file : CheckpointsIn(folder)) {
    if (file.step <= step) steps_.push_back(file.step);
  }
  steps_.reserve(std::max(steps_.size(), keep_) + 2);
}

const std::string& CheckpointFolder::PathOf(int64_t step) {
  char digits[24];
  path_.resize(folder_size_);
  path_ += kPrefix;
  path_.append(digits, std::to_chars(digits, std::end(digits), step).ptr);
  path_ += kEnding;
  return path_;
}

void CheckpointFolder::Keep(int64_t step) {
  if (keep_first_ && step == 0) return;
  std::erase(steps_, step);
  if (steps_.size() == steps_.capacity()) steps_.erase(steps_.begin());
  steps_.push_back(step);
  while (steps_.size() > keep_) {
    if (!(keep_first_ && steps_.front() == 0)) unlink(PathOf(steps_.front()).c_str());
    steps_.erase(steps_.begin());
  }
}

std::vector<CheckpointFile> CheckpointsIn(const std::string& folder) {
  std::vector<CheckpointFile> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const auto step = StepOf(entry.path().filename().string());
    if (step) files.push_back({*step, entry.path().string()});
  }
  std::sort(files.begin(), files.end(),
            [](const CheckpointFile& a, const CheckpointFile& b) { return a.step < b.step; });
  return files;
}

std::string NewestCheckpoint(const std::string& folder, std::vector<std::string>& damaged) {
  std::error_code error;
  const fs::directory_iterator readable(folder, error);
  if (error) ThrowSystemError("read the folder", folder, error.value());
  const std::vector<CheckpointFile> files = CheckpointsIn(folder);
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    if (IsWhole(file->path, damaged)) return file->path;
  }
  // Files that may not be opened are not known to be damaged.
  for (const CheckpointFile& file : files) {
    if (access(file.path.c_str(), R_OK) != 0) ThrowSystemError("read", file.path, errno);
  }
  throw InputError("there is no whole checkpoint in the folder '" + folder + "'",
                   damaged.empty() ? "a run folder holds `checkpoint-STEP.safetensors`"
                                   : "what is there is damaged: " + damaged.front());
}

std::string NewestWeights(const std::string& file_or_folder, std::vector<std::string>& damaged) {
  std::error_code error;
  if (!fs::is_directory(file_or_folder, error)) return file_or_folder;
  return NewestCheckpoint(file_or_folder, damaged);
}

std::string NewestWeightsOf(const ModelSpec& model, Diagnostics& diagnostics) {
  if (!model.weights) return "";
  const std::string path = ResolvePath(model.file_name, model.weights->value);
  CheckPathInModel(path);
  std::vector<std::string> damaged;
  std::string file = NewestWeights(path, damaged);
  for (const std::string& what : damaged) {
    diagnostics.Warning(model.weights->mark, what + "; " + file + " is taken instead");
  }
  return file;
}

std::string BestWeights(const std::string& file_or_folder, std::vector<std::string>& damaged) {
  std::error_code error;
  if (!fs::is_directory(file_or_folder, error)) return file_or_folder;
  const std::string best = file_or_folder + "/" + kBestFileName;
  if (fs::exists(best, error) && IsWhole(best, damaged)) return best;
  return NewestCheckpoint(file_or_folder, damaged);
}

}  // namespace cgrun
