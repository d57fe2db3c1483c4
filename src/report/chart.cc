// Scales, axes and lines.
#include "src/report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/report/markup.h"

namespace cgrun {
namespace {

constexpr double kWidth = 560, kHeight = 280;
constexpr double kLeft = 62, kRight = 12, kTop = 34, kBottom = 40;  // margins
constexpr int kXTicks = 6, kYTicks = 5;
constexpr size_t kMostLogTicks = 9;
constexpr double kLogFactor = 20;  // from the least to the most, beyond which an axis may be log
constexpr size_t kMostDots = 80;   // points of a curve that are drawn as dots
constexpr const char* kColors[] = {"#1f6fb4", "#d9730d", "#2b8a3e", "#8e44ad", "#c0392b"};

struct Range {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();

  void Take(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  // Never empty, so that one can divide by its width.
  void Widen() {
    if (!(least <= most)) least = 0, most = 1;
    if (least < most) return;
    const double by = least == 0 ? 1 : std::abs(least) * 0.1;
    least -= by;
    most += by;
  }
};

bool IsDrawn(const ChartPoint& point) { return std::isfinite(point.x) && std::isfinite(point.y); }

class ChartDrawing {
 public:
  explicit ChartDrawing(const Chart& chart) : chart_(chart) {
    for (const Curve& curve : chart.curves) {
      for (const ChartPoint& point : curve.points) {
        if (!IsDrawn(point)) continue;
        x_.Take(point.x);
        y_.Take(point.y);
      }
    }
    is_log_ = chart.may_be_log && y_.least > 0 && y_.most > kLogFactor * y_.least;
    x_.Widen();
    y_.Widen();
  }

  std::string ToString() {
    svg_ = fmt::format(
        "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\" class=\"chart\">\n"
        "<text x=\"{}\" y=\"18\" class=\"title\">{}</text>\n",
        kWidth, kHeight, EscapeMarkup(chart_.title), kLeft, EscapeMarkup(chart_.title));
    Axes();
    for (size_t i = 0; i < chart_.curves.size(); ++i) Line(i);
    Legend();
    return svg_ + "</svg>\n";
  }

 private:
  double X(double x) const {
    return kLeft + (x - x_.least) / (x_.most - x_.least) * (kWidth - kLeft - kRight);
  }
  double Y(double y) const {
    const double part = is_log_ ? std::log(y / y_.least) / std::log(y_.most / y_.least)
                                : (y - y_.least) / (y_.most - y_.least);
    return kHeight - kBottom - part * (kHeight - kTop - kBottom);
  }
  std::vector<double> YTicks() const {
    return is_log_ ? LogTicks(y_.least, y_.most, kMostLogTicks)
                   : AxisTicks(y_.least, y_.most, kYTicks);
  }
  static const char* ColorOf(size_t curve) { return kColors[curve % std::size(kColors)]; }

  void Axes() {
    if (is_log_) {
      svg_ += fmt::format("<text x=\"{}\" y=\"18\" class=\"tick right\">log</text>\n", kLeft - 8);
    }
    for (const double y : YTicks()) {
      svg_ += fmt::format(
          "<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" class=\"grid\"/>"
          "<text x=\"{}\" y=\"{:.1f}\" class=\"tick right\">{:.6g}</text>\n",
          kLeft, kWidth - kRight, Y(y), Y(y), kLeft - 8, Y(y) + 4, y);
    }
    for (const double x : AxisTicks(x_.least, x_.most, kXTicks)) {
      svg_ += fmt::format("<text x=\"{:.1f}\" y=\"{}\" class=\"tick middle\">{:.6g}</text>\n", X(x),
                          kHeight - kBottom + 16, x);
    }
    svg_ += fmt::format("<text x=\"{}\" y=\"{}\" class=\"tick middle\">{}</text>\n",
                        (kLeft + kWidth - kRight) / 2, kHeight - 6, EscapeMarkup(chart_.x_name));
  }

  void Line(size_t index) {
    const Curve& curve = chart_.curves[index];
    std::string points, dots;
    const bool draw_dots = curve.points.size() <= kMostDots;
    for (const ChartPoint& point : curve.points) {
      if (!IsDrawn(point)) continue;
      points += fmt::format("{:.1f},{:.1f} ", X(point.x), Y(point.y));
      if (!draw_dots) continue;
      dots += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"><title>{} at {} {:.6g}: "
          "{:.6g}</title></circle>\n",
          X(point.x), Y(point.y), ColorOf(index), EscapeMarkup(curve.name),
          EscapeMarkup(chart_.x_name), point.x, point.y);
    }
    svg_ += fmt::format("<polyline points=\"{}\" stroke=\"{}\" class=\"curve\"/>\n", points,
                        ColorOf(index));
    svg_ += dots;
  }

  void Legend() {
    double right = kWidth - kRight;
    for (size_t i = chart_.curves.size(); i-- > 0;) {
      svg_ += fmt::format(
          "<text x=\"{:.1f}\" y=\"18\" class=\"tick right\" style=\"fill: {}; font-weight: 600\">"
          "{}</text>\n",
          right, ColorOf(i), EscapeMarkup(chart_.curves[i].name));
      right -= 16 + 7 * static_cast<double>(chart_.curves[i].name.size());
    }
  }

  const Chart& chart_;
  Range x_, y_;
  bool is_log_ = false;  // the y axis
  std::string svg_;
};

}  // namespace

std::vector<double> AxisTicks(double least, double most, int wanted) {
  const double rough = (most - least) / wanted;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double part = rough / power;
  const double step = power * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
  std::vector<double> ticks;
  for (double i = std::ceil(least / step - 1e-9); i * step <= most + step * 1e-9; ++i) {
    ticks.push_back(i * step + 0.0);  // -0 + 0 is 0
  }
  return ticks;
}

std::vector<double> LogTicks(double least, double most, size_t most_ticks) {
  const double lowest = std::floor(std::log10(least)), highest = std::ceil(std::log10(most));
  const auto ticks_of = [&](const std::vector<double>& factors, double every) {
    std::vector<double> ticks;
    for (double power = lowest; power <= highest; power += every) {
      for (const double factor : factors) {
        const double tick = factor * std::pow(10, power);
        if (tick >= least * (1 - 1e-9) && tick <= most * (1 + 1e-9)) ticks.push_back(tick);
      }
    }
    return ticks;
  };
  std::vector<double> ticks = ticks_of({1, 2, 5}, 1);
  for (double every = 1; ticks.size() > most_ticks; ++every) ticks = ticks_of({1}, every);
  return ticks;
}

std::string ChartSvg(const Chart& chart) { return ChartDrawing(chart).ToString(); }

}  // namespace cgrun
