// JSON that holds names of files with any bytes.
#include "src/base/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace cgrun {
namespace {

TEST(JsonText, IsUtf8WithoutControlCharacters) {
  const nlohmann::json json = {{"name", "caf\xE9 \x1B[31m\x07"}};
  EXPECT_EQ(JsonText(json), "{\"name\":\"caf\uFFFD \\u001b[31m\\u0007\"}");
}

TEST(JsonText, EscapesWhatJsonLeavesAndTerminalsActOn) {
  const std::string text = "\x7F \xC2\x9B\x32J \xC2\xA9";
  const std::string json = JsonText(nlohmann::ordered_json(text));
  EXPECT_EQ(json, "\"\\u007f \\u009b2J \xC2\xA9\"");
  EXPECT_EQ(nlohmann::json::parse(json).get<std::string>(), text);
}

TEST(JsonText, EscapesWhatChangesTheDirectionOfATextWithoutAnotherMeaning) {
  const std::string text = "a\u202Eb\u061Cc\u2069";
  const std::string json = JsonText(nlohmann::ordered_json({{"name", text}}), 2);
  EXPECT_EQ(json, "{\n  \"name\": \"a\\u202eb\\u061cc\\u2069\"\n}");
  EXPECT_EQ(nlohmann::json::parse(json)["name"].get<std::string>(), text);
}

TEST(JsonText, IndentsAsItIsTold) {
  EXPECT_EQ(JsonText(nlohmann::ordered_json({{"b", 1}, {"a", 2}}), 2),
            "{\n  \"b\": 1,\n  \"a\": 2\n}");
}

// The library recurses when it copies a value or writes it.
TEST(ParseJson, RefusesWhatNestsSoDeeplyThatTheStackWouldOverflow) {
  for (const auto& [open, close] : {std::pair("[", "]"), std::pair("{\"a\":", "}")}) {
    for (const int depth : {10, 256}) {
      std::string text, end;
      for (int i = 0; i < depth; ++i) text += open, end += close;
      const nlohmann::json json = TryParseJson(text + "\"[[[\\\"{\"" + end);
      EXPECT_EQ(JsonText(json).size(), text.size() + end.size() + 8) << depth;
      EXPECT_FALSE(TryParseOrderedJson(text + "1" + end).is_discarded());
      if (depth < 256) continue;
      const std::string deeper = open + text + "1" + end + close;
      EXPECT_TRUE(TryParseJson(deeper).is_discarded());
      EXPECT_TRUE(TryParseOrderedJson(deeper).is_discarded());
      EXPECT_THROW(ParseJson(deeper), nlohmann::json::parse_error);
      EXPECT_THROW(ParseOrderedJson(deeper), nlohmann::json::parse_error);
    }
  }
  EXPECT_TRUE(TryParseJson(std::string(10'000'000, '[')).is_discarded());
  EXPECT_FALSE(TryParseJson("[" + std::string(100'000, ' ') + "[],[],[]]").is_discarded());
}

}  // namespace
}  // namespace cgrun
