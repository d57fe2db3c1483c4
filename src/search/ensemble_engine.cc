#include "src/search/ensemble_engine.h"

#include <algorithm>
#include <set>
#include <utility>

#include "src/base/host_tensor.h"
#include "src/base/written_bytes.h"
#include "src/fit/predict_memory.h"
#include "src/model/model_file.h"
#include "src/run/watched_number.h"
#include "src/run/weights.h"

namespace cgrun {
namespace {

constexpr int64_t kMostJudged = 1024;  // samples of a batch

[[noreturn]] void ThrowFirstError(const Diagnostics& diagnostics) {
  for (const Diagnostic& item : diagnostics.Sorted()) {
    if (item.severity == Severity::kError) throw UserError(item.message, item.help);
  }
  throw UserError("the model cannot be built");
}

// The shape of one of `batch` samples. Throws UserError if the samples have no part of it each.
Shape ShapeOfSample(const EnginePort& port, int64_t batch) {
  const std::vector<int64_t> sizes = port.type.shape.Sizes();
  if (sizes.empty() || sizes[0] != batch) {
    throw UserError("its prediction is not one for each sample");
  }
  return Shape::Of(std::vector<int64_t>(sizes.begin() + 1, sizes.end()));
}

// Takes the memory for the numbers of all samples. Throws UserError if that is too much.
void TakeRoom(MemberNumbers& numbers, const ValidSamples& samples, int64_t most_bytes) {
  int64_t width = 0;
  for (const Shape& shape : numbers.shapes) width += shape.Elements();
  const double bytes = static_cast<double>(samples.size()) * static_cast<double>(width) *
                       static_cast<double>(sizeof(float));
  if (bytes > static_cast<double>(most_bytes)) {
    throw UserError("its predictions of `valid` take " + FormatBytes(static_cast<int64_t>(bytes)) +
                    ", and there is room for " + FormatBytes(most_bytes));
  }
  for (int half = 0; half < 2; ++half) {
    numbers.halves[static_cast<size_t>(half)].reserve(
        static_cast<size_t>(samples.size_of(half) * width));
  }
}

// The feeds of a batch, which is filled up with copies of its last sample.
class BatchFeeds {
 public:
  BatchFeeds(const EngineEntry& entry, ValidSamples& samples) : entry_(entry), samples_(samples) {
    for (const EnginePort& feed : entry.feeds) {
      feeds_.emplace_back(feed.type.dtype, feed.type.shape);
    }
  }

  void Fill(int64_t first, int64_t count, Engine& engine) {
    for (int64_t row = 0; row < entry_.batch; ++row) {
      if (row < count) samples_.Read(first + row);
      for (size_t i = 0; i < feeds_.size(); ++i) Put(i, row);
    }
    for (size_t i = 0; i < feeds_.size(); ++i) {
      engine.Feed(0, static_cast<int>(i), feeds_[i].bytes());
    }
  }

 private:
  void Put(size_t feed, int64_t row) {
    const std::string& name = entry_.feeds[feed].name;
    if (!samples_.has(name)) return;  // a counter, which stays 0
    const std::span<const std::byte> bytes = samples_.BytesOf(name);
    const size_t begin = static_cast<size_t>(row) * bytes.size();
    std::ranges::copy(bytes, feeds_[feed].bytes().subspan(begin, bytes.size()).begin());
  }

