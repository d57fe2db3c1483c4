// The lines of a run: what a narrow terminal leaves out, and what it never does.
#include "src/report/progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "src/report/epoch_lines.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

int Characters(const std::string& text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string At(int width, const char* columns) {
  char text[1024];
  FormatProgress({"epoch 3/12", 120, 938, 86123, 754, columns}, width, text, sizeof(text));
  return text;
}

constexpr char kOnePath[] = "loss 0.1234\taccuracy 0.9810";
constexpr char kTwoPaths[] =
    "classify.loss 0.1234\tclassify.accuracy 0.9810\tregress.loss 1.2345\tregress.error 0.5000";

TEST(ProgressTest, IsWholeOnAWideTerminal) {
  EXPECT_EQ(At(120, kOnePath),
            "epoch 3/12 [===>                    ] 120/938  loss 0.1234  accuracy 0.9810  "
            "86.1 k samples/s  ETA 12:34");
}

TEST(ProgressTest, ShrinksTheBarFirst) {
  EXPECT_EQ(At(90, kOnePath),
            "epoch 3/12 [=>        ] 120/938  loss 0.1234  accuracy 0.9810  86.1 k samples/s  "
            "ETA 12:34");
  EXPECT_EQ(At(79, kOnePath),
            "epoch 3/12 120/938  loss 0.1234  accuracy 0.9810  86.1 k samples/s  ETA 12:34");
}

TEST(ProgressTest, ThenDropsTheLastColumns) {
  EXPECT_EQ(At(79, kTwoPaths),
            "epoch 3/12 120/938  classify.loss 0.1234  …  86.1 k samples/s  ETA 12:34");
  EXPECT_EQ(At(40, kTwoPaths), "epoch 3/12 120/938  …  ETA 12:34");
  EXPECT_EQ(At(30, kTwoPaths), "epoch 3/12 120/938  ETA 12:34");
}

TEST(ProgressTest, NeverExceedsTheWidthNorCutsTheEnd) {
  for (const char* columns : {"", kOnePath, kTwoPaths}) {
    for (int width = 20; width < 200; ++width) {
      const std::string line = At(width, columns);
      EXPECT_LE(Characters(line), width) << line;
      EXPECT_TRUE(line.ends_with("ETA 12:34")) << line;
    }
  }
}

TEST(ProgressTest, RatesHaveOneStyle) {
  char text[48];
  for (const auto& [rate, expected] : std::vector<std::pair<double, std::string>>{
           {850, "850 samples/s"}, {86123, "86.1 k samples/s"}, {1234567, "1.23 M samples/s"}}) {
    FormatRate(rate, text, sizeof(text));
    EXPECT_EQ(text, expected);
    EXPECT_EQ(FormatSi(rate) + " samples/s", expected);
  }
}

// In a log, lines of epochs say where the run is; progress comes where there are none.
TEST(ProgressTest, ALineOfALogWaitsForAPause) {
  using std::chrono::steady_clock;
  constexpr auto kPause = std::chrono::milliseconds(200);
  std::FILE* log = std::tmpfile();
  ASSERT_NE(log, nullptr);
  ProgressPrinter printer(log, /*terminal=*/false, /*color=*/false, kPause);
  std::this_thread::sleep_for(kPause * 3 / 4);
  const auto cleared = steady_clock::now();
  printer.Clear();
  std::this_thread::sleep_for(kPause / 2);
  printer.Show({"epoch 3/12", 120, 938});
  const bool too_soon = steady_clock::now() - cleared < kPause;
  EXPECT_TRUE(!too_soon || std::ftell(log) == 0);
  std::this_thread::sleep_for(kPause);
  printer.Show({"epoch 3/12", 120, 938});
  EXPECT_GT(std::ftell(log), 0);
  std::fclose(log);
}

std::string Metric(double value) {
  char text[32];
  FormatMetric(value, text, sizeof(text));
  return text;
}

TEST(EpochLinesTest, NumbersHaveOneWidth) {
  for (double value = 1e-9; value < 1e99; value *= 1.7) {
    EXPECT_EQ(Metric(value).size(), 6u) << Metric(value);
    EXPECT_EQ(Metric(-value).size(), 6u) << Metric(-value);
    EXPECT_NEAR(std::stod(Metric(value)), value, (value < 1e-9 ? 0.5 : 0.051) * value);
    EXPECT_NEAR(std::stod(Metric(-value)), -value, 0.51 * value);
  }
  EXPECT_EQ(Metric(0.98765), "0.9877");
  EXPECT_EQ(Metric(9.99996), "10.000");
  EXPECT_EQ(Metric(12345.6), "1.23e4");
  EXPECT_EQ(Metric(0.00041234), "4.1e-4");
  EXPECT_EQ(Metric(-0.00041234), " -4e-4");
  EXPECT_EQ(Metric(0), "0.0000");
  EXPECT_EQ(Metric(std::numeric_limits<double>::quiet_NaN()), "   nan");
  EXPECT_EQ(Metric(-std::numeric_limits<double>::quiet_NaN()), "   nan");
}

std::string Epoch(const std::vector<EpochRow>& rows, int width) {
  char text[4096];
  FormatEpoch("epoch  3/12", rows, "86.1 k samples/s", width, text, sizeof(text));
  return text;
}

TEST(EpochLinesTest, AreOneWhereThereIsRoom) {
  EXPECT_EQ(Epoch({{"train", kOnePath}, {"valid", "loss 0.2000\taccuracy 0.9000"}}, 100),
            "epoch  3/12  loss 0.1234  accuracy 0.9810  | valid loss 0.2000  accuracy 0.9000  | "
            "86.1 k samples/s\n");
}

TEST(EpochLinesTest, AreOneASplitElse) {
  EXPECT_EQ(Epoch({{"train", kOnePath}, {"test", "loss 0.2000\taccuracy 0.9000"}}, 80),
            "epoch  3/12  train  loss 0.1234  accuracy 0.9810  86.1 k samples/s\n"
            "             test   loss 0.2000  accuracy 0.9000\n");
}

TEST(EpochLinesTest, GoOnUnderTheColumns) {
  EXPECT_EQ(Epoch({{"train", kTwoPaths}, {"valid", kTwoPaths}}, 80),
            "epoch  3/12  train  classify.loss 0.1234  classify.accuracy 0.9810\n"
            "                    regress.loss 1.2345  regress.error 0.5000  86.1 k samples/s\n"
            "             valid  classify.loss 0.1234  classify.accuracy 0.9810\n"
            "                    regress.loss 1.2345  regress.error 0.5000\n");
}

}  // namespace
}  // namespace cgrun
