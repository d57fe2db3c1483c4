// The page's parts.
#include "src/report/run_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "src/report/markup.h"
#include "src/report/memory_picture.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

constexpr char kStyle[] = R"(
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

std::vector<Chart> ChartsOf(std::string_view metrics_csv) {
  const std::vector<std::string_view> lines = Split(metrics_csv, '\n');
  const std::vector<std::string_view> columns = Split(lines[0], ',');
  const auto step =
      static_cast<size_t>(std::find(columns.begin(), columns.end(), "step") - columns.begin());
  std::vector<Chart> charts;
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string_view> cells = Split(lines[i], ',');
    if (cells.size() != columns.size() || step >= cells.size()) continue;
    for (size_t c = 0; c < columns.size(); ++c) {
      const bool is_metric = columns[c].starts_with("train_") || columns[c].starts_with("valid_") ||
                             columns[c].starts_with("test_");
      if (!is_metric) continue;
      CurveOf(columns[c], charts).points.push_back({NumberOf(cells[step]), NumberOf(cells[c])});
    }
  }
  return charts;
}

std::string RunPageHtml(const RunPage& page) {
  const std::string model = EscapeMarkup(page.model);
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{}</title>\n"
      "<style>{}{}</style>\n</head>\n<body>\n<h1>{}</h1>\n",
      model, kStyle, ConfusionStyle(), model);
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
