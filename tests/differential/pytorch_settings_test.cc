// Settings of training against PyTorch, in f64: clipping, accumulation, regularisation, rates per
// parameter, frozen parameters. Ten steps of a small network in graph and eager mode; the losses
// come from scripts/reference/pytorch_training.py (which says how they are made).
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "src/fit/run_shape.h"
#include "src/model/model_file.h"
#include "src/run/batch_runner.h"

namespace cgrun {
namespace {

constexpr int64_t kSteps = 10, kSamples = 10;

struct Row {
  const char* name;
  std::vector<double> losses;
};

const std::vector<Row>& Rows() {
  static const std::vector<Row> rows = {
#include "tests/differential/pytorch_settings.inc"
  };
  return rows;
}

constexpr char kModel[] = R"(
cgrun: 1
inputs:
  x: {type: f64, shape: [6]}
  y: {type: f64, shape: [2]}
paths:
  fit:
    ops:
      - fc1: {op: linear, in: x, units: 8, activation: tanh}
      - fc2: {op: linear, units: 2}
    loss: {op: squared_error, in: [fc2, y]}
train: {batch: 10, precision: f64, optimizer: {op: sgd, lr: 0.2, momentum: 0.9}}
)";

// Returns the changes of each row, as --set makes them.
const std::map<std::string, std::vector<std::string>>& Overrides() {
  static const std::string regularize = "paths.fit.ops.fc1.regularize=";
  static const std::map<std::string, std::vector<std::string>> overrides = {
      {"plain", {}},
      {"clip by norm", {"train.clip={norm: 0.3}"}},
      {"clip by norm that is never reached", {"train.clip={norm: 100}"}},
      {"clip by value", {"train.clip={value: 0.05}"}},
      {"adam, clip by norm", {"train.clip={norm: 0.1}", "train.optimizer={op: adam, lr: 0.02}"}},
      {"adamw", {"train.optimizer={op: adamw, lr: 0.02, weight_decay: 0.5}"}},
      {"l1", {regularize + "{l1: 0.02}"}},
      {"l2", {regularize + "{l2: 0.05}"}},
      {"elastic", {regularize + "{l1: 0.02, l2: 0.05}"}},
      {"lr", {"paths.fit.ops.fc2.lr=0.1"}},
      {"frozen", {"paths.fit.ops.fc1.frozen=true"}},
  };
  return overrides;
}

// Ten samples; those of the current step are made by Fill().
class Samples final : public Dataset {
 public:
  int64_t size() const override { return kSamples; }
  const std::vector<DataField>& fields() const override { return fields_; }
  int64_t decoded_bytes() const override { return 0; }
  void Read(int64_t, std::span<const std::span<std::byte>>) const override {}

  void Fill(int64_t step) {
    x_.clear();
    y_.clear();
    for (int64_t s = step * kSamples; s < (step + 1) * kSamples; ++s) {
      for (int64_t j = 0; j < 6; ++j) x_.push_back(std::cos(static_cast<double>(s + 2 * j)));
      for (int64_t j = 0; j < 2; ++j) y_.push_back(std::sin(static_cast<double>(3 * s + j)));
    }
  }
  Batch Part(int64_t first, int64_t count) const {
    Batch batch;
    batch.first = first;
    batch.count = count;
    const auto part = [&](const std::vector<double>& all, int64_t each) {
      return std::as_bytes(std::span(all).subspan(static_cast<size_t>(first * each),
                                                  static_cast<size_t>(count * each)));
    };
    batch.fields = {part(x_, 6), part(y_, 2)};
    return batch;
  }