  const EngineEntry& entry_;
  ValidSamples& samples_;
  std::vector<HostTensor> feeds_;
};

// Appends the results of the first `count` rows to the halves.
void TakeResults(const Engine& engine, int64_t first, int64_t count, MemberNumbers& numbers) {
  const EngineEntry& entry = engine.model().entries[0];
  std::vector<std::vector<double>> results;
  for (size_t i = 0; i < entry.results.size(); ++i) {
    const EnginePort& port = entry.results[i];
    std::vector<std::byte> bytes(static_cast<size_t>(port.bytes()));
    results.emplace_back(static_cast<size_t>(port.type.shape.Elements()));
    engine.FetchNumbers(0, static_cast<int>(i), bytes, results.back());
  }
  for (int64_t row = 0; row < count; ++row) {
    std::vector<float>& half = numbers.halves[static_cast<size_t>((first + row) % 2)];
    for (size_t i = 0; i < results.size(); ++i) {
      const auto size = static_cast<std::ptrdiff_t>(numbers.shapes[i].Elements());
      const auto begin = results[i].begin() + row * size;
      half.insert(half.end(), begin, begin + size);
    }
  }
}

}  // namespace

ModelSpec ModelOfEnsembleTree(const TreeNode& tree, const std::string& file_name) {
  Diagnostics diagnostics;
  auto model = ParseModel({file_name, ToYaml(tree)}, {}, diagnostics);
  if (!model) ThrowFirstError(diagnostics);
  return std::move(*model);
}

ValidSamples::ValidSamples(const ModelSpec& model, std::shared_ptr<const ModelData> data)
    : data_(std::move(data)) {
  Diagnostics diagnostics;
  const auto inputs = MatchInputs(model, *data_->valid, {}, diagnostics);
  if (diagnostics.has_errors()) ThrowFirstError(diagnostics);
  fields_ = data_->valid->fields();
  for (size_t i = 0; i < fields_.size(); ++i) {
    fields_[i].name = inputs[i];
    bytes_.emplace_back(static_cast<size_t>(fields_[i].bytes()));
  }
}

bool ValidSamples::has(const std::string& input) const {
  return std::ranges::count(fields_, input, &DataField::name) > 0;
}

size_t ValidSamples::IndexOf(const std::string& input) const {
  const auto found = std::ranges::find(fields_, input, &DataField::name);
  if (found == fields_.end()) throw UserError("no field of `valid` feeds '" + input + "'");
  return static_cast<size_t>(found - fields_.begin());
}

void ValidSamples::Read(int64_t sample) {
  const std::vector<std::span<std::byte>> spans(bytes_.begin(), bytes_.end());
  data_->valid->Read(sample, spans);
}

std::span<const std::byte> ValidSamples::BytesOf(const std::string& input) const {
  return bytes_[IndexOf(input)];
}

EnsembleEngine MakePredictingEngine(const ModelSpec& model, const TrialPlace& place) {
  EnsembleEngine made;
  made.device = OpenDevice(place.device);
  made.communicator = std::make_unique<SingleProcess>();
  Diagnostics diagnostics;
  PredictEngine built = BuildPredictEngine(
      model, model.train->batch.value.size, Mode::kGraph, OptionsOf(place, model, {}),
      {*FindKernelLibrary(place.device), *made.device, *made.communicator}, {}, diagnostics);
  if (!built.engine) ThrowFirstError(diagnostics);
  if (place.cap && built.memory.in_steps() > *place.cap) {
    throw UserError("its program takes " + FormatBytes(built.memory.in_steps()) +
                    ", more than the cap of " + FormatBytes(*place.cap));
  }
  made.engine = std::move(built.engine);
  return made;
}

void LoadMember(const MemberModel& member, const std::string& file, Engine& engine) {
  std::vector<RenameRule> rules;
  std::set<std::string> wanted;
  for (const EngineState& state : engine.model().states) {
    const std::string name = NameInMember(member, state.name);
    if (name.empty()) continue;
    rules.push_back({{name, {}}, MarkedText{state.name, {}}});
    wanted.insert(state.name);
  }
  const WeightsReport report = LoadWeights(engine, file, WeightsScope::kModel, rules);
  for (const std::string& name : report.loaded) wanted.erase(name);
  if (wanted.empty()) return;
  throw UserError(file + " lacks '" + NameInMember(member, *wanted.begin()) + "'");
}

MemberNumbers RunMember(const MemberModel& member, const std::string& weights,
                        ValidSamples& samples, const TrialPlace& place, int64_t most_bytes,
                        const RunSignals& signals) {
  const PickedMember alone{&member, 1};
  const ModelSpec model =
      ModelOfEnsembleTree(EnsembleTree({&alone, 1}, EnsembleGraph::kMeans), member.model.file_name);
  const EnsembleEngine made = MakePredictingEngine(model, place);
  LoadMember(member, weights, *made.engine);
  const EngineEntry& entry = made.engine->model().entries[0];
  MemberNumbers numbers;
  for (const EnginePort& port : entry.results) {
    numbers.shapes.push_back(ShapeOfSample(port, entry.batch));
  }
  TakeRoom(numbers, samples, most_bytes);
  BatchFeeds feeds(entry, samples);
  for (int64_t first = 0; first < samples.size(); first += entry.batch) {
    if (signals.stop != nullptr && *signals.stop != 0) throw RunStopped();
    const int64_t count = std::min(entry.batch, samples.size() - first);
    feeds.Fill(first, count, *made.engine);
    made.engine->Run(0);
    TakeResults(*made.engine, first, count, numbers);
  }
  return numbers;
}

// Holds the means and the labels of one half, a tensor for each.
class EnsembleJudge::Samples final : public Dataset {
 public:
  Samples(const std::vector<DataField>& means, const std::vector<std::string>& labels,
          ValidSamples& samples, int half)
      : size_(samples.size_of(half)), means_(means.size()), fields_(means) {
    for (const std::string& label : labels) {
      fields_.push_back(samples.field(label));
      fields_.back().name = label;
    }
    for (const DataField& field : fields_) {
      std::vector<int64_t> sizes = field.shape.Sizes();
      sizes.insert(sizes.begin(), size_);
      tensors_.emplace_back(field.dtype, Shape::Of(sizes));
    }
    for (int64_t row = 0; row < size_; ++row) {
      samples.Read(2 * row + half);
      for (size_t i = 0; i < labels.size(); ++i) {
        std::ranges::copy(samples.BytesOf(labels[i]), Row(means_ + i, row).begin());
      }
    }
  }

