// Command lines as text, and the parts of a run.
#include "src/cli/run_origin.h"

#include <gtest/gtest.h>

namespace cgrun {
namespace {

std::string TextOf(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "/usr/bin/cgrun");
  return CommandText(static_cast<int>(arguments.size()), arguments.data());
}

TEST(CommandTextTest, IsWhatAShellReads) {
  EXPECT_EQ(TextOf({}), "cgrun");
  EXPECT_EQ(TextOf({"train", "models/lenet.yaml", "--set=train.epochs=2"}),
            "cgrun train models/lenet.yaml --set=train.epochs=2");
  EXPECT_EQ(TextOf({"train", "my model.yaml", "it's", "", "~", "a\nb"}),
            "cgrun train 'my model.yaml' 'it'\\''s' '' '~' $'a\\012b'");
}

TEST(CommandTextTest, IsCutWhereItIsVeryLong) {
  const std::string text = TextOf({"train", std::string(100'000, 'x').c_str()});
  EXPECT_LT(text.size(), 2100u);
  EXPECT_TRUE(text.ends_with("x…"));
}

TEST(RunPartsTest, OfVeryManyTheFirstAndTheLastAreKept) {
  std::vector<RunPart> parts;
  for (int64_t step = 0; step < 200; ++step) parts = PartsUntilNow(std::move(parts), step);
  EXPECT_EQ(parts.size(), 100u);
  EXPECT_EQ(parts.front().step, 0);
  EXPECT_EQ(parts.back().step, 199);
}

TEST(OriginRowsTest, TellStartsFromResumptions) {
  RunSettings settings;
  settings.device = "cpu";
  settings.threads = 2;
  settings.parts = {{"2026-05-04", "0.1", "cgrun train a.yaml", 0}, {"2026-05-05", "0.1", "", 8}};
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"started", "2026-05-04 by cgrun 0.1"},
      {"command", "cgrun train a.yaml"},
      {"resumed", "2026-05-05 by cgrun 0.1, at step 8"},
      {"device", "cpu"},
      {"threads", "2"},
      {"seed", "5"}};
  EXPECT_EQ(OriginRows(settings, 5), expected);
  settings.parts.erase(settings.parts.begin());  // a folder of a former version
  EXPECT_EQ(OriginRows(settings, 5)[0].first, "resumed");
}

}  // namespace
}  // namespace cgrun
