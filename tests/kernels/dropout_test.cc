// dropout as a random operator: how much is dropped, and what the choice depends on.
#include "src/ops/dropout.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

#include "src/base/random.h"
#include "src/kernels/kernel.h"

namespace cgrun {
namespace {

// Returns the result of dropout on ones.
HostTensor Dropped(double rate, int64_t key, int64_t step, int64_t elements) {
  NodeSignature node{OpId::dropout,
                     Attributes::Of(DropoutAttributes{rate, key, true}),
                     {{DType::kF32, {elements}}, {DType::kI64, {}}},
                     {{DType::kF32, {elements}}},
                     {}};
  HostTensor x(DType::kF32, {elements});
  for (float& value : x.data<float>()) value = 1;
  const std::vector<HostTensor> inputs = {x, HostTensor::Scalar<int64_t>(step)};
  return FindKernelLibrary("reference")->Evaluate(node, inputs).value()[0];
}

TEST(DropoutTest, DropsTheRateAndKeepsTheMean) {
  constexpr int64_t kElements = 100000;
  for (double rate : {0.1, 0.5, 0.9}) {
    const HostTensor y = Dropped(rate, 1, 2, kElements);
    int64_t kept = 0;
    for (float value : y.data<float>()) kept += value != 0;
    const double deviation = std::sqrt(rate * (1 - rate) / kElements);
    const double share = static_cast<double>(kept) / kElements;
    EXPECT_NEAR(share, 1 - rate, 5 * deviation) << rate;
    double sum = 0;
    for (float value : y.data<float>()) sum += static_cast<double>(value);
    EXPECT_NEAR(sum / kElements, share / (1 - rate), 1e-5) << rate;
  }
}

TEST(DropoutTest, DependsOnKeyAndStep) {
  const auto y = [](int64_t key, int64_t step) { return Dropped(0.5, key, step, 64); };
  EXPECT_EQ(y(1, 0), y(1, 0));
  EXPECT_NE(y(1, 0), y(1, 1));
  EXPECT_NE(y(1, 0), y(2, 0));
}

// Each element takes its own word of the stream, whatever the number of elements.
TEST(DropoutTest, ElementsTakeTheirOwnRandomBits) {
  rc::check([] {
    const int64_t elements = *rc::gen::inRange<int64_t>(1, 40);
    const int64_t key = *rc::gen::arbitrary<int64_t>();
    const int64_t step = *rc::gen::inRange<int64_t>(0, 1000);
    const double rate = *rc::gen::inRange(0, 100) / 100.0;
    const HostTensor y = Dropped(rate, key, step, elements);
    for (int64_t i = 0; i < elements; ++i) {
      const uint32_t bits = RandomBits(static_cast<uint64_t>(key), static_cast<uint64_t>(step),
                                       static_cast<uint64_t>(i));
      RC_ASSERT((y.At(i) != 0) == (static_cast<double>(UniformFloat(bits)) >= rate));
    }
  });
}

}  // namespace
}  // namespace cgrun
