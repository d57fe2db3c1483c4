// Initial values: the moments that each initialiser promises, and that values depend on seed and
// name alone.
#include "src/ops/initializers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "src/base/random.h"
#include "src/io/npy_file.h"
#include "src/io/safetensors.h"
#include "src/ops/initial_file.h"

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

// Several chunks for several threads, as the formulas give them one by one.
TEST(InitializersTest, AreTheFormulasBitForBit) {
  constexpr int64_t kMany = 600'001;
  ParameterInfo info;
  const uint64_t key = RandomKey(7, "a.weight");
  const auto values = [&](const std::string& init, std::vector<double> args) {
    info.init = init;
    info.init_args = std::move(args);
    return InitialValue("a.weight", {DType::kF32, {kMany}}, info, 7);
  };
  const HostTensor uniform = values("uniform", {-0.3, 0.7});
  const HostTensor normal = values("normal", {0.1, 0.02});
  const HostTensor truncated = values("truncated_normal", {-1, 3});
  int64_t redrawn = 0;
  for (int64_t e = 0; e < kMany; ++e) {
    const auto i = static_cast<uint64_t>(e);
    const auto u = static_cast<double>(UniformFloat(RandomBits(key, 0, i)));
    ASSERT_EQ(uniform.data<float>()[i], static_cast<float>(-0.3 + (0.7 + 0.3) * u)) << e;
    double z = RandomNormal(key, 0, i);
    ASSERT_EQ(normal.data<float>()[i], static_cast<float>(0.1 + 0.02 * z)) << e;
    for (uint64_t attempt = 1; std::abs(z) > 2; ++attempt, ++redrawn) {
      z = RandomNormal(key, attempt, i);
    }
    ASSERT_EQ(truncated.data<float>()[i], static_cast<float>(-1 + 3 * z)) << e;
  }
  EXPECT_GT(redrawn, kMany / 50);
}

HostTensor Orthogonal(Shape shape, DType dtype = DType::kF64, double gain = 1) {
  ParameterInfo info;
  info.init = "orthogonal";
  info.init_args = {gain};
  return InitialValue("a.weight", {dtype, std::move(shape)}, info, 7);
}

// The products of all pairs of rows, or of columns where there are fewer of them.
void ExpectOrthogonal(const HostTensor& tensor, double gain, double tolerance) {
  const int64_t rows = tensor.shape()[0].size, columns = tensor.elements() / rows;
  const bool wide = rows <= columns;
  const int64_t count = std::min(rows, columns), length = std::max(rows, columns);
  const auto at = [&](int64_t v, int64_t i) {
    return tensor.At(wide ? v * columns + i : i * columns + v);
  };
  for (int64_t a = 0; a < count; ++a) {
    for (int64_t b = 0; b <= a; ++b) {
      double product = 0;
      for (int64_t i = 0; i < length; ++i) product += at(a, i) * at(b, i);
      ASSERT_NEAR(product, a == b ? gain * gain : 0, tolerance) << a << ", " << b;
    }
  }
}

TEST(InitializersTest, OrthogonalRowsOrColumns) {
  ExpectOrthogonal(Orthogonal({5, 9}), 1, 1e-14);
  ExpectOrthogonal(Orthogonal({40, 7}), 1, 1e-14);
  ExpectOrthogonal(Orthogonal({30, 30}), 1, 1e-12);
  ExpectOrthogonal(Orthogonal({16, 4, 3, 3}, DType::kF32, 1.5), 1.5, 1e-5);
  ExpectOrthogonal(Orthogonal({150, 400}), 1, 1e-12);
  EXPECT_NE(Orthogonal({5, 9}), Orthogonal({9, 5}));
  EXPECT_EQ(Orthogonal({150, 400}), Orthogonal({150, 400}));
}

// R has a positive diagonal: the first vector is the first normal one, made a unit vector.
TEST(InitializersTest, OrthogonalStartsWithItsNormalNumbers) {
  const HostTensor rows = Orthogonal({3, 4});
  const uint64_t key = RandomKey(7, "a.weight");
  double squares = 0;
  for (uint64_t i = 0; i < 4; ++i) squares += std::pow(RandomNormal(key, 0, i), 2);
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(rows.At(i), RandomNormal(key, 0, static_cast<uint64_t>(i)) / std::sqrt(squares),
                1e-15);
  }
}

std::string FileError(const std::string& path, const std::string& tensor, Shape shape) {
  ParameterInfo info;
  info.init = "file";
  info.init_file = path;
  info.init_tensor = tensor;
  try {
    ReadInitialFile(info, {DType::kF32, std::move(shape)});
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(InitializersTest, Files) {
  const std::string folder = testing::TempDir() + "/initial_files/";
  std::filesystem::create_directories(folder);
  const HostTensor six = HostTensor::Of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  WriteNpy(folder + "w.npy", six);
  WriteNpy(folder + "f64.npy", HostTensor::Of<double>({2}, {0.1, 1e300}));
  WriteNpy(folder + "i32.npy", HostTensor::Of<int32_t>({2}, {1, 2}));
  SafetensorsWriter writer({{"fc.weight", DType::kF32, {2, 3}}});
  const std::span<const std::byte> bytes = six.bytes();
  writer.Write(folder + "w.safetensors", {&bytes, 1});
  ParameterInfo info;
  info.init = "file";
  info.init_file = folder + "w.npy";
  EXPECT_EQ(InitialValue("x", {DType::kF32, {2, 3}}, info, 1), six);
  info.init_file = folder + "w.safetensors";
  info.init_tensor = "fc.weight";
  EXPECT_EQ(InitialValue("x", {DType::kF32, {2, 3}}, info, 1), six);
  info.init_file = folder + "f64.npy";
  info.init_tensor = "";
  EXPECT_EQ(InitialValue("x", {DType::kF32, {2}}, info, 1).At(0), static_cast<double>(0.1F));
  EXPECT_NE(FileError(folder + "w.npy", "", {3, 2}).find("holds f32[2, 3]"), std::string::npos);
  EXPECT_NE(FileError(folder + "i32.npy", "", {2}).find("holds int32[2]"), std::string::npos);
  EXPECT_NE(FileError(folder + "none.npy", "", {2}), "");
  EXPECT_NE(FileError(folder + "w.npy", "x", {2}).find("goes with a .safetensors"),
            std::string::npos);
  EXPECT_NE(FileError(folder + "w.safetensors", "", {2}).find("needs the 'name'"),
            std::string::npos);
  EXPECT_NE(FileError(folder + "w.safetensors", "fc.bias", {2}).find("no tensor 'fc.bias'"),
            std::string::npos);
}

}  // namespace
}  // namespace cgrun
