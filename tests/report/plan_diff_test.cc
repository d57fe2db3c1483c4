// Plans compared: what grew, what came and went, and what is no plan.
#include "src/report/plan_diff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "src/base/diagnostics.h"

namespace cgrun {
namespace {

constexpr char kBefore[] = R"({"total_bytes": 1300, "arena_bytes": 1000, "data_bytes": 100,
  "base_bytes": 200, "zones": [{"name": "forward", "bytes": 800}],
  "buffers": [{"name": "x", "entry": "train", "bytes": 400},
              {"name": "y", "entry": "train", "bytes": 300},
              {"name": "w", "entry": "", "bytes": 64}]})";
constexpr char kAfter[] = R"({"total_bytes": 1250, "arena_bytes": 1024, "data_bytes": 100,
  "base_bytes": 126, "zones": [{"name": "forward", "bytes": 800}, {"name": "workspace", "bytes": 64}],
  "buffers": [{"name": "x", "entry": "train", "bytes": 480},
              {"name": "z", "entry": "train", "bytes": 64},
              {"name": "w", "entry": "", "bytes": 64}]})";

TEST(PlanDiff, ListsWhatChangedTheLargestFirst) {
  const PlanDiff diff = DiffPlans(kBefore, "old.json", kAfter);
  ASSERT_EQ(diff.buffers.size(), 3u);
  EXPECT_EQ(diff.buffers[0].name, "y");
  EXPECT_EQ(diff.buffers[0].before, 300);
  EXPECT_EQ(diff.buffers[0].after, -1);
  EXPECT_EQ(diff.buffers[1].name, "x");
  EXPECT_EQ(diff.buffers[2].name, "z");
  EXPECT_EQ(diff.buffers[2].before, -1);
  EXPECT_EQ(diff.figures[1].name, "arena");
  EXPECT_EQ(diff.figures[1].before, 1000);
  EXPECT_EQ(diff.figures[1].after, 1024);
  EXPECT_EQ(diff.figures.back().name, "zone workspace");
  EXPECT_EQ(diff.figures.back().before, 0);
}

TEST(PlanDiff, GrowsByArenaAndDataWhateverTheProcessTakes) {
  EXPECT_EQ(DiffPlans(kBefore, "old.json", kAfter).grew_bytes, 24);
  EXPECT_EQ(DiffPlans(kAfter, "old.json", kBefore).grew_bytes, 0);
  EXPECT_EQ(DiffPlans(kBefore, "old.json", kBefore).grew_bytes, 0);
  const std::string text = PlanDiffText(DiffPlans(kBefore, "old.json", kAfter));
  EXPECT_NE(text.find("Arena and data take 24 B more than before."), text.npos) << text;
  EXPECT_NE(text.find("+24 B (+2.4 %)"), text.npos) << text;
  EXPECT_NE(PlanDiffText(DiffPlans(kAfter, "old.json", kBefore)).find("−24 B (−2.3 %)"), text.npos);
}

TEST(PlanDiff, OfThePlanItselfIsNothing) {
  const PlanDiff diff = DiffPlans(kBefore, "old.json", kBefore);
  EXPECT_TRUE(diff.buffers.empty());
  const std::string text = PlanDiffText(diff);
  EXPECT_NE(text.find("Every buffer is as it was."), text.npos) << text;
  EXPECT_NE(text.find("no more than before"), text.npos) << text;
}

TEST(PlanDiff, RefusesWhatIsNoPlan) {
  for (const char* text : {"", "{", "[]", "{}", R"({"arena_bytes": 3})", "nonsense"}) {
    EXPECT_THROW(DiffPlans(text, "old.json", kAfter), InputError) << text;
  }
}

TEST(PlanDiff, RefusesPlansOfTwoModels) {
  const auto plan = [](const char* model) {
    return std::string(R"({"model": ")") + model + R"(", "arena_bytes": 1, "buffers": []})";
  };
  EXPECT_EQ(DiffPlans(plan("lenet"), "old.json", plan("lenet")).grew_bytes, 0);
  try {
    DiffPlans(plan("mlp"), "old.json", plan("lenet"));
    FAIL() << "what they take says nothing of a change";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "'old.json' is a plan of 'mlp', and this is one of 'lenet'");
  }
}

