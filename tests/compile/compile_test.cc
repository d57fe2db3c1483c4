// All entry points of a model, compiled together: one arena, one set of parameters.
#include "src/compile/compile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "src/compile/prepare_entries.h"
#include "src/device/cpu.h"
#include "src/model/model_file.h"
#include "src/program/program.h"

namespace cgrun {
namespace {

constexpr char kModel[] = R"(
cgrun: 1
inputs:
  image: {type: uint8, shape: [1, 6, 6]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - pixels: {op: normalize, in: image, scale: 1/255}
      - {op: conv, filters: 3, kernel: 3}
      - {op: batch_norm}
      - {op: relu}
      - {op: flatten}
      - {op: dropout, rate: 0.5}
      - logits: {op: linear, units: 4}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
    metrics: {accuracy: {in: [logits, label]}}
    out: logits
train: {epochs: 1, optimizer: {op: sgd, lr: 0.05, momentum: 0.9}}
)";

constexpr char kLayers[] = R"(
cgrun: 1
inputs:
  x: {type: f32, shape: [24]}
paths:
  infer:
    mode: forward
    ops:
      - {op: linear, in: x, units: 32, activation: relu}
      - y: {op: linear, units: 8}
    out: y
)";

ModelSpec Model(const char* text = kModel) {
  Diagnostics diagnostics;
  auto model = ParseModel({"small.yaml", text}, {}, diagnostics);
  EXPECT_TRUE(model.has_value()) << diagnostics.ToString();
  return *model;
}

CompiledModel CompileAll(const std::vector<EntryRequest>& entries,
                         const CompileOptions& options = {}) {
  Diagnostics diagnostics;
  auto compiled = Compile(Model(), entries, *FindKernelLibrary("reference"), options, diagnostics);
  EXPECT_TRUE(compiled.has_value()) << diagnostics.ToString();
  return std::move(*compiled);
}

const std::vector<EntryRequest> kAll = {{"train", EntryKind::kTrain, 8},
                                        {"train.tail", EntryKind::kTrain, 3},
                                        {"eval", EntryKind::kEval, 8},
                                        {"predict", EntryKind::kPredict, 5}};

// The device `cpu`, whose kernels run several operators in one at a batch of 8 alone.
class FusesAtBatch8 final : public Target {
 public:
  std::string_view name() const override { return cpu_.name(); }
  std::vector<KernelOption> Options(const NodeSignature& node,
                                    const RunSetting& setting) const override {
    if (node.op == OpId::fused && node.inputs[0].shape[0].size != 8) return {};
    return cpu_.Options(node, setting);
  }
  std::optional<std::vector<HostTensor>> Evaluate(
      const NodeSignature& node, std::span<const HostTensor> inputs) const override {
    return cpu_.Evaluate(node, inputs);
  }
  std::string fingerprint() const override { return cpu_.fingerprint(); }

 private:
  const KernelLibrary& cpu_ = *FindKernelLibrary("cpu");
};

TEST(Compile, FusesForEachBatchWhatHasAKernelThere) {
  Diagnostics diagnostics;
  const auto compiled = PrepareEntries(
      Model(kLayers), {{"predict", EntryKind::kPredict, 8}, {"predict.3", EntryKind::kPredict, 3}},
      FusesAtBatch8(), {}, diagnostics);
  ASSERT_TRUE(compiled.has_value()) << diagnostics.ToString();
  const auto fused = [&](size_t entry) {
    return std::ranges::count(compiled->entries[entry].graph.nodes, OpId::fused, &Node::op);
  };
  EXPECT_GT(fused(0), 0);
  EXPECT_EQ(fused(1), 0);
}

// The same for all: what a port is fed depends on its name alone.
HostTensor FeedFor(const ImagePort& port) {
  HostTensor tensor(port.type.dtype, port.type.shape);
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const bool pixel = port.type.dtype == DType::kU8;
    tensor.Set(i, pixel                      ? static_cast<double>(i * 37 % 251)
                  : IsFloat(port.type.dtype) ? 0.05
                                             : static_cast<double>(i % 4));
  }
  return tensor;
}

class Runner {
 public:
  explicit Runner(ProgramImage image)
      : device_(std::make_unique<CpuDevice>("reference")),
        program_(std::move(image), *device_, *FindKernelLibrary("reference"), communicator_) {}