 private:
  std::vector<DataField> fields_ = {{"x", DType::kF64, Shape{6}}, {"y", DType::kF64, Shape{2}}};
  std::vector<double> x_, y_;
};

struct Setting {
  Mode mode = Mode::kGraph;
  std::string device = "reference";
  int64_t batch = kSamples;  // below kSamples: steps are accumulated
};

class Trainer {
 public:
  Trainer(std::vector<std::string> overrides, const Setting& setting) : batch_(setting.batch) {
    overrides.push_back("train.batch=" + std::to_string(batch_));
    overrides.push_back("train.accumulate=" + std::to_string(batches()));
    Diagnostics diagnostics;
    const auto model = ParseModel({"small.yaml", kModel}, overrides, diagnostics);
    EXPECT_TRUE(model && !diagnostics.has_errors()) << diagnostics.ToString();
    device_ = OpenDevice(setting.device);
    const KernelLibrary& library = *FindKernelLibrary(setting.device);
    CompileOptions options;
    options.precision = DType::kF64;
    const auto entries = TrainingEntries(batch_, {kSamples}, {}, batches());
    if (setting.mode == Mode::kEager) {
      auto graphs = PrepareEager(*model, entries, library, options, diagnostics);
      engine_ = MakeEagerEngine(std::move(*graphs), *device_, library, communicator_);
    } else {
      const auto compiled = Compile(*model, entries, library, options, diagnostics);
      EXPECT_TRUE(compiled.has_value()) << diagnostics.ToString();
      engine_ = MakeGraphEngine(
          std::make_unique<Program>(compiled->image, *device_, library, communicator_), library);
    }
    rate_ = *model->train->optimizer;
    runner_ = std::make_unique<BatchRunner>(*engine_, EntryKind::kTrain, batch_, samples_,
                                            std::vector<std::string>{"x", "y"});
    SetWeights();
  }

  // The losses of all steps.
  std::vector<double> Losses() {
    const Accumulation accumulation(batches(), kSamples, batch_, batches());
    const RateFeed rate{"fit.learning_rate", LearningRate()};
    std::vector<double> losses;
    for (int64_t step = 0; step < kSteps; ++step) {
      samples_.Fill(step);
      runner_->Reset();
      for (int64_t i = 0; i < batches(); ++i) {
        const int64_t count = std::min(batch_, kSamples - i * batch_);
        runner_->Run(samples_.Part(i * batch_, count), accumulation.PartOf(i, step), {&rate, 1});
      }
      losses.push_back(runner_->Means()[0].value);
    }
    return losses;
  }

 private:
  int64_t batches() const { return (kSamples + batch_ - 1) / batch_; }

  double LearningRate() const {
    for (const Attribute& attribute : rate_.attributes) {
      if (attribute.key == "lr") return std::stod(attribute.value.scalar);
    }
    return 0;
  }

  void SetWeights() {
    const std::vector<std::string> names = {"fit.fc1.weight", "fit.fc1.bias", "fit.fc2.weight",
                                            "fit.fc2.bias"};
    for (size_t p = 0; p < names.size(); ++p) {
      const size_t index = engine_->model().FindState(names[p]);
      const TensorType& type = engine_->model().states[index].type;
      HostTensor tensor(type.dtype, type.shape);
      for (int64_t i = 0; i < tensor.elements(); ++i) {
        tensor.Set(i, std::sin(0.37 * static_cast<double>(i) + static_cast<double>(p)) / 2);
      }
      engine_->WriteState(index, tensor);
    }
  }

  int64_t batch_;
  Samples samples_;
  OpSpec rate_;
  SingleProcess communicator_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<BatchRunner> runner_;
};

class PytorchSettings : public testing::TestWithParam<Setting> {};

TEST_P(PytorchSettings, GiveTheSameTenLosses) {
  if (FindKernelLibrary(GetParam().device) == nullptr) GTEST_SKIP() << GetParam().device;
  ASSERT_EQ(Rows().size(), Overrides().size());
  for (const Row& row : Rows()) {
    const std::vector<double> losses = Trainer(Overrides().at(row.name), GetParam()).Losses();
    ASSERT_EQ(losses.size(), row.losses.size());
    for (size_t step = 0; step < losses.size(); ++step) {
      EXPECT_NEAR(losses[step], row.losses[step], 1e-9) << row.name << ", step " << step;
    }
  }
}

// Batches of 4 are 4 + 4 + 2 samples, batches of 5 two whole ones.
INSTANTIATE_TEST_SUITE_P(
    Modes, PytorchSettings,
    testing::Values(Setting{}, Setting{Mode::kEager}, Setting{Mode::kGraph, "cpu"},
                    Setting{Mode::kGraph, "reference", 4}, Setting{Mode::kEager, "reference", 4},
                    Setting{Mode::kGraph, "cpu", 4}, Setting{Mode::kGraph, "reference", 5},
                    Setting{Mode::kGraph, "blas", 3}));

}  // namespace
}  // namespace cgrun
