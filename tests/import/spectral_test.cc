// Compares transforms with the sums that define them.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <map>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "src/onnx/write.h"
#include "tests/import/imported_model.h"
#include "tests/import/model_parts.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

using Complex = std::complex<double>;

class SpectralTest : public testing::Test {
 protected:
  // Imports a graph of one node that reads "x", and runs it.
  HostTensor Run(onnx::Node node, const Shape& shape, const Floats& x,
                 std::vector<onnx::Tensor> constants = {}, int64_t opset = 17) {
    onnx::Graph graph;
    std::vector<int64_t> sizes = {0};
    for (int axis = 1; axis < shape.rank(); ++axis) sizes.push_back(shape[axis].size);
    graph.inputs = {ValueOf("x", sizes)};
    onnx::ValueInfo output;
    output.name = "y";
    graph.outputs = {std::move(output)};
    graph.initializers = std::move(constants);
    graph.nodes = {std::move(node)};
    onnx::Model model = ModelOf(std::move(graph));
    model.opset_imports[0].version = opset;
    const std::string path = folder_.path() + "/m.onnx";
    onnx::WriteModel(path, model);
    onnx::OnnxFile file(path);
    const ImportedModel imported = ImportOnnx(file, {});
    return Predict(imported, file, {{"x", HostTensor::Of(shape, x)}}, shape[0].size).at(0);
  }

  TempFolder folder_;
};

// Bin `k` of a transform of `length` samples, as its definition has it.
Complex Bin(const std::vector<Complex>& samples, int64_t length, int64_t k, bool inverse = false) {
  Complex sum = 0;
  for (size_t t = 0; t < samples.size() && static_cast<int64_t>(t) < length; ++t) {
    const double turn =
        static_cast<double>(k) * static_cast<double>(t) / static_cast<double>(length);
    sum += samples[t] * std::polar(1.0, (inverse ? 2 : -2) * std::numbers::pi * turn);
  }
  return inverse ? sum / static_cast<double>(length) : sum;
}

void ExpectComplex(const HostTensor& y, int64_t at, const Complex& wanted) {
  EXPECT_NEAR(y.At(at), wanted.real(), 1e-5) << at;
  EXPECT_NEAR(y.At(at + 1), wanted.imag(), 1e-5) << at;
}

TEST_F(SpectralTest, RealNumbersHaveHalfOfTheBins) {
  const Floats x = Numbers(2 * 9);
  const HostTensor y =
      Run(NodeOf("DFT", {"x"}, "y", {Int("axis", 1), Int("onesided", 1)}), Shape{2, 9, 1}, x);
  ASSERT_EQ(y.shape(), (Shape{2, 5, 2}));
  for (int64_t n = 0; n < 2; ++n) {
    const std::vector<Complex> samples(x.begin() + n * 9, x.begin() + (n + 1) * 9);
    for (int64_t k = 0; k < 5; ++k) ExpectComplex(y, (n * 5 + k) * 2, Bin(samples, 9, k));
  }
}

TEST_F(SpectralTest, AnAxisThatIsNotTheLastIsTransformed) {
  const Floats x = Numbers(4 * 3 * 2);
  const HostTensor y = Run(NodeOf("DFT", {"x", "", "axis"}, "y", {Int("inverse", 1)}),
                           Shape{1, 4, 3, 2}, x, {IntegersOf("axis", {1}, true)}, 20);
  ASSERT_EQ(y.shape(), (Shape{1, 4, 3, 2}));
  for (int64_t column = 0; column < 3; ++column) {
    std::vector<Complex> samples;
    for (int64_t t = 0; t < 4; ++t) {
      const auto at = static_cast<size_t>((t * 3 + column) * 2);
      samples.emplace_back(x[at], x[at + 1]);
    }
    for (int64_t k = 0; k < 4; ++k) {
      ExpectComplex(y, (k * 3 + column) * 2, Bin(samples, 4, k, /*inverse=*/true));
    }
  }
}

