// Texts of labels: names or integers, found or known, and what is said of the others.
#include "src/data/classes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace cgrun {
namespace {

using Names = std::vector<std::string>;

// Looks at texts, the first of them in line 1, and settles.
std::string SurveyErrors(LabelTexts& labels, const Names& texts) {
  const auto file = std::make_shared<const SourceFile>(SourceFile{"l", ""});
  Diagnostics diagnostics;
  int line = 0;
  for (const std::string& text : texts) {
    ++line;
    labels.Survey(
        text,
        [&] {
          return SourceMark{file, line, 1};
        },
        diagnostics);
  }
  labels.Settle(diagnostics);
  return diagnostics.ToString();
}

TEST(LabelTexts, FindsNamesAndSortsThem) {
  LabelTexts labels({}, true);
  EXPECT_EQ(
      SurveyErrors(labels, {"dog", "cat", "dog", "10", "ant"})
          .find("l:1:1: error: 4 of the 5 labels are not integers, but the one in line 4 is\n"),
      0u);
  LabelTexts names({}, true);
  EXPECT_EQ(SurveyErrors(names, {"dog", "cat", "dog", "ant"}), "");
  EXPECT_TRUE(names.of_names());
  EXPECT_EQ(names.names(), (Names{"ant", "cat", "dog"}));
  EXPECT_EQ(names.Find("dog"), 2);
  EXPECT_FALSE(names.Find("cow").has_value());
}

TEST(LabelTexts, IntegersStayAsTheyAre) {
  LabelTexts labels({}, true);
  EXPECT_EQ(SurveyErrors(labels, {"7", "-1", "7"}), "");
  EXPECT_FALSE(labels.of_names());
  EXPECT_TRUE(labels.names().empty());
  EXPECT_EQ(labels.Find("-1"), -1);
  EXPECT_FALSE(labels.Find("x").has_value());
}

TEST(LabelTexts, AreAllIntegersOrAllNames) {
  LabelTexts labels({}, true);
  EXPECT_EQ(SurveyErrors(labels, {"7", "a", "8", "b"}),
            "l:2:1: error: this label is not an integer, but the one in line 1 is\n"
            "    \n    ^\n"
            "help: if they are names all the same, list them: `classes: [a, b, c]`\n");
}

TEST(LabelTexts, MeasuresAreCounted) {
  LabelTexts labels({}, true, "some help");
  EXPECT_EQ(SurveyErrors(labels, {"7.25", "8.00", "1.5", "2.5"}),
            "l:1:1: error: 3 of the 4 labels are not whole numbers\n"
            "    \n    ^\nhelp: some help\n");
}

TEST(LabelTexts, KnownClassesAreNotLookedFor) {
  LabelTexts labels({{"dog", "cat", "7"}, "of the option `classes`"}, true);
  EXPECT_EQ(SurveyErrors(labels, {"7", "cow"}), "");
  EXPECT_EQ(labels.names(), (Names{"dog", "cat", "7"}));
  EXPECT_EQ(labels.Find("7"), 2);
  EXPECT_FALSE(labels.Find("cta").has_value());
  EXPECT_EQ(labels.UnknownText("cta\n"), "'cta?' is none of the classes of the option `classes`");
  EXPECT_EQ(labels.HelpFor("cta"), "did you mean 'cat'?");
  EXPECT_EQ(labels.HelpFor("CAT"), "did you mean 'cat'?");
  EXPECT_EQ(labels.HelpFor("bird"), "known: dog, cat, 7");
}

TEST(LabelTexts, WithoutASurveyTextsAreIntegers) {
  LabelTexts labels({}, false);
  EXPECT_EQ(SurveyErrors(labels, {"a", "b"}), "");
  EXPECT_FALSE(labels.of_names());
  EXPECT_FALSE(labels.Find("a").has_value());
}

TEST(LabelTexts, TooManyClassesAreReportedOnce) {
  Names texts;
  for (int i = 0; i < 65536; ++i) texts.push_back("n" + std::to_string(i));
  LabelTexts most({}, true, "some help");
  EXPECT_EQ(SurveyErrors(most, texts), "");
  for (const char* more : {"x", "y", "z"}) texts.emplace_back(more);
  LabelTexts labels({}, true, "some help");
  EXPECT_EQ(SurveyErrors(labels, texts),
            "l:65537:1: error: the label has more than 65536 classes\n"
            "    \n    ^\nhelp: some help\n");
  LabelTexts without({}, true);
  EXPECT_TRUE(SurveyErrors(without, texts)
                  .ends_with("help: a label is one of few names: is this the text, or an id of "
                             "each line's own?\n"));
}

}  // namespace
}  // namespace cgrun
