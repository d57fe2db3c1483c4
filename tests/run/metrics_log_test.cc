// metrics.csv with few and with very many columns.
#include "src/run/metrics_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <sstream>

#include "src/base/allocation_counter.h"
#include "src/results/metrics_json.h"
#include "tests/session/session_testing.h"

namespace cgrun {
namespace {

EpochReport ReportOf(int columns) {
  EpochReport report;
  report.rates = {{"learning_rate", 0.125}};
  report.train.split = "train";
  for (int i = 0; i < columns; ++i) {
    report.train.means.push_back({"metric_with_a_long_name_" + std::to_string(i), -1.0 / (i + 3)});
  }
  report.train.samples = 9;
  report.train.timed_samples = 7;
  return report;
}

// The lines are just below and beyond the old size of 4096 bytes, and several times as long.
TEST(MetricsLog, WritesAnyNumberOfColumns) {
  for (int columns : {0, 1, 100, 120, 121, 122, 123, 124, 125, 300, 2000}) {
    const std::string path = FreshFolder() + "/metrics.csv";
    EpochReport report = ReportOf(columns);
    {
      MetricsLog log(path, report);
      const int64_t before = CurrentHeapUse().allocations;
      log.Write(report);
      report.train.samples = 0;
      report.epoch = 1;
      log.Write(report);
      EXPECT_EQ(CurrentHeapUse().allocations, before);
    }
    const std::string text = ReadText(path);
    EXPECT_EQ(text.find('\0'), std::string::npos) << columns;
    std::istringstream lines(text);
    std::string header, first, second, rest;
    std::getline(lines, header);
    std::getline(lines, first);
    std::getline(lines, second);
    EXPECT_FALSE(std::getline(lines, rest));
    for (const std::string& line : {header, first, second}) {
      EXPECT_EQ(std::count(line.begin(), line.end(), ','), 4 + columns);
    }
    EXPECT_EQ(first.substr(0, 14), "1,0,0.125,0,7" + std::string(columns > 0 ? "," : ""));
    if (columns == 0) continue;
    const std::string last = std::to_string(columns - 1);
    EXPECT_EQ(header.substr(header.size() - last.size()), last);
    EXPECT_NEAR(std::stod(first.substr(first.rfind(',') + 1)), -1.0 / (columns + 2), 1e-9);
    EXPECT_EQ(second, "2,0,0.125,0,7" + std::string(static_cast<size_t>(columns), ','));
  }
}

TEST(MetricsLog, NotANumberHasNoSign) {
  const std::string path = FreshFolder() + "/metrics.csv";
  EpochReport report = ReportOf(1);
  report.train.means[0].value = -std::numeric_limits<double>::quiet_NaN();
  MetricsLog(path, report).Write(report);
  const std::string text = ReadText(path);
  EXPECT_EQ(text.substr(text.find('\n') + 1), "1,0,0.125,0,7,nan\n");
}

TEST(MetricsLog, ListsHaveAColumnAnElementAndTablesHaveNone) {
  const std::string path = FreshFolder() + "/metrics.csv";
  EpochReport report = ReportOf(0);
  report.train.tables = {{"recall", {0.5, 1, 0.25}, 0, false, ""}, {"table", {1, 2}, 1, true, ""}};
  MetricsLog(path, report).Write(report);
  EXPECT_EQ(ReadText(path),
            "epoch,step,learning_rate,seconds,samples,train_recall[0],train_recall[1],"
            "train_recall[2]\n"
            "1,0,0.125,0,7,0.5,1,0.25\n");
}

TEST(MetricsLog, HasAColumnARate) {
  const std::string path = FreshFolder() + "/metrics.csv";
  EpochReport report = ReportOf(0);
  report.rates = {{"learning_rate.judge", 0.5}, {"learning_rate.draw", 0.25}};
  MetricsLog(path, report).Write(report);
  EXPECT_EQ(ReadText(path),
            "epoch,step,learning_rate.judge,learning_rate.draw,seconds,samples\n"
            "1,0,0.5,0.25,0,7\n");
}

TEST(MetricsJson, HasListsAndListsOfRows) {
  PassResult pass;
  pass.means = {{"loss", 0.5}};
  pass.tables = {{"recall", {0.5, std::numeric_limits<double>::quiet_NaN()}, 0, false, ""},
                 {"count", {1, 2, 3, 40}, 2, true, ""}};
  EXPECT_EQ(MetricsJson(pass), "{}");
  pass.samples = 1;
  EXPECT_EQ(MetricsJson(pass), R"({"loss":0.5,"recall":[0.5,null],"count":[[1,2],[3,40]]})");
}

TEST(MetricsLog, AFileThatCannotBeWrittenIsNamed) {
  try {
    MetricsLog log("/nowhere/metrics.csv", ReportOf(1));
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "cannot write '/nowhere/metrics.csv': No such file or directory");
  }
}

}  // namespace
}  // namespace cgrun
