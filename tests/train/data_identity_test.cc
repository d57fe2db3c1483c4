// Training data are known again: by all samples that are at hand, or by files and labels.
#include "src/train/data_identity.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

namespace cgrun {
namespace {

// Samples of a number and a label; `odd` is the sample whose label is another one.
class Labelled : public Dataset {
 public:
  Labelled(int64_t size, bool at_hand, int64_t odd = -1, std::string file = "")
      : size_(size), at_hand_(at_hand), odd_(odd), file_(std::move(file)) {}

  int64_t size() const override { return size_; }
  const std::vector<DataField>& fields() const override { return fields_; }
  int64_t decoded_bytes() const override { return 8 * size_; }
  bool AtHand() const override { return at_hand_; }
  void Read(int64_t index, std::span<const std::span<std::byte>> out) const override {
    EXPECT_TRUE(at_hand_) << "nothing is decoded";
    const auto number = static_cast<float>(index);
    const int32_t label = index == odd_;
    std::memcpy(out[0].data(), &number, sizeof(number));
    std::memcpy(out[1].data(), &label, sizeof(label));
  }
  void Visit(size_t index, IntegerVisitor& visitor) const override {
    for (int64_t i = 0; i < size_ && index == 1; ++i) visitor.Visit(i == odd_, i);
  }
  void VisitFiles(FileVisitor& visitor) const override {
    if (!file_.empty()) visitor.Visit(file_);
  }

 private:
  int64_t size_;
  bool at_hand_;
  int64_t odd_;
  std::string file_;
  std::vector<DataField> fields_ = {{"x", DType::kF32, {}}, {"label", DType::kI32, {}}};
};

std::string Difference(const Dataset& before, const Dataset& now) {
  const auto kept = ReadIdentity(IdentityMetadata(IdentityOf(before)));
  return kept ? DifferenceOf(*kept, IdentityOf(now)) : "nothing was kept";
}

constexpr char kOthers[] = "as many samples, but others, or with other labels";

TEST(DataIdentity, IsOfEachLabel) {
  for (const bool at_hand : {false, true}) {
    EXPECT_EQ(Difference(Labelled(5000, at_hand), Labelled(5000, at_hand)), "");
    EXPECT_EQ(Difference(Labelled(5000, at_hand), Labelled(5000, at_hand, 4321)), kOthers);
  }
}

TEST(DataIdentity, CountsSamples) {
  EXPECT_EQ(Difference(Labelled(400, true), Labelled(222, true)), "222 samples are left, of 400");
  EXPECT_EQ(Difference(Labelled(400, true), Labelled(401, true)),
            "401 samples are there now, and 400 were then");
  EXPECT_EQ(Difference(Labelled(400, true), Labelled(400, false)), "") << "that is not known";
}

TEST(DataIdentity, IsOfNamesAndSizesOfFiles) {
  const std::string folder = testing::TempDir() + "data_identity_test.";
  const auto write = [&](const std::string& name, std::string_view bytes) {
    std::ofstream(folder + name) << bytes;
    return folder + name;
  };
  const std::string a = write("a.png", "123"), b = write("b.png", "123");
  const Labelled before(1, false, -1, a);
  const DataIdentity kept = IdentityOf(before);
  EXPECT_EQ(DifferenceOf(kept, IdentityOf(Labelled(1, false, -1, b))), kOthers);
  EXPECT_EQ(DifferenceOf(kept, IdentityOf(before)), "");
  write("a.png", "1234");
  EXPECT_EQ(DifferenceOf(kept, IdentityOf(before)), kOthers);
}

TEST(DataIdentity, IsNotInOlderWeights) {
  EXPECT_FALSE(ReadIdentity({}));
  EXPECT_FALSE(ReadIdentity({{"data.samples", "many"}}));
}

}  // namespace
}  // namespace cgrun