  // Runs an entry point; its first result.
  std::vector<float> Run(const std::string& name) {
    const auto& entries = program_.image().entries;
    const auto it = std::find_if(entries.begin(), entries.end(),
                                 [&](const ImageEntry& entry) { return entry.name == name; });
    const int entry = static_cast<int>(it - entries.begin());
    for (size_t i = 0; i < it->feeds.size(); ++i) {
      program_.Feed(entry, i, FeedFor(it->feeds[i]).bytes());
    }
    program_.Run(entry);
    HostTensor result(it->results[0].type.dtype, it->results[0].type.shape);
    program_.Fetch(entry, 0, result.bytes());
    std::vector<float> numbers;
    for (int64_t i = 0; i < result.elements(); ++i) {
      numbers.push_back(static_cast<float>(result.At(i)));
    }
    return numbers;
  }
  std::vector<HostTensor> States() const {
    std::vector<HostTensor> states;
    for (size_t i = 0; i < program_.image().states.size(); ++i) {
      states.push_back(program_.ReadState(i));
    }
    return states;
  }

 private:
  std::unique_ptr<Device> device_;
  SingleProcess communicator_;
  Program program_;
};

TEST(Compile, EntryPointsShareOneArenaAndItsParameters) {
  const CompiledModel all = CompileAll(kAll);
  ASSERT_EQ(all.layout.entries.size(), kAll.size());
  int64_t largest = 0;
  for (const EntryRequest& request : kAll) {
    const CompiledModel alone = CompileAll({request});
    largest = std::max(largest, alone.layout.transient_bytes);
  }
  EXPECT_EQ(all.layout.transient_bytes, largest) << "as much as the largest of them alone";
  const CompiledModel train = CompileAll({kAll[0]});
  EXPECT_EQ(all.layout.persistent_bytes, train.layout.persistent_bytes);
}

// Evaluation and prediction in between change nothing of the training, and see what it has learned.
TEST(Compile, EntryPointsRunInTurnInOneArena) {
  Runner all(CompileAll(kAll).image);
  Runner train(CompileAll({kAll[0], kAll[1]}).image);
  Runner predict(CompileAll({kAll[3]}).image);
  const std::vector<float> untrained = all.Run("predict");
  EXPECT_EQ(predict.Run("predict"), untrained);
  ASSERT_EQ(untrained.size(), 5u * 4u);
  for (int step = 0; step < 3; ++step) {
    EXPECT_EQ(all.Run("train"), train.Run("train")) << step;
    all.Run("eval");
    all.Run("predict");
    EXPECT_EQ(all.Run("train.tail"), train.Run("train.tail")) << step;
    EXPECT_EQ(all.States(), train.States()) << step;
  }
  const std::vector<float> trained = all.Run("predict");
  EXPECT_NE(trained, untrained);
  EXPECT_EQ(all.Run("predict"), trained) << "a prediction changes no state";
  EXPECT_TRUE(
      std::all_of(trained.begin(), trained.end(), [](float x) { return std::isfinite(x); }));
}

TEST(Compile, ValuesThatAreComputedAgainNeedLessMemory) {
  CompileOptions options;
  options.recompute_share = 0;  // nothing but what is named
  const CompiledModel kept = CompileAll({kAll[0]}, options);
  options.layout.recompute = {"preprocess", "classify.pixels"};
  const CompiledModel again = CompileAll({kAll[0]}, options);
  const auto clones = [](const CompiledModel& model) {
    return std::count_if(model.entries[0].graph.nodes.begin(), model.entries[0].graph.nodes.end(),
                         [](const Node& node) { return node.recomputes.valid(); });
  };
  EXPECT_EQ(clones(kept), 0);
  EXPECT_EQ(clones(again), 1);
  EXPECT_LE(again.layout.transient_bytes, kept.layout.transient_bytes);
  Runner one(kept.image), two(again.image);
  EXPECT_EQ(one.Run("train"), two.Run("train"));
  EXPECT_EQ(one.States(), two.States());
}

TEST(Compile, ErrorsOfTheModelAreReportedAndNothingComesOut) {
  Diagnostics diagnostics;
  auto model =
      ParseModel({"small.yaml", kModel},
                 std::vector<std::string>{"paths.classify.ops.logits.units=0"}, diagnostics);
  ASSERT_TRUE(model.has_value()) << diagnostics.ToString();
  EXPECT_FALSE(Compile(*model, kAll, *FindKernelLibrary("reference"), {}, diagnostics));
  EXPECT_TRUE(diagnostics.has_errors());
}

}  // namespace
}  // namespace cgrun
