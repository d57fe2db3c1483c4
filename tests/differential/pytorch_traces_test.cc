// Ten training steps of models/mlp.yaml and models/lenet.yaml against PyTorch: the same weights and
// batches. The losses come from scripts/reference/pytorch_traces.py (which says how they are made).
#include <gtest/gtest.h>

#include <cmath>

#include "src/compile/compile.h"
#include "src/data/dataset.h"
#include "src/model/model_file.h"
#include "src/program/program.h"
#include "src/train/model_data.h"

namespace cgrun {
namespace {

// PyTorch 2.15.0, one thread.
const std::vector<double> kMlpLosses = {2.302569, 2.288211, 2.282192, 2.289011, 2.321429,
                                        2.331775, 2.360343, 2.358831, 2.348305, 2.401892};
const std::vector<double> kLenetLosses = {2.303229, 2.325581, 2.314057, 2.260661, 2.210353,
                                          2.098848, 2.3067,   2.179386, 2.021701, 2.185828};

constexpr double kRate = 0.01;

// One training entry point of a shipped model.
class Steps {
 public:
  explicit Steps(const std::string& file) {
    Diagnostics diagnostics;
    model_ = LoadModelFile(file, {}, diagnostics);
    EXPECT_TRUE(model_.has_value()) << diagnostics.ToString();
    batch_ = model_->train->batch.value.size;
    const KernelLibrary& library = *FindKernelLibrary("reference");
    const auto compiled =
        Compile(*model_, {{"train", EntryKind::kTrain, batch_}}, library, {}, diagnostics);
    EXPECT_TRUE(compiled.has_value()) << diagnostics.ToString();
    device_ = OpenDevice("reference");
    program_ = std::make_unique<Program>(compiled->image, *device_, library, communicator_);
  }

  // Weight number p of the model is sin(0.37 i + p) / sqrt(fan_in); biases are 0.
  void SetWeights(const std::vector<std::string>& layers) {
    const std::vector<ImageState>& states = program_->image().states;
    for (size_t p = 0; p < layers.size(); ++p) {
      for (size_t s = 0; s < states.size(); ++s) {
        if (states[s].name != layers[p] + ".weight") continue;
        HostTensor tensor(states[s].type.dtype, states[s].type.shape);
        const double fan_in = static_cast<double>(tensor.elements() / states[s].type.shape[0].size);
        for (int64_t i = 0; i < tensor.elements(); ++i) {
          const double angle = 0.37 * static_cast<double>(i) + static_cast<double>(p);
          tensor.Set(i, std::sin(angle) / std::sqrt(fan_in));
        }
        program_->WriteState(s, tensor);
        ++weights_set_;
      }
    }
    EXPECT_EQ(weights_set_, layers.size());
  }

  double Step(std::span<const std::byte> images, std::span<const int32_t> labels) {
    const ImageEntry& entry = program_->image().entries[0];
    for (const ImagePort& feed : entry.feeds) {
      if (feed.name == "image") program_->Feed(feed, images);
      if (feed.name == "label") program_->Feed(feed, std::as_bytes(labels));
      if (feed.name == "classify.learning_rate") {
        program_->Feed(feed, std::as_bytes(std::span(&kRate, 1)));
      }
    }
    program_->Run(0);
    for (const ImagePort& result : entry.results) {
      if (result.kind == OutputKind::kLoss) return program_->FetchScalar(result);
    }
    ADD_FAILURE() << "no loss";
    return 0;
  }

  const ModelSpec& model() const { return *model_; }
  int64_t batch() const { return batch_; }

 private:
  std::optional<ModelSpec> model_;
  int64_t batch_ = 0;
  size_t weights_set_ = 0;
  SingleProcess communicator_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Program> program_;
};

void ExpectTrace(const std::vector<double>& losses, const std::vector<double>& wanted) {
  ASSERT_EQ(losses.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_NEAR(losses[i], wanted[i], 1e-4 * wanted[i]) << "step " << i;
  }
  EXPECT_GT(std::abs(wanted.front() - wanted.back()), 1e-3) << "nothing was learned";
}

TEST(PyTorchTraces, Mlp) {
  Steps steps("models/mlp.yaml");
  steps.SetWeights({"classify.fc1", "classify.fc2", "classify.logits"});
  std::vector<double> losses;
  for (int64_t step = 0; step < 10; ++step) {
    std::vector<std::byte> images;
    std::vector<int32_t> labels;
    for (int64_t s = step * steps.batch(); s < (step + 1) * steps.batch(); ++s) {
      for (int64_t j = 0; j < 784; ++j) images.push_back(std::byte((7 * j + 13 * s) % 256));
      labels.push_back(static_cast<int32_t>(s % 10));
    }
    losses.push_back(steps.Step(images, labels));
  }
  ExpectTrace(losses, kMlpLosses);
}

TEST(PyTorchTraces, LeNet) {
  Steps steps("models/lenet.yaml");
  steps.SetWeights({"classify.conv1", "classify.conv2", "classify.fc1", "classify.logits"});
  Diagnostics diagnostics;
  DataOptions options;
  options.folder = "datasets/digits";
  options.values["images"] = {"train-images-idx3-ubyte.gz", {}, {}};
  options.values["labels"] = {"train-labels-idx1-ubyte.gz", {}, {}};
  const auto digits = OpenDataset({"idx", {}, {}}, options, diagnostics);
  ASSERT_NE(digits, nullptr) << diagnostics.ToString();
  std::vector<double> losses;
  for (int64_t step = 0; step < 10; ++step) {
    std::vector<std::byte> images(static_cast<size_t>(steps.batch() * 64));
    std::vector<int32_t> labels(static_cast<size_t>(steps.batch()));
    for (int64_t s = 0; s < steps.batch(); ++s) {
      const size_t i = static_cast<size_t>(s);
      const std::span<std::byte> fields[] = {
          std::span(images).subspan(i * 64, 64),
          std::as_writable_bytes(std::span(labels).subspan(i, 1))};
      digits->Read(step * steps.batch() + s, fields);
    }
    losses.push_back(steps.Step(images, labels));
  }
  ExpectTrace(losses, kLenetLosses);
}

}  // namespace
}  // namespace cgrun
