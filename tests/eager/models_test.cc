// Models that ship with the project, a few steps of training on each device, eagerly and as byte
// code: the same bits wherever the same kernels run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "src/autodiff/autodiff.h"
#include "src/base/random.h"
#include "src/frontend/frontend.h"
#include "src/model/model_file.h"
#include "src/ops/initializers.h"
#include "tests/eager/eager_testing.h"

namespace cgrun {
namespace {

constexpr int64_t kBatch = 6;
constexpr int kSteps = 3;

class EagerModels : public testing::TestWithParam<std::tuple<const char*, const char*, int>> {
 protected:
  void SetUp() override {
    const auto& [file, device, threads] = GetParam();
    library_ = FindKernelLibrary(device);
    if (library_ == nullptr) GTEST_SKIP() << "this build has no device " << device;
    threads_ = threads;
    Diagnostics diagnostics;
    const auto model = LoadModelFile(std::string("models/") + file, {}, diagnostics);
    ASSERT_TRUE(model.has_value()) << diagnostics.ToString();
    const auto forward = BuildForward(*model, {EntryKind::kTrain}, diagnostics);
    ASSERT_TRUE(forward.has_value()) << diagnostics.ToString();
    graph_ = Differentiate(*forward);
    inputs_ = InputsOf(BindBatch(graph_, kBatch));
  }

  static StepInputs InputsOf(const Graph& bound) {
    StepInputs inputs;
    inputs.feeds.resize(kSteps);
    for (ValueId id : bound.values.ids()) {
      const Value& value = bound.values[id];
      if (IsState(value.role)) {
        const ParameterInfo& info = bound.parameters.at(id);
        inputs.states.emplace(value.name, InitialValue(value.name, value.type, info, bound.seed));
      }
      if (value.role != Role::kPlaceholder) continue;
      for (int step = 0; step < kSteps; ++step) {
        HostTensor tensor(value.type.dtype, value.type.shape);
        const uint64_t key = RandomKey(static_cast<uint64_t>(step), value.name);
        for (int64_t i = 0; i < tensor.elements(); ++i) {
          const uint32_t bits = RandomBits(key, 0, static_cast<uint64_t>(i));
          const bool pixel = value.type.dtype == DType::kU8;
          tensor.Set(i, IsFloat(value.type.dtype) ? 0.05 : bits % (pixel ? 256 : 10));
        }
        inputs.feeds[static_cast<size_t>(step)].emplace(value.name, std::move(tensor));
      }
    }
    return inputs;
  }

  std::vector<StepResult> RunByteCode(const Graph& prepared) const {
    return RunSteps(EncodeGraph(prepared, "memory", {}, *library_).image, *library_, inputs_);
  }

  const KernelLibrary* library_ = nullptr;
  int threads_ = 1;
  Graph graph_;
  StepInputs inputs_;
};

// Returns the largest difference of two states, as a part of the largest number in them.
double Difference(const HostTensor& a, const HostTensor& b) {
  double largest = 1e-30, difference = 0;
  for (int64_t i = 0; i < a.elements(); ++i) {
    largest = std::max(largest, std::abs(b.At(i)));
    difference = std::max(difference, std::abs(a.At(i) - b.At(i)));
  }
  return difference / largest;
}

// The graph that graph mode runs, blocked layouts included, in another order and other memory.
TEST_P(EagerModels, GiveTheBitsOfByteCode) {
  const Graph prepared = PrepareGraph(graph_, kBatch, *library_, threads_);
  const std::vector<StepResult> wanted = RunByteCode(prepared);
  EXPECT_EQ(FirstDifference(RunEagerSteps(prepared, *library_, inputs_), wanted), "");
  for (const auto& [name, tensor] : wanted.back().states) {
    if (!name.ends_with(".weight")) continue;
    EXPECT_GT(Difference(tensor, inputs_.states.at(name)), 1e-4) << name << " has not learned";
  }
}

// With plain tensors between operators: the same kernels on `reference` and `blas`; on `cpu` some
// operators have others for plain tensors, which add up in another order.
TEST_P(EagerModels, PlainTensorsChangeLittle) {
  const std::vector<StepResult> wanted = RunByteCode(PrepareGraph(graph_, kBatch, *library_));
  const std::vector<StepResult> actual =
      RunEagerSteps(PreparePlain(graph_, kBatch, *library_, threads_), *library_, inputs_);
  const bool same_kernels = library_->name() != "cpu" && threads_ == 1;
  if (same_kernels) {
    EXPECT_EQ(FirstDifference(actual, wanted), "");
    return;
  }
  for (const auto& [name, tensor] : wanted.back().states) {
    EXPECT_LT(Difference(actual.back().states.at(name), tensor), 1e-4) << name;
  }
}

std::string NameOf(const testing::TestParamInfo<EagerModels::ParamType>& info) {
  const auto& [file, device, threads] = info.param;
  std::string name = std::string(file) + "_" + device + "_" + std::to_string(threads);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, EagerModels,
                         testing::Combine(testing::Values("lenet-mnist.yaml", "mlp.yaml"),
                                          testing::Values("reference", "blas", "cpu"),
                                          testing::Values(1, 2)),
                         NameOf);

}  // namespace
}  // namespace cgrun
