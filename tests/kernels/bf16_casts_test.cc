// Casts between f32 and bf16 on every device of the host: all numbers of bf16, what lies between
// them, ties and NaN.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "src/kernels/kernel.h"
#include "src/ops/cast.h"

namespace cgrun {
namespace {

constexpr const char* kDevices[] = {"reference", "blas", "cpu"};

HostTensor Cast(const KernelLibrary& library, const HostTensor& x, DType to) {
  const NodeSignature node{OpId::cast,
                           Attributes::Of(CastAttributes{to}),
                           {{x.dtype(), x.shape()}},
                           {{to, x.shape()}},
                           {}};
  auto outputs = library.Evaluate(node, std::vector{x});
  EXPECT_TRUE(outputs.has_value()) << library.name();
  return std::move(outputs->at(0));
}

uint32_t BitsOf(float value) { return std::bit_cast<uint32_t>(value); }

TEST(BF16Casts, WidenEveryNumberAsItIs) {
  HostTensor x(DType::kBF16, {1 << 16});
  for (int64_t i = 0; i < x.elements(); ++i) x.data<BFloat16>()[i].bits = static_cast<uint16_t>(i);
  for (const char* device : kDevices) {
    const KernelLibrary* library = FindKernelLibrary(device);
    if (library == nullptr) continue;
    const HostTensor y = Cast(*library, x, DType::kF32);
    for (int64_t i = 0; i < x.elements(); ++i) {
      const float number = y.data<float>()[i];
      const auto bits = static_cast<uint32_t>(i) << 16;
      if (std::isnan(std::bit_cast<float>(bits))) {
        ASSERT_TRUE(std::isnan(number)) << device << " " << i;
      } else {
        ASSERT_EQ(BitsOf(number), bits) << device;
      }
    }
  }
}

// The inputs are each number, the tie above it, and the nearest numbers on either side of that.
TEST(BF16Casts, RoundToNearestAndTiesToEven) {
  constexpr uint32_t kPlaces[] = {0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF};
  HostTensor x(DType::kF32, {6 << 16});
  for (uint32_t i = 0; i <= 0xFFFF; ++i) {
    for (uint32_t k = 0; k < 6; ++k) {
      x.data<float>()[6 * i + k] = std::bit_cast<float>((i << 16) + kPlaces[k]);
    }
  }
  for (const char* device : kDevices) {
    const KernelLibrary* library = FindKernelLibrary(device);
    if (library == nullptr) continue;
    const HostTensor y = Cast(*library, x, DType::kBF16);
    for (int64_t i = 0; i < x.elements(); ++i) {
      const float from = x.data<float>()[i];
      const BFloat16 to = y.data<BFloat16>()[i];
      if (std::isnan(from)) {
        ASSERT_TRUE(std::isnan(static_cast<float>(to))) << device << " " << BitsOf(from);
      } else {
        ASSERT_EQ(to.bits, BFloat16(from).bits) << device << " " << BitsOf(from);
      }
    }
  }
}

}  // namespace
}  // namespace cgrun
