// What of a text a terminal shows.
#include "src/base/printable.h"

#include <gtest/gtest.h>

namespace cgrun {
namespace {

TEST(PrintableText, KeepsWhatIsText) {
  for (const char* text : {"", "a,b\t1", "größe 中 🙂"}) EXPECT_EQ(PrintableText(text), text);
}

TEST(PrintableText, HidesControlsAndWhatIsNoUtf8) {
  EXPECT_EQ(PrintableText("a\x1B[2Jb\x7F"), "a?[2Jb?");
  EXPECT_EQ(PrintableText("\xC2\x9B"
                          "2J \xC2\xA9"),
            "??2J \xC2\xA9");
  EXPECT_EQ(PrintableText("caf\xE9, \x89PNG"), "caf?, ?PNG");
  EXPECT_EQ(PrintableText("\xC3"), "?") << "cut within a character";
  EXPECT_EQ(PrintableText("\xE2\x82z\xA9"), "??z?");
  EXPECT_EQ(PrintableText("\xFF\xC0\xAF"), "???");
}

}  // namespace
}  // namespace cgrun
