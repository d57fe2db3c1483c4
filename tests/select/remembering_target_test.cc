// A target that is asked once for each node and setting.
#include "src/select/remembering_target.h"

#include <gtest/gtest.h>

#include "src/ops/leaky_relu.h"

namespace cgrun {
namespace {

// Says in the seconds of its option how often it was asked.
class CountingTarget final : public Target {
 public:
  std::string_view name() const override { return "counting"; }
  std::string fingerprint() const override { return "counting 1"; }
  std::optional<std::vector<HostTensor>> Evaluate(const NodeSignature&,
                                                  std::span<const HostTensor>) const override {
    return std::nullopt;
  }
  std::vector<KernelOption> Options(const NodeSignature&, const RunSetting&) const override {
    KernelOption option;
    option.seconds = ++times_;
    return {option};
  }

 private:
  mutable double times_ = 0;
};

NodeSignature Leaky(double slope, Shape shape, DType dtype = DType::kF32) {
  LeakyReluAttributes attributes;
  attributes.slope = slope;
  const TensorType type{dtype, std::move(shape)};
  return {OpId::leaky_relu, Attributes::Of(attributes), {type}, {type}, {}};
}

TEST(RememberingTarget, AsksOnceForEachNodeAndSetting) {
  const CountingTarget counting;
  const RememberingTarget target(counting);
  Layout blocked;
  ASSERT_TRUE(Layout::Parse("Ab4a", &blocked));
  const struct {
    NodeSignature node;
    RunSetting setting;
  } cases[] = {{Leaky(0.1, {8, 4}), {1}},
               {Leaky(0.2, {8, 4}), {1}},
               {Leaky(0.1, {4, 8}), {1}},
               {Leaky(0.1, {8, 4}, DType::kBF16), {1}},
               {Leaky(0.1, {8, 4}), {2}},
               {Leaky(0.1, {8, 4}), {1, {blocked}}},
               {Leaky(0.1, {8, 4}), {1, {}, true}},
               {Leaky(0.1, {8, 4}), {1, {}, false, 1000}},
               {Leaky(0.1, {8, 4}), {.threads = 1, .tf32 = true}},
               {Leaky(0.1, {8, 4}), {.threads = 1, .thread_team = 4}}};
  for (int round = 0; round < 2; ++round) {
    double times = 0;
    for (const auto& [node, setting] : cases) {
      EXPECT_EQ(target.Options(node, setting)[0].seconds, ++times);
    }
  }
}

}  // namespace
}  // namespace cgrun