// A transform of real samples and back.
TEST_F(SpectralTest, HalfOfTheBinsGiveRealSamples) {
  for (const int64_t length : {8, 9}) {
    const Floats x = Numbers(static_cast<size_t>(length));
    const std::vector<Complex> samples(x.begin(), x.end());
    Floats bins;
    for (int64_t k = 0; k <= length / 2; ++k) {
      bins.push_back(static_cast<float>(Bin(samples, length, k).real()));
      bins.push_back(static_cast<float>(Bin(samples, length, k).imag()));
    }
    const HostTensor y =
        Run(NodeOf("DFT", {"x", "length"}, "y", {Int("inverse", 1), Int("onesided", 1)}),
            Shape{1, length / 2 + 1, 2}, bins, {IntegersOf("length", {length}, true)});
    ASSERT_EQ(y.shape(), (Shape{1, length, 1}));
    for (int64_t t = 0; t < length; ++t) EXPECT_NEAR(y.At(t), x[static_cast<size_t>(t)], 1e-6) << t;
  }
}

TEST_F(SpectralTest, SamplesAreCutOrFollowedByZeros) {
  for (const int64_t length : {4, 11}) {
    const Floats x = Numbers(7);
    const HostTensor y = Run(NodeOf("DFT", {"x", "length"}, "y"), Shape{1, 7, 1}, x,
                             {IntegersOf("length", {length}, true)});
    ASSERT_EQ(y.shape(), (Shape{1, length, 2}));
    const std::vector<Complex> samples(x.begin(), x.end());
    for (int64_t k = 0; k < length; ++k) ExpectComplex(y, 2 * k, Bin(samples, length, k));
  }
}

TEST_F(SpectralTest, FramesOfASignalAreWeighedByTheWindow) {
  const Floats x = Numbers(2 * 20), window = {0.5F, 1, 1, 0.25F, 0.5F, -1};
  const HostTensor y = Run(NodeOf("STFT", {"x", "step", "window"}, "y"), Shape{2, 20, 1}, x,
                           {IntegersOf("step", {3}, true), FloatsOf("window", {6}, window)});
  ASSERT_EQ(y.shape(), (Shape{2, 5, 4, 2}));
  for (int64_t n = 0; n < 2; ++n) {
    for (int64_t frame = 0; frame < 5; ++frame) {
      std::vector<Complex> samples;
      for (size_t t = 0; t < window.size(); ++t) {
        samples.emplace_back(x[static_cast<size_t>(n * 20 + frame * 3) + t] * window[t]);
      }
      for (int64_t k = 0; k < 4; ++k) {
        ExpectComplex(y, ((n * 5 + frame) * 4 + k) * 2, Bin(samples, 6, k));
      }
    }
  }
}

TEST_F(SpectralTest, TransformsThatAreNotSupportedSayWhy) {
  const auto refusal = [&](onnx::Node node, const Shape& shape,
                           std::vector<onnx::Tensor> constants) -> std::string {
    try {
      Run(std::move(node), shape, Numbers(static_cast<size_t>(shape.Elements())),
          std::move(constants));
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refusal(NodeOf("DFT", {"x"}, "y", {Int("onesided", 1)}), Shape{1, 4, 2}, {})
                .find("attribute 'onesided' is for real numbers"),
            std::string::npos);
  EXPECT_NE(refusal(NodeOf("DFT", {"x", "length"}, "y"), Shape{1, 4, 1},
                    {IntegersOf("length", {1 << 23}, true)})
                .find("would need a matrix of 16777216 × 4 numbers"),
            std::string::npos);
  EXPECT_NE(
      refusal(NodeOf("STFT", {"x", "step"}, "y"), Shape{1, 4, 1}, {IntegersOf("step", {1}, true)})
          .find("has neither a window nor a frame length"),
      std::string::npos);
  EXPECT_NE(refusal(NodeOf("STFT", {"x", "step", "", "length"}, "y"), Shape{1, 4, 2},
                    {IntegersOf("step", {1}, true), IntegersOf("length", {2}, true)})
                .find("only real signals are supported"),
            std::string::npos);
}

}  // namespace
}  // namespace cgrun
