// dropout as a random operator: how much is dropped, and what the choice depends on.
#include "src/ops/dropout.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

#include "src/base/random.h"
#include "src/kernels/kernel.h"

namespace cgrun {
namespace {

// [y, mask] of ones.
std::vector<HostTensor> Dropped(double rate, int64_t key, int64_t step, int64_t elements) {
  NodeSignature node{OpId::dropout,
                     Attributes::Of(DropoutAttributes{rate, key, true}),
                     {{DType::kF32, {elements}}, {DType::kI64, {}}},
                     {{DType::kF32, {elements}}, {DType::kU8, {elements}}},
                     {}};
  HostTensor x(DType::kF32, {elements});
  for (float& value : x.data<float>()) value = 1;
  const std::vector<HostTensor> inputs = {x, HostTensor::Scalar<int64_t>(step)};
  return FindKernelLibrary("reference")->Evaluate(node, inputs).value();
}

TEST(DropoutTest, DropsTheRateAndKeepsTheMean) {
  constexpr int64_t kElements = 100000;
  for (double rate : {0.1, 0.5, 0.9}) {
    const auto outputs = Dropped(rate, 1, 2, kElements);
    int64_t kept = 0;
    for (uint8_t bit : outputs[1].data<uint8_t>()) kept += bit;
    const double deviation = std::sqrt(rate * (1 - rate) / kElements);
    const double share = static_cast<double>(kept) / kElements;
    EXPECT_NEAR(share, 1 - rate, 5 * deviation) << rate;
    double sum = 0;
    for (float value : outputs[0].data<float>()) sum += static_cast<double>(value);
    EXPECT_NEAR(sum / kElements, share / (1 - rate), 1e-5) << rate;
  }
}

TEST(DropoutTest, DependsOnKeyAndStep) {
  const auto mask = [](int64_t key, int64_t step) { return Dropped(0.5, key, step, 64)[1]; };
  EXPECT_EQ(mask(1, 0), mask(1, 0));
  EXPECT_NE(mask(1, 0), mask(1, 1));
  EXPECT_NE(mask(1, 0), mask(2, 0));
}

// Whatever the number of elements, each takes its own word of the stream.
TEST(DropoutTest, ElementsTakeTheirOwnRandomBits) {
  rc::check([] {
    const int64_t elements = *rc::gen::inRange<int64_t>(1, 40);
    const int64_t key = *rc::gen::arbitrary<int64_t>();
    const int64_t step = *rc::gen::inRange<int64_t>(0, 1000);
    const double rate = *rc::gen::inRange(0, 100) / 100.0;
    const HostTensor mask = Dropped(rate, key, step, elements)[1];
    for (int64_t i = 0; i < elements; ++i) {
      const uint32_t bits = RandomBits(static_cast<uint64_t>(key), static_cast<uint64_t>(step),
                                       static_cast<uint64_t>(i));
      RC_ASSERT((mask.At(i) == 1) == (static_cast<double>(UniformFloat(bits)) >= rate));
    }
  });
}

}  // namespace
}  // namespace cgrun
