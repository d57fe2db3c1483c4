// The examples of every verb's help are command lines that can be typed.
#include "src/cli/command_line.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "src/cli/argument_values.h"

namespace cgrun {
namespace {

// The lines of `text`, each without a comment and without where a shell would write its output.
std::vector<std::string> CommandLines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    line = line.substr(0, std::min(line.find(" #"), line.find(" > ")));
    lines.push_back(line.substr(line.find_first_not_of(' '), line.find_last_not_of(' ') + 1));
  }
  return lines;
}

// Returns the error of a command line; "" if there is none, or if it asks for help.
std::string ParseErrorOf(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream in(line);
  for (std::string word; in >> word;) words.push_back(word);
  std::vector<char*> typed;
  for (std::string& word : words) typed.push_back(word.data());
  CommandLine parsed;
  const auto stop = parsed.Parse(WordsOf(static_cast<int>(typed.size()), typed.data()));
  if (stop) return stop->is_mistake ? stop->text : "";
  return parsed.command() ? "" : "it chooses no verb";
}

// Parses a verb's command line, and returns the values of an argument.
std::vector<std::string> ValuesIn(const std::vector<std::string>& words,
                                  const std::string& argument) {
  CommandLine line;
  const auto stop = line.Parse(words);
  return stop ? std::vector{stop->text} : line.chosen()->Get(argument).values();
}

using Words = std::vector<std::string>;

TEST(CommandLine, WordsAreTakenAsTheyAreTyped) {
  for (const std::string word : {"[2024]", "[x,y]", "[]", "[", "++", "{}", "%%", "a,b", "[a b]"}) {
    EXPECT_EQ(ValuesIn({"predict", "m.yaml", word}, "INPUT"), Words({word})) << word;
    EXPECT_EQ(ValuesIn({"predict", word, "x"}, "MODEL"), Words({word})) << word;
    EXPECT_EQ(ValuesIn({"train", "m.yaml", "--out", word}, "--out"), Words({word}));
    EXPECT_EQ(ValuesIn({"train", "m.yaml", "--out=" + word}, "--out"), Words({word}));
    EXPECT_EQ(ValuesIn({"train", "m.yaml", "--set", word}, "--set"), Words({word}));
  }
}

TEST(CommandLine, ARepeatableFlagTakesOneWordEachTime) {
  for (const std::string flag : {"--set", "--keep", "--disable-pass", "--dump-after"}) {
    const Words words = {"train", flag, "a=b", "m.yaml", flag, "c"};
    EXPECT_EQ(ValuesIn(words, flag), Words({"a=b", "c"})) << flag;
    EXPECT_EQ(ValuesIn(words, "MODEL"), Words({"m.yaml"})) << flag;
  }
}

TEST(CommandLine, AnEmptyValueIsNotTheNextWord) {
  const Words words = {"train", "--out=", "m.yaml"};
  EXPECT_EQ(ValuesIn(words, "--out"), Words({""}));
  EXPECT_EQ(ValuesIn(words, "MODEL"), Words({"m.yaml"}));
}

// The models of the project that a line names.
std::vector<std::string> ModelsIn(const std::string& line) {
  std::vector<std::string> models;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (word.starts_with("models/")) models.push_back(word);
  }
  return models;
}

TEST(CommandLine, EveryVerbHasTwoToFourExamplesThatParse) {
  int models = 0;
  for (const CommandEntry& entry : Commands()) {
    const std::vector<std::string> lines = CommandLines(entry.examples);
    EXPECT_GE(lines.size(), 2u) << entry.name;
    EXPECT_LE(lines.size(), 4u) << entry.name;
    for (const std::string& line : lines) {
      EXPECT_TRUE(line.starts_with("cgrun " + std::string(entry.name))) << line;
      EXPECT_EQ(ParseErrorOf(line), "") << line;
      for (const std::string& model : ModelsIn(line)) {
        EXPECT_TRUE(std::filesystem::exists(model)) << line;
        ++models;
      }
    }
  }
  EXPECT_GT(models, 10);
}

TEST(CommandLine, TheExamplesOfAllParse) {
  const std::string footer = CommandLine().Examples();
  ASSERT_TRUE(footer.starts_with("Examples:\n"));
  const auto lines = CommandLines(footer.substr(footer.find('\n') + 1));
  EXPECT_GE(lines.size(), 2u);
  EXPECT_LE(lines.size(), 4u);
  for (const std::string& line : lines) EXPECT_EQ(ParseErrorOf(line), "") << line;
}

TEST(CommandLine, WrongLinesDoNotParse) {
  EXPECT_NE(ParseErrorOf("cgrun"), "");
  EXPECT_NE(ParseErrorOf("cgrun trian models/lenet.yaml"), "");
  EXPECT_NE(ParseErrorOf("cgrun train models/lenet.yaml --epochs 3"), "");
  EXPECT_NE(ParseErrorOf("cgrun eval models/lenet.yaml --split later"), "");
}

TEST(CommandLine, EveryFlagSaysWhatItTakesAndWhatFor) {
  const CommandLine line;
  std::set<ArgumentValues::Kind> kinds;
  for (const CommandEntry& entry : Commands()) {
    for (const Flag& flag : line.verb(entry.name).flags()) {
      const ArgumentValues values = ValuesOf(flag);
      kinds.insert(values.kind);
      EXPECT_NE(flag.description(), "") << entry.name << " " << flag.name();
      EXPECT_NE(values.name, "TEXT") << entry.name << " " << flag.name();
      EXPECT_EQ(values.words.empty(), values.kind != ArgumentValues::Kind::kWords);
    }
  }
  EXPECT_EQ(kinds.size(), 7u);
}

TEST(CommandLine, ValuesAreTheProgramsOwn) {
  const CommandLine line;
  const Verb train = line.verb("train");
  const auto mode = ValuesOf(train.Get("--mode"));
  EXPECT_EQ(mode.name, "graph|eager");
  EXPECT_EQ(mode.words, (std::vector<std::string>{"graph", "eager"}));
  EXPECT_TRUE(ValuesOf(train.Get("--json")).optional);
  EXPECT_FALSE(ValuesOf(train.Get("--out")).optional);
  EXPECT_EQ(ValuesOf(train.Get("--out")).kind, ArgumentValues::Kind::kFolder);
  EXPECT_EQ(ValuesOf(train.Get("MODEL")).kind, ArgumentValues::Kind::kFile);
  EXPECT_EQ(ValuesOf(train.Get("--force")).kind, ArgumentValues::Kind::kNone);
  EXPECT_EQ(ValuesOf(train.Get("--set")).kind, ArgumentValues::Kind::kSetting);
  const auto operators = ValuesOf(line.verb("ops").Get("NAME")).words;
  EXPECT_EQ(std::count(operators.begin(), operators.end(), "conv"), 1);
  EXPECT_EQ(std::count(operators.begin(), operators.end(), "conv_input_grad"), 0);
}

}  // namespace
}  // namespace cgrun
