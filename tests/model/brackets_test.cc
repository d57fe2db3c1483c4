// Brackets without a partner are found where they are; what is YAML has none.
#include "src/model/brackets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "tests/model/model_testing.h"

namespace cgrun {
namespace {

// "2:7 this '[' is not closed", or "".
std::string Fault(const std::string& text) {
  Diagnostics diagnostics;
  const auto source = SourceText::Prepare({"model.yaml", text}, diagnostics);
  if (!source) return diagnostics.ToString();
  const auto fault = FindBracketFault(*source);
  if (!fault) return "";
  return std::to_string(source->LineOf(fault->bracket)) + ":" +
         std::to_string(source->ColumnOf(fault->bracket)) + " " + fault->message;
}

TEST(Brackets, OfModelFilesHavePartners) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator("models")) {
    if (entry.path().extension() != ".yaml") continue;
    ++files;
    EXPECT_EQ(Fault(ReadText(entry.path().string())), "") << entry.path();
  }
  EXPECT_GE(files, 5);
}

TEST(Brackets, InTextsAreTexts) {
  for (const char* text :
       {"a: b [c\n", "a: x # {\n", "a: \"{\"\nb: '['\n",
        "a: {b: \"}\", c: ']', d: ${n}, e: f[3]}\n", "a: |\n  [ {\n\n  - [\nb: 1\n",
        "- - [1]\n- {a: [1,\n   2], b: 'it''s }'}\n", "a: {b: 1,\nc: 2}\nd: 3\n", "a: [\n  1,\n]\n",
        "a: \"\\\"{\"\n", "{a: 1}\n", ""}) {
    EXPECT_EQ(Fault(text), "") << text;
  }
}

TEST(Brackets, AreFoundWhereTheyAreOpened) {
  EXPECT_EQ(Fault("a: 1\nb: {c: [1, 2]\nd: 3\n"), "2:4 this '{' is not closed");
  EXPECT_EQ(Fault("a: {b: [1, 2}\n"), "1:8 this '[' is not closed");
  EXPECT_EQ(Fault("a: {b: 1]\n"), "1:9 this ']' closes nothing");
  EXPECT_EQ(Fault("a:\n  - {b: {c: 1}\n  - {b: 2}\n"), "2:5 this '{' is not closed");
  EXPECT_EQ(Fault("a:\n  - - {b: 1\n"), "2:7 this '{' is not closed");
  EXPECT_EQ(Fault("a: [1,\n    2,\n    {x: 1\n"), "3:5 this '{' is not closed");
  EXPECT_EQ(Fault("a: [1, 2\nb: [3]\nc: {d: 1}\n"), "1:4 this '[' is not closed");
}

// Without any one of its brackets, a line of the file is blamed that is not behind it.
TEST(Brackets, AreMissedWhereTheyWere) {
  const std::string text = ReadText("models/lenet.yaml");
  int taken = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '}' && text[i] != ']') continue;
    if (text.rfind('#', i) != std::string::npos && text.rfind('#', i) > text.rfind('\n', i))
      continue;
    std::string broken = text;
    broken.erase(i, 1);
    const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(i), '\n');
    const std::string fault = Fault(broken);
    EXPECT_TRUE(fault.starts_with(std::to_string(line + 1) + ":")) << i << ": " << fault;
    EXPECT_NE(fault.find("is not closed"), std::string::npos) << fault;
    ++taken;
  }
  EXPECT_GE(taken, 20);
}

}  // namespace
}  // namespace cgrun
