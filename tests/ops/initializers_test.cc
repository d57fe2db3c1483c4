// Initial values: the moments that each initialiser promises, and that values depend on seed and
// name alone.
#include "src/ops/initializers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace cgrun {
namespace {

constexpr int64_t kElements = 20000;
constexpr int64_t kFanIn = 50, kFanOut = 200;

HostTensor Values(const std::string& init, std::vector<double> args = {},
                  const std::string& name = "a.weight", uint64_t seed = 7) {
  ParameterInfo info;
  info.init = init;
  info.init_args = std::move(args);
  info.fan_in = kFanIn;
  info.fan_out = kFanOut;
  return InitialValue(name, {DType::kF32, {kElements}}, info, seed);
}

struct Moments {
  double mean = 0, variance = 0, smallest = 0, largest = 0;
};

Moments MomentsOf(const HostTensor& tensor) {
  Moments m;
  m.smallest = m.largest = tensor.At(0);
  for (int64_t i = 0; i < kElements; ++i) {
    m.mean += tensor.At(i) / kElements;
    m.smallest = std::min(m.smallest, tensor.At(i));
    m.largest = std::max(m.largest, tensor.At(i));
  }
  for (int64_t i = 0; i < kElements; ++i) {
    m.variance += std::pow(tensor.At(i) - m.mean, 2) / kElements;
  }
  return m;
}

TEST(InitializersTest, VariancesByFans) {
  const std::vector<std::pair<std::string, double>> cases = {
      {"glorot_uniform", 2.0 / (kFanIn + kFanOut)},
      {"glorot_normal", 2.0 / (kFanIn + kFanOut)},
      {"he_uniform", 2.0 / kFanIn},
      {"he_normal", 2.0 / kFanIn},
      {"he_uniform_fan_out", 2.0 / kFanOut},
      {"he_normal_fan_out", 2.0 / kFanOut}};
  for (const auto& [init, variance] : cases) {
    const Moments m = MomentsOf(Values(init));
    EXPECT_NEAR(m.variance / variance, 1, 0.04) << init;
    EXPECT_NEAR(m.mean / std::sqrt(variance), 0, 0.03) << init;
    const bool uniform = init.find("uniform") != init.npos;
    const double reach = m.largest / std::sqrt(variance);
    EXPECT_EQ(reach < std::sqrt(3.0) + 1e-6, uniform) << init;
  }
}

TEST(InitializersTest, Arguments) {
  const Moments uniform = MomentsOf(Values("uniform", {2, 3}));
  EXPECT_GE(uniform.smallest, 2);
  EXPECT_LT(uniform.largest, 3);
  EXPECT_NEAR(uniform.mean, 2.5, 0.01);
  const Moments normal = MomentsOf(Values("normal", {5, 0.5}));
  EXPECT_NEAR(normal.mean, 5, 0.02);
  EXPECT_NEAR(normal.variance, 0.25, 0.01);
  const Moments truncated = MomentsOf(Values("truncated_normal", {0, 1}));
  EXPECT_GE(truncated.smallest, -2);
  EXPECT_LE(truncated.largest, 2);
  EXPECT_NEAR(truncated.variance, 0.774, 0.03);
  EXPECT_EQ(Values("constant", {0.25}).At(kElements - 1), 0.25);
  EXPECT_EQ(Values("ones").At(3), 1);
  EXPECT_EQ(Values("zeros").At(3), 0);
}

TEST(InitializersTest, DependOnSeedAndNameAlone) {
  EXPECT_EQ(Values("he_normal"), Values("he_normal"));
  EXPECT_NE(Values("he_normal"), Values("he_normal", {}, "b.weight"));
  EXPECT_NE(Values("he_normal"), Values("he_normal", {}, "a.weight", 8));
}

}  // namespace
}  // namespace cgrun
