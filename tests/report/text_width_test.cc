// Texts cut to a width, at either end, in whole characters.
#include "src/report/text_width.h"

#include <gtest/gtest.h>

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
  EXPECT_EQ(ShortenBeginning("conv1", TextWidth("conv1", kFont), kFont), "conv1");
}

TEST(TextWidth, LongNamesAreCutToTheirRoom) {
  const std::string name = "classify.bottleneck[12].conv_norm[0].conv.dweight";
  for (double room = 15; room < TextWidth(name, kBold); room += 7) {
    const std::string end = ShortenEnd(name, room, kBold);
    const std::string beginning = ShortenBeginning(name, room, kBold);
    for (const std::string& cut : {end, beginning}) {
      EXPECT_LE(TextWidth(cut, kBold), room);
      EXPECT_GT(TextWidth(cut, kBold), room - 18) << "a wide character and a dot more would fit";
    }
    EXPECT_TRUE(end.ends_with("…") && name.starts_with(end.substr(0, end.size() - 3))) << end;
    EXPECT_TRUE(beginning.starts_with("…") && name.ends_with(beginning.substr(3))) << beginning;
  }
}

TEST(TextWidth, CharactersStayWhole) {
  EXPECT_EQ(ShortenEnd("ééé", 25, kFont), "é…");
  EXPECT_EQ(ShortenBeginning("ééé", 25, kFont), "…é");
  EXPECT_EQ(ShortenEnd("ééé", 0, kFont), "…");
  EXPECT_EQ(ShortenBeginning("ééé", 0, kFont), "…");
}

}  // namespace
}  // namespace cgrun
