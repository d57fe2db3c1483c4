#include "src/report/search_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "src/report/chart.h"
#include "src/report/markup.h"
#include "src/report/search_report.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

constexpr char kSearchStyle[] = R"(
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #1c2733; background: #fbfcfd; margin: 0 auto;
       max-width: 1180px; padding: 24px; }
h1 { font-size: 26px; margin: 0 0 12px; }
h2 { font-size: 18px; margin: 32px 0 10px; border-bottom: 1px solid #dde3e9; padding-bottom: 4px; }
table { border-collapse: collapse; font-size: 14px; }
td, th { padding: 3px 16px 3px 0; vertical-align: top; text-align: left; }
th { color: #5a6875; font-weight: 600; }
.wide { overflow-x: auto; }
svg { background: #fff; border: 1px solid #dde3e9; border-radius: 6px; width: 100%; height: auto; }
.tick { font-size: 11px; fill: #5a6875; paint-order: stroke; stroke: #fff; stroke-width: 3px; }
.name { font-size: 12px; font-weight: 600; }
.right { text-anchor: end; }
.middle { text-anchor: middle; }
.grid { stroke: #e7ecf0; }
.axis { stroke: #9aa7b3; }
.trial { fill: none; stroke-linejoin: round; stroke-width: 1.4; stroke-opacity: 0.7; }
.trial:hover { stroke-width: 4; stroke-opacity: 1; }
.bar { fill: #1f6fb4; }
pre { background: #fff; border: 1px solid #dde3e9; border-radius: 6px; padding: 12px; overflow: auto;
      font-size: 13px; line-height: 1.45; }
)";

constexpr double kWidth = 1120, kHeight = 360;
constexpr double kLeft = 70, kRight = 40, kTop = 40, kBottom = 40;

// An axis gives each value of one quantity a place from 0 to 1.
struct Axis {
  std::string name;
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
  bool is_log = false;
  std::vector<std::string> words;  // instead of numbers
  std::vector<double> marks;       // the numbers, if they are few

  void Take(double value) {
    if (!std::isfinite(value)) return;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  // A wide range above 0 is drawn by its logarithm.
  void Close() {
    constexpr double kWide = 50;
    if (!(least <= most)) least = 0, most = 1;
    if (least == most) least -= 0.5, most += 0.5;
    is_log = least > 0 && most / least > kWide;
  }
  double At(double value) const {
    if (is_log) return std::log(value / least) / std::log(most / least);
    return (value - least) / (most - least);
  }
  std::vector<double> Ticks() const {
    if (!marks.empty()) return marks;
    return is_log ? LogTicks(least, most, 6) : AxisTicks(least, most, 5);
  }
};

Axis NamedAxis(const std::string& name) {
  Axis axis;
  axis.name = name;
  return axis;
}

std::optional<double> ReadNumber(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The best trial is blue, the worst one grey.
std::string ColorOf(size_t rank, size_t count) {
  const double part = count < 2 ? 0 : static_cast<double>(rank) / static_cast<double>(count - 1);
  const auto mix = [&](int best, int worst) {
    return static_cast<int>(std::lround(best + std::sqrt(part) * (worst - best)));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(0x10, 0xd5), mix(0x62, 0xd9), mix(0xc0, 0xde));
}

std::string TrialTitle(const SearchResult& result, const TrialResult& trial) {
  std::string title = fmt::format("trial {}: {}", trial.number, Name(trial.state));
  if (trial.value) title += fmt::format(", {} {:.6g}", result.metric, *trial.value);
  for (size_t i = 0; i < trial.settings.size(); ++i) {
    if (!trial.settings[i].empty()) title += ", " + result.parameters[i] + " " + trial.settings[i];
  }
  return EscapeMarkup(title);
}

std::vector<const TrialResult*> RankedOf(const SearchResult& result) {
  std::vector<const TrialResult*> ranked;
  for (const TrialResult& trial : result.trials) {
    if (trial.value) ranked.push_back(&trial);
  }
  return ranked;
}

double AcrossChart(double part) { return kLeft + part * (kWidth - kLeft - kRight); }
double UpChart(double part) { return kHeight - kBottom - part * (kHeight - kTop - kBottom); }

// The chart of all curves: x is the evaluation, counted from 1.
class CurvesChart {
 public:
  explicit CurvesChart(const SearchResult& result)
      : result_(result),
        ranked_(RankedOf(result)),
        x_(NamedAxis("evaluation")),
        y_(NamedAxis(result.metric)) {
    for (const TrialResult* trial : ranked_) {
      x_.Take(1);
      x_.Take(static_cast<double>(trial->curve.size()));
      for (const double value : trial->curve) y_.Take(value);
    }
    x_.Close();
    y_.Close();
    x_.is_log = false;
  }

  std::string ToString() {
    svg_ = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n", kWidth,
                       kHeight, EscapeMarkup(result_.metric));
    Grid();
    for (size_t i = ranked_.size(); i-- > 0;) Line(i);  // the better ones above the others
    return svg_ + "</svg>\n";
  }

 private:
  void Grid() {
    for (const double tick : y_.Ticks()) {
      svg_ += fmt::format(
          "<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" class=\"grid\"/><text x=\"{}\" "
          "y=\"{:.1f}\" class=\"tick right\">{:.6g}</text>\n",
          kLeft, kWidth - kRight, UpChart(y_.At(tick)), UpChart(y_.At(tick)), kLeft - 8,
          UpChart(y_.At(tick)) + 4, tick);
    }
    for (const double tick : AxisTicks(x_.least, x_.most, 8)) {
      if (tick != std::floor(tick)) continue;
      svg_ += fmt::format("<text x=\"{:.1f}\" y=\"{}\" class=\"tick middle\">{:.6g}</text>\n",
                          AcrossChart(x_.At(tick)), kHeight - 22, tick);
    }
    svg_ += fmt::format(
        "<text x=\"{}\" y=\"20\" class=\"name\">{}</text><text x=\"{}\" y=\"{}\" class=\"tick "
        "middle\">evaluation of valid</text>\n",
        kLeft, EscapeMarkup(result_.metric), kWidth / 2, kHeight - 6);
  }

  // A curve of one point is a dot, as a line of one point cannot be seen.
  void Line(size_t rank) {
    const std::vector<double>& curve = ranked_[rank]->curve;
    const std::string color = ColorOf(rank, ranked_.size());
    const std::string title = TrialTitle(result_, *ranked_[rank]);
    std::string points;
    for (size_t i = 0; i < curve.size(); ++i) {
      if (!std::isfinite(curve[i])) continue;
      const double across = AcrossChart(x_.At(static_cast<double>(i + 1)));
      points += fmt::format("{:.1f},{:.1f} ", across, UpChart(y_.At(curve[i])));
    }
    if (curve.size() == 1 && !points.empty()) {
      svg_ += fmt::format(
          "<circle r=\"3\" cx=\"{:.1f}\" cy=\"{:.1f}\" fill=\"{}\"><title>{}</title></circle>\n",
          AcrossChart(x_.At(1)), UpChart(y_.At(curve[0])), color, title);
      return;
    }
    svg_ += fmt::format(
        "<polyline points=\"{}\" stroke=\"{}\" class=\"trial\"><title>{}</title></polyline>\n",
        points, color, title);
  }

  const SearchResult& result_;
  const std::vector<const TrialResult*> ranked_;
  Axis x_, y_;
  std::string svg_;
};

// The axis of a parameter: of numbers, or of words in the order in which they come.
Axis AxisOf(const SearchResult& result, size_t parameter) {
  Axis axis = NamedAxis(result.parameters[parameter]);
  bool are_numbers = true;
  for (const TrialResult* trial : RankedOf(result)) {
    const std::string& setting = trial->settings[parameter];
    if (setting.empty()) continue;
    const auto number = ReadNumber(setting);
    are_numbers &= number.has_value();
    if (number) axis.Take(*number);
    if (number && std::ranges::find(axis.marks, *number) == axis.marks.end()) {
      axis.marks.push_back(*number);
    }
    if (std::ranges::find(axis.words, setting) == axis.words.end()) axis.words.push_back(setting);
  }
  std::ranges::sort(axis.words);
  constexpr size_t kMostMarks = 7;
  if (axis.marks.size() > kMostMarks) axis.marks.clear();
  if (are_numbers) axis.words.clear();
  if (!are_numbers) axis.least = -0.5, axis.most = static_cast<double>(axis.words.size()) - 0.5;
  axis.Close();
  return axis;
}

std::optional<double> PlaceOn(const Axis& axis, const std::string& setting) {
  if (setting.empty()) return std::nullopt;
  if (axis.words.empty()) return axis.At(ReadNumber(setting).value_or(0));
  const auto word = std::ranges::find(axis.words, setting);
  return axis.At(static_cast<double>(word - axis.words.begin()));
}

// Paths differ by their ends, values by their beginnings.
std::string EndOf(const std::string& path, size_t most) {
  return path.size() <= most ? path : "…" + path.substr(path.size() - most + 1);
}
std::string BeginOf(const std::string& value, size_t most) {
  return value.size() <= most ? value : value.substr(0, most - 1) + "…";
}

std::string AxisSvg(const Axis& axis, double x) {
  std::string svg = fmt::format(
      "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\" class=\"axis\"/><text "
      "x=\"{0:.1f}\" y=\"20\" class=\"name middle\">{3}</text>\n",
      x, kTop, kHeight - kBottom, EscapeMarkup(EndOf(axis.name, 24)));
  const auto label = [&](double part, const std::string& text) {
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"tick right\">{}</text>\n", x - 6,
                       UpChart(part) + 4, EscapeMarkup(BeginOf(text, 18)));
  };
  for (size_t i = 0; i < axis.words.size(); ++i) {
    label(axis.At(static_cast<double>(i)), axis.words[i]);
  }
  if (!axis.words.empty()) return svg;
  for (const double tick : axis.Ticks()) label(axis.At(tick), fmt::format("{:.6g}", tick));
  return svg;
}

// Draws parallel coordinates: each parameter has an axis, and the metric has the one on the right.
std::string ParallelSvg(const SearchResult& result) {
  const auto ranked = RankedOf(result);
  std::vector<Axis> axes;
  for (size_t i = 0; i < result.parameters.size(); ++i) axes.push_back(AxisOf(result, i));
  Axis metric = NamedAxis(result.metric);
  for (const TrialResult* trial : ranked) metric.Take(*trial->value);
  metric.Close();
  axes.push_back(metric);
  const auto x_of = [&](size_t axis) {
    const double part =
        axes.size() < 2 ? 0.5 : static_cast<double>(axis) / static_cast<double>(axes.size() - 1);
    return 110 + part * (kWidth - 110 - kRight - 20);
  };
  std::string svg = fmt::format(
      "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"parameters\">\n", kWidth, kHeight);
  for (size_t i = ranked.size(); i-- > 0;) {
    std::string points;
    for (size_t k = 0; k < axes.size(); ++k) {
      const bool is_metric = k + 1 == axes.size();
      const auto place = is_metric ? std::optional(metric.At(*ranked[i]->value))
                                   : PlaceOn(axes[k], ranked[i]->settings[k]);
      if (place) points += fmt::format("{:.1f},{:.1f} ", x_of(k), UpChart(*place));
    }
    svg += fmt::format(
        "<polyline points=\"{}\" stroke=\"{}\" class=\"trial\"><title>{}</title></polyline>\n",
        points, ColorOf(i, ranked.size()), TrialTitle(result, *ranked[i]));
  }
  for (size_t k = 0; k < axes.size(); ++k) svg += AxisSvg(axes[k], x_of(k));
  return svg + "</svg>\n";
}

std::string WeightsHtml(const SearchResult& result) {
  const auto weights = WeighParameters(result);
  if (weights.empty()) return "";
  std::string html =
      "<h2>Parameters that mattered</h2>\n<p>The bar is the share of the differences between ranks "
      "that this parameter alone explains. Parameters can matter together, too.</p>\n<table>\n";
  for (const auto& [parameter, share, best] : weights) {
    html += fmt::format(
        "<tr><td>{}</td><td><svg viewBox=\"0 0 200 12\" style=\"width: 200px; border: 0\"><rect "
        "class=\"bar\" width=\"{:.1f}\" height=\"12\"/></svg></td><td>{:.0f} %</td><td>{}</td></tr>"
        "\n",
        EscapeMarkup(parameter), 200 * share, 100 * share,
        best.empty() ? "" : EscapeMarkup("best: " + best));
  }
  return html + "</table>\n";
}

std::string RungsHtml(const SearchResult& result) {
  if (result.rungs.empty()) return "";
  std::string html =
      "<h2>Rungs</h2>\n<table>\n<tr><th>until epoch</th><th>trials</th><th>stopped "
      "here</th></tr>\n";
  for (size_t i = 0; i < result.rungs.size(); ++i) {
    std::string stopped;
    int64_t trials = 0;
    for (const TrialResult& trial : result.trials) {
      if (trial.rung < static_cast<int64_t>(i)) continue;
      ++trials;
      const bool ends_here = trial.rung == static_cast<int64_t>(i);
      if (!ends_here || trial.state != TrialState::kStopped) continue;
      stopped += (stopped.empty() ? "" : ", ") + std::to_string(trial.number);
    }
    html += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n", result.rungs[i].epochs,
                        trials, stopped);
  }
  return html + "</table>\n";
}

std::string EnsembleHtml(const SearchResult& result) {
  if (!result.ensemble) return "";
  const EnsembleResult& ensemble = *result.ensemble;
  std::string html = "<h2>Ensemble</h2>\n";
  if (!ensemble.problem.empty()) {
    html += "<p>There is no ensemble: " + EscapeMarkup(ensemble.problem) + ".</p>\n";
  } else {
    html += fmt::format(
        "<p>{} samples of <i>valid</i> chose the members ({}), and the other {} measured "
        "them:</p>\n"
        "<table>\n<tr><th></th><th>{}</th></tr>\n<tr><td>{}</td><td>{:.6g}</td></tr>\n"
        "<tr><td>trial {} alone</td><td>{:.6g}</td></tr>\n</table>\n",
        ensemble.choosing_samples, ensemble.greedy ? "greedy" : "top", ensemble.samples,
        EscapeMarkup(result.metric), MembersText(ensemble), ensemble.value, ensemble.best_trial,
        ensemble.alone);
  }
  if (ensemble.refused.empty()) return html;
  html += "<p>These trials cannot be members:</p>\n<table>\n";
  for (const EnsembleRefusal& refusal : ensemble.refused) {
    html += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", refusal.trial,
                        EscapeMarkup(refusal.reason));
  }
  return html + "</table>\n";
}

std::string TableHtml(const SearchResult& result) {
  std::string html = fmt::format(
      "<h2>Trials</h2>\n<div class=\"wide\"><table>\n<tr><th>rank</th><th>trial</th><th>{}</th><th>"
      "epochs</th><th>arena</th><th>state</th>",
      EscapeMarkup(result.metric));
  for (const std::string& name : result.parameters) html += "<th>" + EscapeMarkup(name) + "</th>";
  html += "</tr>\n";
  int64_t rank = 0;
  for (const TrialResult& trial : result.trials) {
    const bool is_ranked = trial.value && trial.state != TrialState::kFailed;
    html += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>",
        is_ranked ? std::to_string(++rank) : "", trial.number,
        trial.value ? fmt::format("{:.6g}", *trial.value) : "", trial.epochs,
        trial.arena > 0 ? FormatBytes(trial.arena) : "",
        EscapeMarkup(Name(trial.state) + (trial.reason.empty() ? "" : ": " + trial.reason)));
    for (const std::string& setting : trial.settings) {
      html += "<td>" + EscapeMarkup(setting) + "</td>";
    }
    html += "</tr>\n";
  }
  return html + "</table></div>\n";
}

}  // namespace

std::string SearchPageHtml(const SearchResult& result, const std::string& settings) {
  const std::string name = EscapeMarkup(result.name);
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{}</title>\n"
      "<style>{}</style>\n</head>\n<body>\n<h1>{}</h1>\n",
      name, kSearchStyle, name);
  html += fmt::format("<p>{}</p>\n", EscapeMarkup(BestTrialText(result)));
  if (!RankedOf(result).empty()) {
    html += "<h2>Curves of all trials</h2>\n<p>The darker the line, the better the trial.</p>\n" +
            CurvesChart(result).ToString();
    html += "<h2>Parameters and what they led to</h2>\n" + ParallelSvg(result);
    html += WeightsHtml(result);
  }
  html += EnsembleHtml(result) + RungsHtml(result) + TableHtml(result);
  html += "<h2>Search file</h2>\n<pre>" + EscapeMarkup(settings) + "</pre>\n";
  return html + "</body>\n</html>\n";
}

}  // namespace cgrun