  int64_t size() const override { return size_; }
  const std::vector<DataField>& fields() const override { return fields_; }
  int64_t decoded_bytes() const override { return 0; }
  void Read(int64_t index, std::span<const std::span<std::byte>> out) const override {
    for (size_t i = 0; i < out.size(); ++i) std::ranges::copy(Rows(i, index, 1), out[i].begin());
  }

  std::vector<std::string> inputs() const {
    std::vector<std::string> names;
    for (const DataField& field : fields_) names.push_back(field.name);
    return names;
  }
  std::span<const std::byte> Rows(size_t field, int64_t first, int64_t count) const {
    const auto bytes = static_cast<size_t>(fields_[field].bytes());
    return tensors_[field].bytes().subspan(static_cast<size_t>(first) * bytes,
                                           static_cast<size_t>(count) * bytes);
  }
  // Takes the means of all samples.
  void Take(std::span<const double> numbers) {
    size_t next = 0;
    for (int64_t row = 0; row < size_; ++row) {
      for (size_t i = 0; i < means_; ++i) {
        const int64_t count = fields_[i].shape.Elements();
        for (int64_t k = 0; k < count; ++k) tensors_[i].Set(row * count + k, numbers[next++]);
      }
    }
  }

 private:
  std::span<std::byte> Row(size_t field, int64_t row) {
    const auto bytes = static_cast<size_t>(fields_[field].bytes());
    return tensors_[field].bytes().subspan(static_cast<size_t>(row) * bytes, bytes);
  }

  const int64_t size_;
  const size_t means_;  // fields that are means; the others are labels
  std::vector<DataField> fields_;
  std::vector<HostTensor> tensors_;
};

EnsembleJudge::EnsembleJudge(const MemberModel& first, std::span<const Shape> shapes,
                             const std::string& metric, ValidSamples& samples, int half,
                             const TrialPlace& place)
    : metric_(PlainMetric(first.output, metric)) {
  const ModelSpec model = ModelOfEnsembleTree(JudgeTree(first, shapes), "judge.yaml");
  const std::vector<std::string> means = MeanNames(first);
  std::vector<DataField> fields;
  for (size_t i = 0; i < means.size(); ++i) {
    fields.push_back({means[i], model.inputs[i].type.value, shapes[i]});
  }
  samples_ = std::make_unique<Samples>(fields, first.output.labels, samples, half);
  batch_ = std::min(samples_->size(), kMostJudged);
  std::vector<EntryRequest> entries = {{"eval", EntryKind::kEval, batch_}};
  const int64_t rest = samples_->size() % batch_;
  if (rest > 0) entries.push_back({"eval.rest", EntryKind::kEval, rest});
  engine_.device = OpenDevice(place.device);
  engine_.communicator = std::make_unique<SingleProcess>();
  Diagnostics diagnostics;
  engine_.engine = BuildEngine(
      model, entries, Mode::kGraph, OptionsOf(place, model, {}),
      {*FindKernelLibrary(place.device), *engine_.device, *engine_.communicator}, diagnostics);
  if (!engine_.engine) ThrowFirstError(diagnostics);
  runner_ = std::make_unique<BatchRunner>(*engine_.engine, EntryKind::kEval, batch_, *samples_,
                                          samples_->inputs());
}

EnsembleJudge::~EnsembleJudge() = default;

double EnsembleJudge::Measure(std::span<const double> mean) {
  samples_->Take(mean);
  runner_->Reset();
  for (int64_t first = 0; first < samples_->size(); first += batch_) {
    Batch batch;
    batch.first = first;
    batch.count = std::min(batch_, samples_->size() - first);
    for (size_t i = 0; i < samples_->fields().size(); ++i) {
      batch.fields.push_back(samples_->Rows(i, first, batch.count));
    }
    runner_->Run(batch, /*step=*/0, {});
  }
  return WatchedNumber{metric_}.In(runner_->Means());
}

}  // namespace cgrun