TEST(PlanDiff, SaysWhatElseWasAskedFor) {
  const PlanDiff diff = DiffPlans(
      R"({"arena_bytes": 1, "buffers": [], "batch": 16, "threads": 2, "memory_cap_bytes": null})",
      "old.json", R"({"arena_bytes": 1, "buffers": [], "batch": 32, "threads": 2, "tuning": "ab12",
                      "memory_cap_bytes": 2097152})");
  ASSERT_EQ(diff.settings.size(), 2u) << "what one of them does not tell is not compared";
  const std::string text = PlanDiffText(diff);
  EXPECT_NE(text.find("note: batch 16 before, 32 now\n"), text.npos) << text;
  EXPECT_NE(text.find("note: cap none before, 2.00 MiB now\n"), text.npos) << text;
  EXPECT_NE(PlanDiffJson(diff).find("\"before\": \"16\""), std::string::npos);
}

TEST(PlanDiff, RefusesFiguresThatAreNoNumbersOfBytes) {
  for (const char* figure : {"\"many\"", "-5", "1e300", "1.5", "null", "18446744073709551615"}) {
    const std::string plan = std::string(R"({"arena_bytes": )") + figure + R"(, "buffers": []})";
    try {
      DiffPlans(plan, "old.json", kAfter);
      FAIL() << figure;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("'old.json' has `arena_bytes`: "), std::string::npos)
          << error.what();
    }
  }
}

TEST(PlanDiff, RefusesACapThatIsNoNumberOfBytes) {
  for (const char* cap : {"18446744073709551615", "-1", "\"a\"", "1.5"}) {
    const std::string plan =
        R"({"arena_bytes": 1, "buffers": [], "memory_cap_bytes": )" + std::string(cap) + "}";
    EXPECT_THROW(DiffPlans(plan, "old.json", kAfter), InputError) << cap;
  }
}

TEST(PlanDiff, RefusesSizesOfBuffersAndZonesThatAreNoNumbersOfBytes) {
  for (const char* list : {"zones", "buffers"}) {
    const std::string other = list == std::string("zones") ? "buffers" : "zones";
    for (const char* bytes : {"-9223372036854775808", "18446744073709551615", "\"a\"", "1.5"}) {
      const std::string plan = R"({"arena_bytes": 1, ")" + other + R"(": [], ")" + list +
                               R"(": [{"name": "a", "bytes": )" + bytes + "}]}";
      try {
        DiffPlans(plan, "old.json", kAfter);
        FAIL() << plan;
      } catch (const InputError& error) {
        EXPECT_TRUE(std::string(error.what())
                        .starts_with(std::string("'old.json' has `") + list + ".bytes`: "))
            << error.what();
      }
    }
  }
}

TEST(PlanDiff, RefusesAPlanThatNestsTooDeeply) {
  const std::string deep(200'000, '['), end(200'000, ']');
  for (const char* key : {"batch", "arena_bytes", "buffers"}) {
    const std::string plan =
        R"({"arena_bytes": 1, "buffers": [], ")" + std::string(key) + "\": " + deep + end + "}";
    EXPECT_THROW(DiffPlans(plan, "old.json", kAfter), InputError) << key;
  }
}

TEST(PlanDiff, TakesOddPlansAsTheyAre) {
  const PlanDiff diff = DiffPlans(
      R"({"arena_bytes": 0, "buffers": [1, {"name": 3}, {}], "zones": 7})", "old.json", kAfter);
  EXPECT_EQ(diff.figures[1].before, 0);
  EXPECT_EQ(diff.grew_bytes, 1124);
}

TEST(PlanDiff, HasATwinForMachines) {
  const std::string json = PlanDiffJson(DiffPlans(kBefore, "old.json", kAfter));
  EXPECT_NE(json.find("\"grew_bytes\": 24"), json.npos) << json;
  EXPECT_NE(json.find("\"after\": null"), json.npos) << json;
}

// An ordered object of JSON would look through all its keys for each of them.
TEST(PlanDiff, ManyKeysTakeNoLongerForEach) {
  const auto seconds = [](int keys) {
    std::string before = R"({"arena_bytes": 1, "buffers": [])";
    for (int i = 0; i < keys; ++i) before += ", \"k" + std::to_string(i) + "\": 1";
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(DiffPlans(before + "}", "old.json", kAfter).figures[1].before, 1);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const double few = std::min(seconds(5'000), seconds(5'000));
  EXPECT_LT(seconds(100'000), 200 * few + 0.1);
}

TEST(PlanDiff, ABufferOfNoPossibleSizeIsRefused) {
  const std::string huge = R"({"arena_bytes": 18446744073709551615, "buffers": []})";
  EXPECT_THROW(DiffPlans(huge, "old.json", kAfter), InputError);
  EXPECT_THROW(
      DiffPlans(R"({"arena_bytes": 9223372036854775807, "buffers": []})", "old.json", kAfter),
      InputError);
}

}  // namespace
}  // namespace cgrun
