// Tests which characters of a text a terminal shows, and the names of paths.
#include "src/base/printable.h"

#include <gtest/gtest.h>

#include <filesystem>

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

TEST(PrintableText, HidesWhatChangesTheDirectionOfAText) {
  for (const char* control : {"\u200E", "\u200F", "\u202A", "\u202B", "\u202C", "\u202D", "\u202E",
                              "\u2066", "\u2067", "\u2068", "\u2069"}) {
    EXPECT_EQ(PrintableText(std::string("a") + control + "b"), "a???b") << control;
  }
  EXPECT_EQ(PrintableText("a\u061Cb"), "a??b");
  for (const char* text : {"\u200B\u200C\u200D", "\u2010", "\u2029\u202F", "\u2065\u206A", "\u061B",
                           "\u061E", "שלום", "سلام"}) {
    EXPECT_EQ(PrintableText(text), text);
  }
}

TEST(PrintableText, TakesNoCharacterInALongerFormAndNoSurrogate) {
  EXPECT_EQ(PrintableText("\xE0\x80\xAF"), "???");
  EXPECT_EQ(PrintableText("\xED\xA0\x80"), "???");
  EXPECT_EQ(PrintableText("\xF4\x90\x80\x80"), "????");
  EXPECT_EQ(FindNoUtf8("a\xE0\x80\xAF"), 1u);
}

TEST(PrintableLines, KeepsLineEndsAlone) {
  EXPECT_EQ(PrintableLines("a\nb\r\x07\n\xFF"), "a\nb??\n?");
  EXPECT_EQ(PrintableBytes("a\tb\nc"), 3u);
  EXPECT_EQ(PrintableBytes("größe"), 7u);
  EXPECT_EQ(PrintableBytes("\x1B"), 0u);
}

TEST(FindNoUtf8, IsTheFirstByteOfNoCharacter) {
  for (const char* text : {"", "a\tb\x01", "größe 中 🙂", "\xC2\x9B"}) {
    EXPECT_EQ(FindNoUtf8(text), std::string_view::npos) << text;
  }
  EXPECT_EQ(FindNoUtf8("caf\xE9"), 3u);
  EXPECT_EQ(FindNoUtf8("\xC3\xA9t\xE9s"), 3u);
  EXPECT_EQ(FindNoUtf8("\x92s"), 0u);
  EXPECT_EQ(FindNoUtf8("ab\xC3"), 2u) << "cut within a character";
}

TEST(PathFrom, IsTheShortestFormFromTheFolder) {
  EXPECT_EQ(PathFrom("models", "../datasets/x.gz"), "datasets/x.gz");
  EXPECT_EQ(PathFrom("", "./x.gz"), "x.gz");
  EXPECT_EQ(PathFrom("/a/b", "../x.gz"), "/a/x.gz");
  EXPECT_EQ(PathFrom("a", "../../x"), "../x");
  EXPECT_EQ(PathFrom("models", "/data//x.gz"), "/data/x.gz");
  EXPECT_EQ(PathFrom("models", ".."), ".");
  EXPECT_EQ(PathFrom("photos", "."), "photos");
  EXPECT_EQ(PathFrom("", "photos/"), "photos/");
  EXPECT_EQ(PathFrom("", "/"), "/");
  EXPECT_EQ(PathFrom("models", ""), "");
}

TEST(PathFrom, GoesThroughLinksAsTheSystemDoes) {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(testing::TempDir()) / "path_from";
  fs::remove_all(root);
  fs::create_directories(root / "far/away");
  fs::create_directories(root / "here/folder");
  fs::create_directory_symlink(root / "far/away", root / "here/link");
  fs::create_directory_symlink(root / "here/folder", root / "here/near");
  const std::string link = (root / "here/link").string(), near = (root / "here/near").string();
  EXPECT_EQ(PathFrom(link, ".././x"), link + "/../x") << "which is far/x";
  EXPECT_EQ(PathFrom(near, "../x"), (root / "here/x").string());
}

}  // namespace
}  // namespace cgrun
