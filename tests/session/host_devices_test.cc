// These tests hold for every device of the host, with one thread and with two. Every order, planner
// and zones setting gives one hash of the weights. Without fusions, so do both modes. Nothing is
// allocated after step 1, with loader, evaluation, log and checkpoint. The planned total is what
// the process takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "src/base/allocation_counter.h"
#include "src/base/process_memory.h"
#include "src/packing/planner.h"
#include "src/passes/decisions.h"
#include "src/passes/pipeline.h"
#include "src/plan/schedule.h"
#include "tests/session/session_testing.h"
#include "tests/support/sanitized.h"

namespace cgrun {
namespace {

// A LeNet: channels that fill no block, a partial last batch, an evaluation.
constexpr char kModel[] = R"(
cgrun: 1
model: small-lenet
data:
  train: {format: synthetic, samples: 70, classes: 4}
  test: {format: synthetic, samples: 40, classes: 4, seed: 1}
inputs:
  image: {type: uint8, shape: [1, 16, 16]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - {op: normalize, in: image, scale: 1/255}
      - {op: conv, filters: 20, kernel: 3, padding: 1, activation: relu}
      - {op: max_pool, kernel: 2}
      - {op: conv, filters: 32, kernel: 3, padding: 1, activation: relu}
      - {op: max_pool, kernel: 2}
      - {op: flatten}
      - {op: linear, units: 64, activation: relu}
      - logits: {op: linear, units: 4}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
    metrics: {accuracy: {in: [logits, label]}}
train: {epochs: 2, batch: 16, optimizer: {op: sgd, lr: 0.05, momentum: 0.9}}
)";

// A small ResNet of two residual blocks, one of which halves the image: batch norm, sums, a
// convolution of size 1, a pool of whole images; a partial last batch, an evaluation.
constexpr char kResidual[] = R"(
cgrun: 1
model: small-residual
data:
  train: {format: synthetic, samples: 36, classes: 4}
  test: {format: synthetic, samples: 20, classes: 4, seed: 1}
inputs:
  image: {type: uint8, shape: [3, 16, 16]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - {op: normalize, in: image, scale: 1/255}
      - stem: {op: conv, filters: 16, kernel: 3, padding: 1, activation: relu}
      - {op: conv, filters: 16, kernel: 3, padding: 1, bias: false}
      - {op: batch_norm, activation: relu}
      - {op: conv, filters: 16, kernel: 3, padding: 1, bias: false}
      - second: {op: batch_norm}
      - {op: add, in: [stem, second]}
      - first: {op: relu}
      - {op: conv, filters: 32, kernel: 3, stride: 2, padding: 1, bias: false}
      - {op: batch_norm, activation: relu}
      - {op: conv, filters: 32, kernel: 3, padding: 1, bias: false}
      - main: {op: batch_norm}
      - {op: conv, in: first, filters: 32, kernel: 1, stride: 2, bias: false}
      - short: {op: batch_norm}
      - {op: add, in: [main, short]}
      - {op: relu}
      - {op: global_avg_pool}
      - {op: flatten}
      - logits: {op: linear, units: 4}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
    metrics: {accuracy: {in: [logits, label]}}
train: {epochs: 2, batch: 8, optimizer: {op: sgd, lr: 0.05, momentum: 0.9}}
)";

struct HostDevice {
  std::string name;
  int threads = 1;
};

class HostDevices : public testing::TestWithParam<HostDevice> {
 protected:
  static SessionOptions Options(Mode mode = Mode::kGraph) {
    SessionOptions options;
    options.device = GetParam().name;
    options.compile.threads = GetParam().threads;
    options.mode = mode;
    return options;
  }
};

TEST_P(HostDevices, HaveOneHashForEveryOrderPlannerAndZonesSetting) {
  for (const char* text : {kModel, kResidual}) {
    if (kSanitized && text == kResidual) continue;  // it takes minutes
    const ModelSpec model = ModelOf(text);
    const uint64_t wanted = TrainModel(model, Options()).weights_hash;
    const auto expect_same = [&](std::string_view order, std::string_view planner, bool apart) {
      SessionOptions options = Options();
      options.compile.order = order;
      options.compile.layout.planner = planner;
      options.compile.layout.zones_apart = apart;
      EXPECT_EQ(TrainModel(model, options).weights_hash, wanted)
          << model.name.value << ": " << order << ", " << planner << (apart ? ", zones apart" : "");
    };
    for (const OrderEntry& order : Orders()) expect_same(order.name, "portfolio", true);
    for (const PlannerEntry& planner : Planners()) expect_same("memory", planner.name, false);
  }
}

// Without the choices that eager mode does not have: fused nodes, and tensors in other layouts.
TEST_P(HostDevices, HaveOneHashInBothModesWithoutFusions) {
  for (const char* text : {kModel, kResidual}) {
    const ModelSpec model = ModelOf(text);
    SessionOptions graph = Options();
    graph.compile.passes.disabled = {"fuse_activations", std::string(kLayoutsDecision)};
    EXPECT_EQ(TrainModel(model, graph).weights_hash,
              TrainModel(model, Options(Mode::kEager)).weights_hash)
        << model.name.value;
  }
}

TEST_P(HostDevices, AllocateNothingAfterTheFirstStep) {
  if (!AllocationsAreCounted()) GTEST_SKIP() << "a sanitizer brings its own operator new";
  for (const char* text : {kModel, kResidual}) {
    const ModelSpec model = ModelOf(text);
    SCOPED_TRACE(model.name.value);
    const std::string folder = FreshFolder();
    const TrainResult result = TrainModel(model, Options(), folder);
    EXPECT_EQ(result.steps, 2 * 5);
    EXPECT_FALSE(result.last.evaluations.empty());
    EXPECT_EQ(result.allocations_after_first_step, 0);
    EXPECT_EQ(result.heap_growth_bytes, 0);
    EXPECT_FALSE(ReadText(folder + "/metrics.csv").empty());
    EXPECT_FALSE(result.checkpoint.empty());
  }
}

// A pass has 5 batches: a step of two, another one, and one of the partial batch alone.
TEST_P(HostDevices, AllocateNothingWhereGradientsAreAccumulated) {
  if (!AllocationsAreCounted()) GTEST_SKIP() << "a sanitizer brings its own operator new";
  for (const char* text : {kModel, kResidual}) {
    const ModelSpec model = ModelOf(text, {"train.accumulate=2"});
    SCOPED_TRACE(model.name.value);
    const TrainResult result = TrainModel(model, Options(), FreshFolder());
    EXPECT_EQ(result.steps, 2 * 3);
    EXPECT_EQ(result.allocations_after_first_step, 0);
    EXPECT_EQ(result.heap_growth_bytes, 0);
  }
}

TEST_P(HostDevices, TakeTheMemoryThatIsPlanned) {
  if (!AllocationsAreCounted()) GTEST_SKIP() << "a sanitizer's memory is its own";
  constexpr int64_t kMiB = int64_t{1} << 20;
  for (const char* text : {kModel, kResidual}) {
    const ModelSpec model = ModelOf(text);
    ForgetPeak();
    const MemoryUse memory = TrainModel(model, Options(), FreshFolder()).memory;
    // The pool of oneDNN counts as a whole, and the base is rounded up.
    EXPECT_LE(memory.measured, memory.planned() + kMiB) << model.name.value;
    EXPECT_LE(memory.planned() - memory.measured, std::max(2 * kMiB, memory.planned() / 100))
        << model.name.value << ": planned " << memory.planned() << " (arena " << memory.arena
        << ", data " << memory.data << ", base " << memory.base << "), measured "
        << memory.measured;
  }
}

std::vector<HostDevice> Devices() {
  std::vector<HostDevice> devices = {{"reference", 1}};
  for (const char* name : {"blas", "cpu"}) {
    if (FindKernelLibrary(name) == nullptr) continue;
    devices.push_back({name, 1});
    devices.push_back({name, 2});
  }
  return devices;
}

INSTANTIATE_TEST_SUITE_P(, HostDevices, testing::ValuesIn(Devices()), [](const auto& info) {
  return info.param.name + "_" + std::to_string(info.param.threads);
});

}  // namespace
}  // namespace cgrun
