// Pages of runs: charts from metrics.csv, round ticks, markup that names cannot break.
#include "src/report/run_page.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "src/report/markup.h"
#include "src/report/memory_picture.h"

namespace cgrun {
namespace {

constexpr char kMetrics[] =
    "epoch,step,learning_rate,seconds,train_loss,train_top_2,valid_loss,valid_top_2\n"
    "1,10,0.1,2.5,0.9,0.5,0.8,0.6\n"
    "2,20,0.1,2.5,0.5,0.75,,\n"
    "3,30,0.1,2.5,nan,0.8,0.4,0.9\n";

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::vector<Chart> ChartsOfText(const std::string& text) {
  std::istringstream stream(text);
  return ChartsOf(stream);
}

TEST(Charts, OfALongRunKeepFewRowsAndTheLast) {
  std::string text = "step,train_loss\n";
  for (int step = 1; step <= 12345; ++step) {
    text += std::to_string(step) + "," + std::to_string(step) + "\n";
  }
  const std::vector<Chart> charts = ChartsOfText(text);
  ASSERT_EQ(charts.size(), 1u);
  const std::vector<ChartPoint>& points = charts[0].curves[0].points;
  EXPECT_LE(points.size(), 1001u);
  EXPECT_GE(points.size(), 500u);
  EXPECT_EQ(points.front().x, 1);
  EXPECT_EQ(points.back().x, 12345);
  for (size_t i = 1; i < points.size(); ++i) {
    EXPECT_LT(points[i - 1].x, points[i].x);
    EXPECT_EQ(points[i].x, points[i].y);
  }
}

TEST(Charts, AreOneAMetricWithACurveASplit) {
  const std::vector<Chart> charts = ChartsOfText(kMetrics);
  ASSERT_EQ(charts.size(), 2u);
  EXPECT_EQ(charts[0].title, "loss");
  EXPECT_EQ(charts[1].title, "top_2");
  ASSERT_EQ(charts[0].curves.size(), 2u);
  EXPECT_EQ(charts[0].curves[0].name, "train");
  EXPECT_EQ(charts[0].curves[1].name, "valid");
  EXPECT_EQ(charts[0].curves[1].points[0].x, 10);
  EXPECT_EQ(charts[0].curves[1].points[0].y, 0.8);
}

TEST(Charts, OfNothingAreNone) {
  EXPECT_TRUE(ChartsOfText("").empty());
  EXPECT_TRUE(ChartsOfText("epoch,step\n1,10\n").empty());
  EXPECT_TRUE(ChartsOfText("a,b\n1,2\n").empty());
}

TEST(Charts, LeaveOutWhatIsNotFinite) {
  const std::string svg = ChartSvg(ChartsOfText(kMetrics)[0]);
  EXPECT_EQ(Count(svg, "<circle"), 4u);
  EXPECT_EQ(svg.find("nan"), svg.npos) << svg;
}

TEST(Charts, OfOnePointOrNoneAreDrawn) {
  const std::string one = ChartSvg({"a < b", "step", {{"train", {{5, 5}}}}});
  EXPECT_EQ(Count(one, "<circle"), 1u);
  EXPECT_NE(one.find("a &lt; b"), one.npos);
  const double none = std::numeric_limits<double>::quiet_NaN();
  for (const Chart& chart :
       {Chart{"a", "step", {}}, Chart{"a", "step", {{"train", {{1, none}}}}}}) {
    const std::string svg = ChartSvg(chart);
    EXPECT_EQ(svg.find("inf"), svg.npos);
    EXPECT_EQ(svg.find("nan"), svg.npos);
  }
}

TEST(Charts, OfMetricsThatApproximateSaySo) {
  std::vector<Chart> charts =
      ChartsOfText("step,train_loss,train_auc,valid_auc,valid_auc2\n1,2,3,4,5\n");
  EpochReport last;
  last.train.means = {{"loss", 1}};
  last.evaluations.resize(1);
  last.evaluations[0].means = {{"auc", 0.9, true}, {"auc2", 0.9}};
  MarkApproximations(last, charts);
  ASSERT_EQ(charts.size(), 3u);
  EXPECT_EQ(charts[0].title, "loss");
  EXPECT_EQ(charts[1].title, "auc ≈");
  EXPECT_EQ(charts[2].title, "auc2");
}

TEST(AxisTicks, AreRound) {
  EXPECT_EQ(AxisTicks(0, 1, 5), (std::vector<double>{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1}));
  EXPECT_EQ(AxisTicks(85, 510, 6),
            (std::vector<double>{100, 150, 200, 250, 300, 350, 400, 450, 500}));
  EXPECT_EQ(AxisTicks(-3, 3, 3), (std::vector<double>{-2, 0, 2}));
  EXPECT_FALSE(std::signbit(AxisTicks(0, 1, 5)[0])) << "-0 on an axis";
}

TEST(AxisTicks, OfALogAxisAreOneTwoFiveOrPowersOfTen) {
  EXPECT_EQ(LogTicks(0.5, 20, 9), (std::vector<double>{0.5, 1, 2, 5, 10, 20}));
  const std::vector<double> wide = LogTicks(2e-9, 3e4, 9);
  ASSERT_GE(wide.size(), 4u);
  EXPECT_LE(wide.size(), 9u);
  for (const double tick : wide) {
    EXPECT_NEAR(std::log10(tick), std::round(std::log10(tick)), 1e-9) << tick;
  }
}

TEST(Charts, OfALossOverALargeRangeAreLog) {
  const auto chart_of = [](const std::string& metric, double most, double least) {
    return ChartSvg(ChartsOfText("step,train_" + metric + "\n1," + std::to_string(most) +
                                 "\n2,1\n3," + std::to_string(least) + "\n")[0]);
  };
  const std::string mark = ">log</text>";
  const std::string log = chart_of("loss", 10, 0.1);
  EXPECT_NE(log.find(mark), log.npos) << log;
  for (const char* tick : {">0.1<", ">0.2<", ">0.5<", ">1<", ">2<", ">5<", ">10<"}) {
    EXPECT_NE(log.find(tick), log.npos) << tick;
  }
  EXPECT_NE(log.find("cy=\"137.0\""), log.npos) << "1 stands half way between 0.1 and 10";
  EXPECT_NE(chart_of("critic.loss", 10, 0.1).find(mark), log.npos);
  EXPECT_EQ(chart_of("loss", 10, 0.6).find(mark), log.npos) << "less than 20 times";
  EXPECT_EQ(chart_of("loss", 10, 0).find(mark), log.npos);
  EXPECT_EQ(chart_of("loss", 10, -0.1).find(mark), log.npos);
  EXPECT_EQ(chart_of("accuracy", 10, 0.1).find(mark), log.npos);
}

TEST(Markup, IsEscaped) { EXPECT_EQ(EscapeMarkup("<a & \"b\">"), "&lt;a &amp; &quot;b&quot;&gt;"); }

TEST(RunPage, HoldsAllItsParts) {
  MemoryLayout layout;
  layout.arena_bytes = layout.lower_bound_bytes = 300;
  layout.persistent_bytes = 100;
  layout.entries.emplace_back().transient_bytes = 200;
  PlacedBuffer weight;
  weight.name = "fc.weight";
  weight.persistent = true;
  weight.bytes = 100;
  PlacedBuffer dx;
  dx.name = "fc.dx";
  dx.zone = Zone::kGradient;
  dx.entry = 0;
  dx.offset = 100;
  dx.bytes = 200;
  dx.lifespan = {1, 3};
  PlacedBuffer other = dx;  // of another entry point
  other.name = "elsewhere";
  other.entry = 1;
  layout.buffers = {weight, dx, other};
  const RunPage page{"a<b",   {{"train", "loss 1"}}, ChartsOfText(kMetrics), {},
                     &layout, "cgrun: 1\n# <\n"};
  const std::string html = RunPageHtml(page);
  EXPECT_TRUE(html.starts_with("<!DOCTYPE html>"));
  EXPECT_NE(html.find("<title>a&lt;b</title>"), html.npos);
  EXPECT_EQ(Count(html, "<svg"), 3u);
  EXPECT_NE(html.find("fc.dx\n200 B, gradient, steps 1 to 2"), html.npos) << html;
  EXPECT_NE(html.find("fc.weight\n100 B, forward, always"), html.npos);
  EXPECT_EQ(html.find("elsewhere"), html.npos);
  EXPECT_NE(html.find("# &lt;"), html.npos);
  EXPECT_EQ(html.find("http"), html.npos) << "it must not need a network";
  EXPECT_EQ(Count(RunPageHtml({"m", {}, {}, {}, nullptr, ""}), "<svg"), 0u);
}

TEST(RunPage, BeginsWithHowTheRunCameAbout) {
  RunPage page;
  page.facts = {{"train", "loss 1"}};
  EXPECT_EQ(Count(RunPageHtml(page), "<tbody>"), 1u);
  page.origin = {{"started", "2026-05-04"}, {"command", "cgrun train 'a<b.yaml'"}};
  const std::string html = RunPageHtml(page);
  const size_t command = html.find("<tr><td>command</td><td>cgrun train 'a&lt;b.yaml'</td></tr>");
  EXPECT_LT(command, html.find("loss 1")) << html;
  EXPECT_EQ(Count(html, "<table"), 1u) << "its columns are as wide as those of the summary";
  EXPECT_EQ(Count(html, "<tbody>"), 2u);
}

TEST(RunPage, HasTheConfusionOfClassesWhereItWasMeasured) {
  RunPage page;
  EXPECT_EQ(RunPageHtml(page).find("<figure>"), std::string::npos);
  page.matrices = {{"valid confusion", {"a", "b"}, {1, 0, 0, 1}},
                   {"test confusion", {"a", "b"}, {1, 1, 0, 2}}};
  const std::string html = RunPageHtml(page);
  EXPECT_EQ(Count(html, "<figure>"), 2u);
  EXPECT_LT(html.find("valid confusion: 2 of 2 right"), html.find("test confusion: 3 of 4 right"));
  EXPECT_NE(html.find(".matrix td {"), html.npos) << "its style";
  EXPECT_EQ(html.find("http"), html.npos) << "it must not need a network";
}

// A picture of 1056 by 404 pixels, of 1000 bytes and 100 steps.
std::string PictureOfBuffer(const std::string& name, int64_t bytes, Lifespan lifespan) {
  MemoryLayout layout;
  layout.entries.emplace_back().transient_bytes = 1000;
  PlacedBuffer buffer, last;
  buffer.name = name;
  buffer.entry = last.entry = 0;
  buffer.bytes = bytes;
  buffer.lifespan = lifespan;
  last.name = "";
  last.bytes = 1;
  last.lifespan = {99, 100};
  layout.buffers = {buffer, last};
  return MemoryPictureSvg(layout, 0);
}

TEST(MemoryPicture, CutsNamesWithAnEllipsisAndKeepsThemWholeInATooltip) {
  const std::string name = "classify.bottleneck[0].conv_norm[0].conv.relu.grad";
  const std::string svg = PictureOfBuffer(name, 100, {0, 10});  // 105 pixels wide
  EXPECT_NE(svg.find("<title>" + name + "\n"), svg.npos);
  EXPECT_NE(svg.find(">bottleneck[0]…"), svg.npos) << "the layer, and not the path";
  EXPECT_EQ(svg.find("rotate"), svg.npos);
  EXPECT_NE(PictureOfBuffer(name, 100, {0, 90}).find(">" + name + "</text>"), svg.npos);
}

TEST(MemoryPicture, WritesUprightWhatIsTallAndNarrow) {
  const std::string svg = PictureOfBuffer("classify.fc1.dweight", 500, {0, 3});  // 31 by 202 pixels
  EXPECT_NE(svg.find("rotate(-90)\">classify.fc1.dweight</text>"), svg.npos) << svg;
  EXPECT_EQ(PictureOfBuffer("classify.fc1.dweight", 50, {0, 1}).find("dweight</text>"), svg.npos);
}

TEST(MemoryPicture, HasRoundAddresses) {
  const std::string svg = PictureOfBuffer("x", 500, {0, 3});
  for (const char* tick : {">0 B<", ">256 B<", ">512 B<", ">1000 B<"}) {
    EXPECT_NE(svg.find(tick), svg.npos) << tick;
  }
}

}  // namespace
}  // namespace cgrun
