// Texts cut to a width, at either end, in whole characters.
#include "src/report/text_width.h"

#include <gtest/gtest.h>

#include <set>

namespace cgrun {
namespace {

constexpr Font kFont{10, false}, kBold{10, true};

TEST(TextWidth, IsThatOfItsCharacters) {
  EXPECT_EQ(TextWidth("", kFont), 0);
  EXPECT_NEAR(TextWidth("m", kFont), 9.74, 1e-9);
  EXPECT_NEAR(TextWidth("i", kFont), 2.78, 1e-9);
  EXPECT_NEAR(TextWidth("mi", kFont), 9.74 + 2.78, 1e-9);
  EXPECT_GT(TextWidth("conv", kBold), TextWidth("conv", kFont));
  EXPECT_EQ(TextWidth("é", kFont), TextWidth("…", kFont));
}

TEST(TextWidth, NamesThatFitStay) {
  EXPECT_EQ(ShortenEnd("conv1", TextWidth("conv1", kFont), kFont), "conv1");
  EXPECT_EQ(ShortenMiddle("conv1", TextWidth("conv1", kFont), kFont), "conv1");
  EXPECT_EQ(ShortenName("p.conv1", TextWidth("p.conv1", kFont), kFont), "p.conv1");
}

TEST(TextWidth, LongNamesAreCutToTheirRoom) {
  const std::string name = "classify.bottleneck[12].conv_norm[0].conv.dweight";
  for (double room = 15; room < TextWidth(name, kBold); room += 7) {
    const std::string end = ShortenEnd(name, room, kBold);
    const std::string middle = ShortenMiddle(name, room, kBold);
    for (const std::string& cut : {end, middle}) {
      EXPECT_LE(TextWidth(cut, kBold), room);
      EXPECT_GT(TextWidth(cut, kBold), room - 22) << "a wide character and a dot more would fit";
    }
    EXPECT_TRUE(end.ends_with("…") && name.starts_with(end.substr(0, end.size() - 3))) << end;
    const size_t at = middle.find("…");
    ASSERT_NE(at, middle.npos);
    EXPECT_TRUE(name.starts_with(middle.substr(0, at))) << middle;
    EXPECT_TRUE(name.ends_with(middle.substr(at + 3))) << middle;
  }
}

// Those of an operator's updates and of different layers: each shares its end or its beginning with
// others.
TEST(TextWidth, NamesThatAreCutStillDiffer) {
  const double room = 110;
  std::set<std::string> cut;
  for (const char* name :
       {"conv_norm[0].scale.adamw", "conv_norm[1].scale.adamw", "linear[0].weight.adamw_step",
        "conv[0] + relu + max_pool", "conv[1] + relu + max_pool", "conv_norm[0].scale.dweight"}) {
    ASSERT_GT(TextWidth(name, kBold), room);
    cut.insert(ShortenMiddle(name, room, kBold));
  }
  EXPECT_EQ(cut.size(), 6u) << testing::PrintToString(cut);
}

TEST(TextWidth, ThePathOfANameGoesFirst) {
  const double room = TextWidth("conv2.workspace", kFont);
  EXPECT_EQ(ShortenName("classify.conv2.workspace", room, kFont), "conv2.workspace");
  const std::string cut = ShortenName("classify.conv2.workspace", room - 20, kFont);
  EXPECT_TRUE(cut.starts_with("conv2") && cut.ends_with("ce")) << cut;
}

TEST(TextWidth, CharactersStayWhole) {
  EXPECT_EQ(ShortenEnd("ééé", 25, kFont), "é…");
  EXPECT_EQ(ShortenMiddle("ééé", 25, kFont), "…é");
  EXPECT_EQ(ShortenMiddle("éééé", 35, kFont), "é…é");
  EXPECT_EQ(ShortenEnd("ééé", 0, kFont), "…");
  EXPECT_EQ(ShortenMiddle("ééé", 0, kFont), "…");
}

}  // namespace
}  // namespace cgrun
