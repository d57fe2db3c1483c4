// Tests the hash of data: the same samples give the same hash, and other samples another one.
#include "src/model_data/data_hash.h"

#include <gtest/gtest.h>

#include <cstring>

namespace cgrun {
namespace {

// Samples of `elements` integers, each the sample's number, but for one.
class Numbers : public Dataset {
 public:
  Numbers(int64_t size, int64_t elements, int64_t odd = -1)
      : size_(size), odd_(odd), fields_{{"x", DType::kI64, {elements}}} {}

  int64_t size() const override { return size_; }
  const std::vector<DataField>& fields() const override { return fields_; }
  int64_t decoded_bytes() const override { return 0; }
  void Read(int64_t index, std::span<const std::span<std::byte>> out) const override {
    const int64_t value = index == odd_ ? -1 : index;
    for (size_t i = 0; i < out[0].size(); i += sizeof(value)) {
      std::memcpy(&out[0][i], &value, sizeof(value));
    }
  }

 private:
  int64_t size_, odd_;
  std::vector<DataField> fields_;
};

TEST(DataHash, IsOfTheSamples) {
  EXPECT_EQ(HashOf(Numbers(100, 3)), HashOf(Numbers(100, 3)));
  EXPECT_NE(HashOf(Numbers(100, 3)), HashOf(Numbers(101, 3))) << "one more";
  EXPECT_NE(HashOf(Numbers(100, 3)), HashOf(Numbers(100, 4))) << "other samples";
}

TEST(DataHash, IsOfEachSampleOfASmallSet) {
  for (const int64_t odd : {0, 1, 128, 255}) {
    EXPECT_NE(HashOf(Numbers(256, 1)), HashOf(Numbers(256, 1, odd))) << odd;
  }
}

// If samples are large, eight of them are read, all over the set.
TEST(DataHash, ReadsFewOfLargeSamples) {
  constexpr int64_t kLarge = 1000;
  EXPECT_NE(HashOf(Numbers(80, kLarge)), HashOf(Numbers(80, kLarge, 70)));
  EXPECT_EQ(HashOf(Numbers(80, kLarge)), HashOf(Numbers(80, kLarge, 71)));
}

}  // namespace
}  // namespace cgrun
