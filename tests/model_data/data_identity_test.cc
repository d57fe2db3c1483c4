// Training data are known again: by all samples that are at hand, or by files and labels.
#include "src/model_data/data_identity.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

namespace cgrun {
namespace {

// Samples of a number and a label; `odd` is the sample whose label is another one. The numbers are
// `scale` times the sample's.
class Labelled : public Dataset {
 public:
  Labelled(int64_t size, bool at_hand, int64_t odd = -1, std::string file = "", float scale = 1)
      : size_(size), at_hand_(at_hand), odd_(odd), file_(std::move(file)), scale_(scale) {}

  int64_t size() const override { return size_; }
  const std::vector<DataField>& fields() const override { return fields_; }
  int64_t decoded_bytes() const override { return 8 * size_; }
  bool AtHand(size_t index) const override { return at_hand_ || index == 1; }
  void Read(int64_t index, std::span<const std::span<std::byte>> out) const override {
    EXPECT_TRUE(at_hand_) << "nothing is decoded";
    const float number = scale_ * static_cast<float>(index);
    const int32_t label = index == odd_;
    std::memcpy(out[0].data(), &number, sizeof(number));
    std::memcpy(out[1].data(), &label, sizeof(label));
  }
  void ReadField(size_t index, int64_t first, std::span<std::byte> out) const override {
    if (index != 1) return Dataset::ReadField(index, first, out);
    for (; !out.empty(); out = out.subspan(sizeof(int32_t))) {
      const int32_t label = first++ == odd_;
      std::memcpy(out.data(), &label, sizeof(label));
    }
  }
  SamplePlace PlaceOf(size_t, int64_t sample, std::optional<int64_t>) const override {
    return {sample, file_, {}, /*own=*/!file_.empty() && sample == 0};
  }

 private:
  int64_t size_;
  bool at_hand_;
  int64_t odd_;
  std::string file_;
  float scale_;
  std::vector<DataField> fields_ = {{"x", DType::kF32, {}}, {"label", DType::kI32, {}}};
};

std::string Difference(const Dataset& before, const Dataset& now) {
  const auto kept = ReadIdentity(IdentityMetadata(IdentityOf(before)));
  if (!kept) return "nothing was kept";
  const DataDifference difference = DifferenceOf(*kept, IdentityOf(now));
  return (difference.is_certain ? "certain: " : "") + difference.text;
}

constexpr char kOthers[] = "as many samples with the same labels, but others";
constexpr char kOtherLabels[] = "certain: as many samples, but with other labels";

TEST(DataIdentity, IsOfEachLabel) {
  for (const bool at_hand : {false, true}) {
    EXPECT_EQ(Difference(Labelled(5000, at_hand), Labelled(5000, at_hand)), "");
    EXPECT_EQ(Difference(Labelled(5000, at_hand), Labelled(5000, at_hand, 4321)), kOtherLabels);
    EXPECT_EQ(Difference(Labelled(5000, at_hand), Labelled(5000, !at_hand)), "");
    EXPECT_EQ(Difference(Labelled(5000, at_hand), Labelled(5000, !at_hand, 4321)), kOtherLabels)
        << "however they are decoded";
  }
}

TEST(DataIdentity, SamplesAloneMayBeDecodedOtherwise) {
  const Labelled before(50, true), now(50, true, -1, "", 1 + 0x1p-23F);
  EXPECT_EQ(Difference(before, now), kOthers);
  DataIdentity kept = IdentityOf(before);
  kept.of_labels.clear();  // as earlier versions kept it
  const DataDifference difference = DifferenceOf(kept, IdentityOf(now));
  EXPECT_EQ(difference.text, "as many samples, but others, or with other labels");
  EXPECT_FALSE(difference.is_certain);
}

TEST(DataIdentity, CountsSamples) {
  EXPECT_EQ(Difference(Labelled(400, true), Labelled(222, true)),
            "certain: 222 samples are left, of 400");
  EXPECT_EQ(Difference(Labelled(400, true), Labelled(401, true)),
            "certain: 401 samples are there now, and 400 were then");
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
  EXPECT_EQ(DifferenceOf(kept, IdentityOf(Labelled(1, false, -1, b))).text, kOthers);
  EXPECT_EQ(DifferenceOf(kept, IdentityOf(before)).text, "");
  write("a.png", "1234");
  EXPECT_EQ(DifferenceOf(kept, IdentityOf(before)).text, kOthers);
}

TEST(DataIdentity, IsNotInOlderWeights) {
  EXPECT_FALSE(ReadIdentity({}));
  EXPECT_FALSE(ReadIdentity({{"data.samples", "many"}}));
}

}  // namespace
}  // namespace cgrun
