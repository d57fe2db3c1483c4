// The page's parts.
#include "src/report/run_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <istream>
#include <limits>
#include <utility>

#include "src/report/markup.h"
#include "src/report/memory_picture.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

constexpr char kRunStyle[] = R"(
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #1c2733; background: #fbfcfd; margin: 0 auto;
       max-width: 1180px; padding: 24px; }
h1 { font-size: 26px; margin: 0 0 12px; }
h2 { font-size: 18px; margin: 32px 0 10px; border-bottom: 1px solid #dde3e9; padding-bottom: 4px; }
table { border-collapse: collapse; }
td { padding: 3px 18px 3px 0; vertical-align: top; }
td:first-child { color: #5a6875; white-space: nowrap; }
.facts td { overflow-wrap: anywhere; }
.facts tbody + tbody tr:first-child td { padding-top: 14px; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(440px, 1fr)); gap: 16px; }
svg { background: #fff; border: 1px solid #dde3e9; border-radius: 6px; width: 100%; height: auto; }
.title { font-weight: 600; font-size: 14px; }
.tick { font-size: 11px; fill: #5a6875; }
.right { text-anchor: end; }
.middle { text-anchor: middle; }
.grid { stroke: #e7ecf0; }
.curve { fill: none; stroke-width: 2; stroke-linejoin: round; }
.memory rect { stroke: #fff; stroke-width: 0.6; }
.memory g text { font-size: 10px; pointer-events: none; }
.memory g:hover rect { stroke: #1c2733; stroke-width: 1.4; }
pre { background: #fff; border: 1px solid #dde3e9; border-radius: 6px; padding: 12px; overflow: auto;
      font-size: 13px; line-height: 1.45; }
)";

std::vector<std::string_view> Split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (size_t end; (end = text.find(at)) != std::string_view::npos; text.remove_prefix(end + 1)) {
    parts.push_back(text.substr(0, end));
  }
  parts.push_back(text);
  return parts;
}

// An empty cell is no number.
double NumberOf(std::string_view cell) {
  double number = std::numeric_limits<double>::quiet_NaN();
  std::from_chars(cell.data(), cell.data() + cell.size(), number);
  return number;
}

// "loss", or of one path of several "discriminate.loss".
bool IsLoss(std::string_view metric) { return metric == "loss" || metric.ends_with(".loss"); }

Curve& CurveOf(std::string_view column, std::vector<Chart>& charts) {
  const size_t split = column.find('_');
  const std::string title(column.substr(split + 1)), name(column.substr(0, split));
  auto chart = std::find_if(charts.begin(), charts.end(),
                            [&](const Chart& other) { return other.title == title; });
  if (chart == charts.end()) {
    chart = charts.insert(charts.end(), {title, "step", {}, IsLoss(title)});
  }
  auto& curves = chart->curves;
  auto curve = std::find_if(curves.begin(), curves.end(),
                            [&](const Curve& other) { return other.name == name; });
  if (curve == curves.end()) curve = curves.insert(curves.end(), {name, {}});
  return *curve;
}

// Reads rows one after another and keeps so few of them that curves stay small: the first, the last
// and every so many in between.
class MetricRows {
 public:
  explicit MetricRows(const std::string& header) : header_(header), columns_(Split(header_, ',')) {
    step_ = static_cast<size_t>(std::ranges::find(columns_, "step") - columns_.begin());
  }

  void Add(const std::string& line) {
    const std::vector<std::string_view> cells = Split(line, ',');
    if (cells.size() != columns_.size() || step_ >= cells.size()) return;
    last_.clear();
    for (const std::string_view cell : cells) last_.push_back(NumberOf(cell));
    if (rows_++ % every_ == 0) Keep();
  }

  std::vector<Chart> TakeCharts() {
    if (rows_ > 0 && (rows_ - 1) % every_ != 0) Keep();
    return std::move(charts_);
  }

 private:
  static constexpr size_t kMostRows = 1000;

  void Keep() {
    for (size_t c = 0; c < columns_.size(); ++c) {
      const std::string_view column = columns_[c];
      const bool is_metric = column.starts_with("train_") || column.starts_with("valid_") ||
                             column.starts_with("test_");
      if (is_metric) CurveOf(column, charts_).points.push_back({last_[step_], last_[c]});
    }
    if (++kept_ > kMostRows) DropHalf();
  }

  void DropHalf() {
    for (Chart& chart : charts_) {
      for (Curve& curve : chart.curves) {
        const size_t half = (curve.points.size() + 1) / 2;
        for (size_t i = 0; i < half; ++i) curve.points[i] = curve.points[2 * i];
        curve.points.resize(half);
      }
    }
    kept_ = (kept_ + 1) / 2;
    every_ *= 2;
  }

  const std::string header_;
  const std::vector<std::string_view> columns_;
  size_t step_ = 0;
  size_t rows_ = 0, kept_ = 0, every_ = 1;
  std::vector<double> last_;  // the row that came last
  std::vector<Chart> charts_;
};

using Rows = std::vector<std::pair<std::string, std::string>>;

std::string RowsHtml(const Rows& rows) {
  if (rows.empty()) return "";
  std::string html = "<tbody>\n";
  for (const auto& [name, value] : rows) {
    html +=
        fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", EscapeMarkup(name), EscapeMarkup(value));
  }
  return html + "</tbody>\n";
}

std::string MatricesHtml(const std::vector<ConfusionMatrix>& matrices) {
  if (matrices.empty()) return "";
  std::string html =
      "<h2>Classes, and what they are taken for</h2>\n<p>A row is a label, a column what it is "
      "taken for: blue where that is right, orange where it is wrong, the darker the larger its "
      "part of the row.</p>\n<div class=\"matrices\">\n";
  for (const ConfusionMatrix& matrix : matrices) html += ConfusionHtml(matrix);
  return html + "</div>\n";
}

std::string MemoryHtml(const MemoryLayout& layout) {
  return fmt::format(
      "<h2>Memory of a training step</h2>\n<p>Time goes across, addresses go up; a rectangle is a "
      "buffer. The arena takes {}, its lower bound is {}.</p>\n{}",
      FormatBytes(layout.arena_bytes), FormatBytes(layout.lower_bound_bytes),
      MemoryPictureSvg(layout, 0));
}

}  // namespace

std::vector<Chart> ChartsOf(std::istream& metrics_csv) {
  std::string line;
  std::getline(metrics_csv, line);
  MetricRows rows(line);
  while (std::getline(metrics_csv, line)) rows.Add(line);
  return rows.TakeCharts();
}

void MarkApproximations(const EpochReport& last, std::vector<Chart>& charts) {
  const auto approximates = [](const PassResult& pass, const std::string& name) {
    return std::ranges::any_of(
        pass.means, [&](const NamedNumber& mean) { return mean.name == name && mean.approximate; });
  };
  for (Chart& chart : charts) {
    const bool is_marked = approximates(last.train, chart.title) ||
                           std::ranges::any_of(last.evaluations, [&](const PassResult& pass) {
                             return approximates(pass, chart.title);
                           });
    if (is_marked) chart.title += " ≈";
  }
}

std::string RunPageHtml(const RunPage& page) {
  const std::string model = EscapeMarkup(page.model);
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{}</title>\n"
      "<style>{}{}</style>\n</head>\n<body>\n<h1>{}</h1>\n",
      model, kRunStyle, ConfusionStyle(), model);
  html += "<table class=\"facts\">\n" + RowsHtml(page.origin) + RowsHtml(page.facts) + "</table>\n";
  if (!page.charts.empty()) html += "<h2>Curves</h2>\n<div class=\"charts\">\n";
  for (const Chart& chart : page.charts) html += ChartSvg(chart);
  if (!page.charts.empty()) html += "</div>\n";
  html += MatricesHtml(page.matrices);
  if (page.layout != nullptr && !page.layout->entries.empty()) html += MemoryHtml(*page.layout);
  html += "<h2>Settings</h2>\n<pre>" + EscapeMarkup(page.settings) + "</pre>\n";
  return html + "</body>\n</html>\n";
}

}  // namespace cgrun
