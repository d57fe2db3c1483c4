// Measured times in place of estimates.
#include "src/select/tuned_target.h"

#include <gtest/gtest.h>

#include "src/ops/leaky_relu.h"
#include "src/select/select.h"
#include "tests/support/graph_maker.h"

namespace cgrun {
namespace {

// Three kernels for every operator; estimates say that the first is the best.
class ThreeKernels final : public Target {
 public:
  std::string_view name() const override { return "three"; }
  std::string fingerprint() const override { return "three 1"; }
  std::optional<std::vector<HostTensor>> Evaluate(const NodeSignature&,
                                                  std::span<const HostTensor>) const override {
    return std::nullopt;
  }
  std::vector<KernelOption> Options(const NodeSignature& node, const RunSetting&) const override {
    std::vector<KernelOption> options;
    for (const auto& [kernel, seconds] :
         {std::pair{"first", 1.0}, {"second", 2.0}, {"loops", 50.0}}) {
      KernelOption option;
      option.kernel = kernel;
      option.input_layouts.resize(node.inputs.size());
      option.output_layouts.resize(node.outputs.size());
      option.seconds = seconds;
      options.push_back(std::move(option));
    }
    return options;
  }
};

NodeSignature Leaky(double slope, Shape shape = {4}) {
  LeakyReluAttributes attributes;
  attributes.slope = slope;
  const TensorType type{DType::kF32, std::move(shape)};
  return {OpId::leaky_relu, Attributes::Of(attributes), {type}, {type}, {}};
}

TEST(TunedTarget, HasTheTimesOfItsRecord) {
  const ThreeKernels kernels;
  const NodeSignature node = Leaky(0.1);
  const std::vector<KernelOption> estimated = kernels.Options(node, {2});
  TuningRecord record;
  record.Add(TuningRecord::KeyOf(node, estimated[1], 2), 0.5);
  const TunedTarget tuned(kernels, &record);
  EXPECT_EQ(tuned.Options(node, {2})[0].seconds, 1);
  EXPECT_EQ(tuned.Options(node, {2})[1].seconds, 0.5);
  EXPECT_TRUE(tuned.Options(node, {2})[1].is_measured);
  EXPECT_FALSE(tuned.Options(node, {2})[0].is_measured);
  EXPECT_EQ(tuned.Options(node, {1})[1].seconds, 2) << "of another number of threads";
  EXPECT_EQ(tuned.Options(Leaky(0.2), {2})[1].seconds, 2) << "of another operator";
  EXPECT_EQ(tuned.Options(Leaky(0.1, {8}), {2})[1].seconds, 2) << "of another shape";
  EXPECT_EQ(TunedTarget(kernels, nullptr).Options(node, {2})[1].seconds, 2);
}

// Says in the name of its kernel whether factors may be rounded.
class SaysTF32 final : public Target {
 public:
  std::string_view name() const override { return "says"; }
  std::string fingerprint() const override { return "says 1"; }
  std::optional<std::vector<HostTensor>> Evaluate(const NodeSignature&,
                                                  std::span<const HostTensor>) const override {
    return std::nullopt;
  }
  std::vector<KernelOption> Options(const NodeSignature&,
                                    const RunSetting& setting) const override {
    KernelOption option;
    option.kernel = setting.tf32 ? "rounded" : "exact";
    return {option};
  }
};

TEST(TunedTarget, AsksForTF32WhereTheRunHasIt) {
  const SaysTF32 kernels;
  const NodeSignature node = Leaky(0.1);
  EXPECT_EQ(TunedTarget(kernels, nullptr).Options(node, {1})[0].kernel, "exact");
  EXPECT_EQ(TunedTarget(kernels, nullptr, nullptr, true).Options(node, {1})[0].kernel, "rounded");
}

TEST(TunedTarget, DecidesWhichKernelRuns) {
  const ThreeKernels kernels;
  GraphMaker make;
  make.Out(make.Op(OpId::relu, "y", {make.Feed("x", {4})}), "y");
  const auto chosen = [&](TuningRecord* record) {
    Diagnostics diagnostics;
    const TunedTarget target(kernels, record);
    const Graph graph = SelectKernels(make.graph(), target, {1}, diagnostics);
    return graph.nodes[NodeId(0)].kernel->kernel;
  };
  TuningRecord record;
  EXPECT_EQ(chosen(&record), "first");
  const NodeSignature node = SignatureOf(make.graph(), make.graph().nodes[NodeId(0)]);
  record.Add(TuningRecord::KeyOf(node, kernels.Options(node, {})[0], 1), 9);
  EXPECT_EQ(chosen(&record), "second");
}

TEST(TunedTarget, MeasuresWhatTheRecordDoesNotKnowOnceAndNothingHopeless) {
  const ThreeKernels kernels;
  TuningRecord record;
  std::vector<std::string> measured;
  const TunedTarget target(kernels, &record,
                           [&](const NodeSignature&, const KernelOption& option, int) {
                             measured.push_back(option.kernel);
                             return std::optional(3.0);
                           });
  for (int i = 0; i < 2; ++i) {
    const std::vector<KernelOption> options = target.Options(Leaky(0.1), {1});
    EXPECT_EQ(options[0].seconds, 3);
    EXPECT_EQ(options[2].seconds, 50);
  }
  EXPECT_EQ(measured, (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(record.seconds().size(), 2u);
}

TEST(TuningRecord, HasANameOfWhatIsInIt) {
  TuningRecord record, other;
  record.Add("a", 1);
  other.Add("a", 2);
  EXPECT_NE(record.Name(), other.Name());
  other.Add("a", 1);
  EXPECT_EQ(record.Name(), other.Name());
  other.Add("b", 1);
  EXPECT_NE(record.Name(), other.Name());
}

}  // namespace
}  // namespace cgrun
