// Streams against their numbers one by one.
#include "src/base/random_stream.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "src/base/random.h"

namespace cgrun {
namespace {

TEST(RandomStreamTest, BitsAreThoseOneByOne) {
  for (const uint64_t first : {uint64_t{0}, uint64_t{4}, uint64_t{1} << 34}) {
    for (const size_t count : {1u, 3u, 255u, 256u, 1000u}) {
      std::vector<uint32_t> bits(count);
      RandomBitsFrom(77, 5, first, bits);
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(bits[i], RandomBits(77, 5, first + i)) << i;
    }
  }
}

TEST(RandomStreamTest, NormalsAreNear) {
  for (const uint64_t first : {uint64_t{0}, uint64_t{8}, uint64_t{1} << 35}) {
    for (const size_t count : {1u, 2u, 127u, 300'000u}) {
      std::vector<double> normals(count);
      NearNormalsFrom(3, 2, first, normals);
      for (size_t i = 0; i < count; ++i) {
        ASSERT_LT(std::abs(normals[i] - RandomNormal(3, 2, first + i)), kNormalError) << i;
      }
    }
  }
}

}  // namespace
}  // namespace cgrun
