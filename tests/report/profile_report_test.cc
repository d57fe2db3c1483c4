// The profile of a made-up run: sums, shares, what holds operators back, and the trace.
#include "src/report/profile_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace cgrun {
namespace {

using Json = nlohmann::json;

// Two runs: a convolution near the machine's peak, a relu at half its memory speed, an update that
// does neither.
std::vector<EntryProfile> Entries() {
  EntryProfile train{"train", 32, {}};
  train.operators = {
      {"classify.conv1", "onednn.conv", Phase::kForward, 8'000'000, 1'000, {2, 200'000}},
      {"classify.relu", "cpu.relu", Phase::kForward, 1'000, 500'000, {2, 200'000}},
      {"classify.w.sgd", "cpu.sgd", Phase::kUpdate, 10, 100, {2, 400'000}}};
  EntryProfile eval{"eval", 32, {{"classify.conv1", "onednn.conv", Phase::kForward, 1, 1, {}}}};
  return {train, eval};
}

const Ceilings kCeilings{2, 100e9, 10e9};

TEST(ProfileReport, TellsWhatHoldsAnOperatorBack) {
  EXPECT_EQ(BoundOf(80e9, 1e9, kCeilings), Bound::kCompute);
  EXPECT_EQ(BoundOf(1e9, 5e9, kCeilings), Bound::kMemory);
  EXPECT_EQ(BoundOf(1e9, 0.5e9, kCeilings), Bound::kOverhead);
  EXPECT_EQ(BoundOf(1e9, 1e9, Ceilings()), Bound::kOverhead);
}

TEST(ProfileReport, SaysNothingOfBoundsWherePeaksAreNotKnown) {
  const std::string text = ProfileText(Entries(), Ceilings(), true);
  EXPECT_NE(text.find("classify.conv1 (onednn.conv)"), std::string::npos) << text;
  EXPECT_EQ(text.find("bound by"), std::string::npos) << text;
  EXPECT_EQ(text.find("overhead"), std::string::npos) << text;
}

TEST(ProfileReport, ListsPhasesAndKernelsBySeconds) {
  const std::string text = ProfileText(Entries(), kCeilings, true);
  const auto at = [&](const std::string& part) {
    const size_t position = text.find(part);
    EXPECT_NE(position, std::string::npos) << part << " is not in\n" << text;
    return position;
  };
  at("profile of 'train': batch 32, 2 runs, 0.400 ms a run in operators");
  EXPECT_LT(at("  forward "), at("  update "));
  EXPECT_LT(at("cpu.sgd"), at("onednn.conv"));
  at("80 (80 %)");  // 2·8 MFLOP in 200 µs
  at("5 (50 %)");   // 2·500 kB in 200 µs
  at("classify.conv1 (onednn.conv)");
  at("2 threads: 100 GFLOP/s (f32), 10 GB/s");
  at("  bound by: the peak that the rate comes nearer to");
  at("overhead: below 10 % of both");
  EXPECT_EQ(text.find("'eval'"), std::string::npos) << "it did not run";
  EXPECT_EQ(ProfileText(Entries(), kCeilings, false).find("slowest"), std::string::npos);
}

TEST(ProfileReport, NamesEntryPointsOfALastBatchAlone) {
  std::vector<EntryProfile> entries = Entries();
  entries.push_back(entries[0]);
  entries.back().name = "train.15";
  const std::string text = ProfileText(entries, kCeilings, true);
  EXPECT_NE(text.find("  Left out: train.15, for the last batch"), std::string::npos) << text;
  EXPECT_EQ(text.find("profile of 'train.15'"), std::string::npos) << text;
  EXPECT_NE(ProfileJson(entries, kCeilings).find("\"train.15\""), std::string::npos);
  entries.erase(entries.begin());  // it ran alone
  EXPECT_NE(ProfileText(entries, kCeilings, true).find("profile of 'train.15'"), std::string::npos);
}

// No share is over 100 % without a word: bytes from caches, or a peak that was measured too low.
TEST(ProfileReport, ExplainsSharesOfMoreThanThePeak) {
  const std::string within = ProfileText(Entries(), kCeilings, true);
  EXPECT_EQ(within.find("beyond the peak"), std::string::npos) << within;
  EXPECT_EQ(within.find("%*"), std::string::npos) << within;

  const std::string cached = ProfileText(Entries(), {2, 100e9, 4e9}, false);
  EXPECT_NE(cached.find("5 (125 %*)"), std::string::npos) << cached;
  EXPECT_NE(cached.find("come from the caches"), std::string::npos) << cached;
  EXPECT_EQ(cached.find("busier"), std::string::npos) << cached;

  const std::string busy = ProfileText(Entries(), {2, 50e9, 10e9}, false);
  EXPECT_NE(busy.find("80 (160 %*)"), std::string::npos) << busy;
  EXPECT_NE(busy.find("the machine was busier while the peak was measured"), std::string::npos);
  EXPECT_EQ(busy.find("caches"), std::string::npos) << busy;

  std::vector<EntryProfile> entries = Entries();
  for (OperatorProfile& op : entries[0].operators) {
    if (op.kernel == "onednn.conv") op.fewer_operations = true;
  }
  const std::string fewer = ProfileText(entries, {2, 50e9, 10e9}, false);
  EXPECT_NE(fewer.find("a quarter of its\n    multiplications"), std::string::npos) << fewer;
  EXPECT_EQ(fewer.find("busier"), std::string::npos) << fewer;

  const Json json = Json::parse(ProfileJson(Entries(), {2, 50e9, 10e9}));
  EXPECT_EQ(json["exceeded"], Json({{"flops", true}, {"bytes", false}}));
}

TEST(ProfileReport, WritesTheSameAsJson) {
  const Json json = Json::parse(ProfileJson(Entries(), kCeilings));
  ASSERT_EQ(json["entries"].size(), 1u);
  const Json& train = json["entries"][0];
  EXPECT_EQ(train["runs"], 2);
  EXPECT_NEAR(train["seconds"].get<double>(), 800e-6, 1e-12);
  const Json& conv = train["operators"][0];
  EXPECT_EQ(conv["bound"], "compute");
  EXPECT_EQ(train["operators"][1]["bound"], "memory");
  EXPECT_EQ(train["operators"][2]["bound"], "overhead");
  EXPECT_NEAR(conv["flops_per_second"].get<double>(), 80e9, 1);
}

TEST(ProfileReport, LeavesOutOperatorsThatNeverRan) {
  std::vector<EntryProfile> entries = Entries();
  auto& operators = entries[0].operators;
  operators.insert(operators.begin(), {"classify.unused", "cpu.cast", Phase::kForward, 1, 1, {}});
  EXPECT_EQ(ProfileText(entries, kCeilings, true), ProfileText(Entries(), kCeilings, true));
  EXPECT_EQ(ProfileJson(entries, kCeilings), ProfileJson(Entries(), kCeilings));
}

TEST(ProfileReport, WritesATrace) {
  const std::vector<OperatorRun> runs = {{0, 0, 0, 1500}, {0, 1, 1500, 4000}};
  const Json json = Json::parse(TraceJson(Entries(), runs));
  ASSERT_EQ(json["traceEvents"].size(), 2u);
  const Json& relu = json["traceEvents"][1];
  EXPECT_EQ(relu["name"], "classify.relu");
  EXPECT_EQ(relu["ph"], "X");
  EXPECT_EQ(relu["ts"], 1.5);
  EXPECT_EQ(relu["dur"], 2.5);
  EXPECT_EQ(relu["args"]["entry"], "train");
}

}  // namespace
}  // namespace cgrun
