// Tests the messages that users read: golden texts, order, suggestions.
#include "src/base/diagnostics.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace cgrun {
namespace {

std::shared_ptr<const SourceFile> File(std::string text, std::string name = "model.yaml") {
  return std::make_shared<SourceFile>(SourceFile{std::move(name), std::move(text)});
}

TEST(SourceMarkTest, NamesAsMuchAsItKnows) {
  const auto file = File("");
  EXPECT_EQ((SourceMark{file, 12, 7}).ToString(), "model.yaml:12:7");
  EXPECT_EQ((SourceMark{file}).ToString(), "model.yaml");
  EXPECT_EQ(SourceMark{}.ToString(), "");
}

TEST(DiagnosticsTest, PrintsLineCaretAndHelp) {
  const auto file = File("cgrun: 1\ntrain:\n  epohcs: 12\n");
  Diagnostics diagnostics;
  diagnostics.Error({file, 3, 3, 6}, "unknown key 'epohcs'", "did you mean 'epochs'?");
  EXPECT_EQ(diagnostics.ToString(),
            "model.yaml:3:3: error: unknown key 'epohcs'\n"
            "      epohcs: 12\n"
            "      ^~~~~~\n"
            "help: did you mean 'epochs'?\n");
}

TEST(DiagnosticsTest, CutsALongQuotationOfAHelp) {
  std::string letters;
  for (int i = 0; i < 2000; ++i) letters += "ä";
  Diagnostics diagnostics;
  diagnostics.Error({}, "wrong", "write `" + letters + "`, or `" + letters + "`");
  diagnostics.Warning({}, "odd", "leave out `" + letters.substr(0, 1000) + "`, or `" + letters);
  const std::string cut = letters.substr(0, 160) + "…";
  EXPECT_EQ(diagnostics.Sorted()[0].help, "write `" + cut + "`, or `" + cut + "`");
  EXPECT_EQ(diagnostics.Sorted()[1].help,
            "leave out `" + letters.substr(0, 1000) + "`, or `" + cut);
}

TEST(DiagnosticsTest, TellsOfAPlaceInsteadOfWhatWasSaid) {
  const auto file = File("{units: 0,5}");
  Diagnostics diagnostics;
  diagnostics.Error({file, 1, 9, 3}, "a comma ends a value");
  diagnostics.Error({file, 1, 2, 5}, "unknown key 'units'");
  for (int i = 0; i < 2; ++i) diagnostics.ErrorInstead({file, 1, 9, 3}, "no integer", "a number");
  EXPECT_EQ(diagnostics.error_count(), 2);
  EXPECT_EQ(diagnostics.Sorted().size(), 2);
  EXPECT_EQ(diagnostics.Sorted()[1].message, "no integer");
  diagnostics.ErrorInstead({file, 1, 11}, "elsewhere");
  EXPECT_EQ(diagnostics.error_count(), 3);
}

TEST(DiagnosticsTest, PrintsWithoutAPlace) {
  Diagnostics diagnostics;
  diagnostics.Warning({}, "no GPU was found");
  diagnostics.Error({File("x"), 0, 0}, "is empty");
  EXPECT_EQ(diagnostics.ToString(),
            "warning: no GPU was found\n"
            "model.yaml: error: is empty\n");
}

TEST(DiagnosticsTest, ColoursAreEscapesAroundTheSameText) {
  Diagnostics diagnostics;
  diagnostics.Error({}, "bad", "mend it");
  EXPECT_EQ(diagnostics.ToString(true),
            "\033[1;31merror: \033[0mbad\n\033[36mhelp: \033[0mmend it\n");
}

TEST(DiagnosticsTest, TheCaretStandsUnderItsCharacter) {
  Diagnostics diagnostics;
  // Columns count characters, of one byte or more.
  diagnostics.Error({File("a\t\xC3\xA9: x"), 1, 6}, "tab and accent");
  EXPECT_EQ(diagnostics.ToString(),
            "model.yaml:1:6: error: tab and accent\n"
            "    a\t\xC3\xA9: x\n"
            "     \t   ^\n");
}

TEST(DiagnosticsTest, ALongLineIsCutAroundTheCaret) {
  Diagnostics diagnostics;
  diagnostics.Error({File(std::string(1000, 'a') + "!" + std::string(1000, 'b')), 1, 1001}, "here");
  const std::string text = diagnostics.ToString();
  EXPECT_LT(text.size(), 400u);
  const size_t line = text.find("\n    ") + 5, caret = text.find('^');
  EXPECT_EQ(text[line + caret - text.find("\n    ", line) - 5], '!');
}

TEST(DiagnosticsTest, ControlBytesAreNotPrinted) {
  Diagnostics diagnostics;
  diagnostics.Error({File("a\033[31mb\r\n"), 1, 1}, "escape");
  EXPECT_EQ(diagnostics.ToString(), "model.yaml:1:1: error: escape\n    a?[31mb\n    ^\n");
}

TEST(DiagnosticsTest, SortsByPlaceAndDropsRepetitions) {
  const auto file = File("a\nb\nc\n");
  Diagnostics diagnostics;
  diagnostics.Error({file, 3, 1}, "third");
  diagnostics.Error({file, 1, 1}, "first");
  diagnostics.Error({file, 3, 1}, "third");
  diagnostics.Error({file, 2, 1}, "second");
  const std::vector<Diagnostic> sorted = diagnostics.Sorted();
  ASSERT_EQ(sorted.size(), 3u);
  EXPECT_EQ(sorted[0].message, "first");
  EXPECT_EQ(sorted[1].message, "second");
  EXPECT_EQ(sorted[2].message, "third");
}

TEST(DiagnosticsTest, CountsErrorsAlone) {
  Diagnostics diagnostics;
  diagnostics.Warning({}, "careful");
  EXPECT_FALSE(diagnostics.has_errors());
  diagnostics.Error({}, "bad", "mend it");
  EXPECT_TRUE(diagnostics.has_errors());
  EXPECT_EQ(diagnostics.error_count(), 1);
}

TEST(DiagnosticsTest, PrintsAnyMarkInAnyText) {
  EXPECT_TRUE(rc::check([](const std::string& text, int line, int column, int length) {
    Diagnostics diagnostics;
    diagnostics.Error({File(text), line % 8, column % 300, length % 300}, "message");
    RC_ASSERT(diagnostics.ToString().find("error: message\n") != std::string::npos);
  }));
}

TEST(SuggestNameTest, FindsTypingErrors) {
  const std::vector<std::string> names = {"kernel", "stride", "padding", "groups"};
  EXPECT_EQ(SuggestName("kernal", names), "did you mean 'kernel'?");
  EXPECT_EQ(SuggestName("strdie", names), "did you mean 'stride'?");  // a transposition
  EXPECT_EQ(SuggestName("paddin", names), "did you mean 'padding'?");
  EXPECT_EQ(SuggestName("dilation", names), "known: kernel, stride, padding, groups");
  EXPECT_EQ(SuggestName("kernel", {}), "");
}

TEST(SuggestNameTest, AShortNameIsNotAnyOtherShortName) {
  const std::vector<std::string> names = {"x", "in"};
  EXPECT_EQ(NearestName("y", names), "");
  EXPECT_EQ(NearestName("", names), "");
  EXPECT_EQ(NearestName("im", names), "in");
}

TEST(SuggestNameTest, UpperAndLowerCaseAreNearEachOther) {
  const std::vector<std::string> names = {"area", "Price", "sizes", "SIZE"};
  EXPECT_EQ(SuggestName("AREA", names), "did you mean 'area'?");
  EXPECT_EQ(SuggestName("aera", names), "did you mean 'area'?");
  EXPECT_EQ(NearestName("PRISE", names), "Price");
  EXPECT_EQ(NearestName("size", names), "SIZE");
  EXPECT_EQ(NearestName("sizez", names), "sizes");
  EXPECT_EQ(NearestName("ARE", names), "area");
  EXPECT_EQ(NearestName("AGE", names), "");
}

TEST(CountTextTest, OneHasNoPlural) {
  EXPECT_EQ(CountText(1, "sample"), "1 sample");
  EXPECT_EQ(CountText(0, "sample"), "0 samples");
  EXPECT_EQ(CountText(2, "batch", "batches"), "2 batches");
  EXPECT_EQ(CountText(1, "batch", "batches"), "1 batch");
}

}  // namespace
}  // namespace cgrun
