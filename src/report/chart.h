// Line charts as SVG.
#ifndef CGRUN_REPORT_CHART_H_
#define CGRUN_REPORT_CHART_H_

#include <string>
#include <vector>

namespace cgrun {

struct ChartPoint {
  double x = 0;
  double y = 0;
};

struct Curve {
  std::string name;
  std::vector<ChartPoint> points;  // by x; those that are not finite are left out
};

struct Chart {
  std::string title;
  std::string x_name;  // "step"
  std::vector<Curve> curves;
  // If all numbers are above 0 and the most is many times the least, equal factors may be equal
  // heights.
  bool may_be_log = false;
};

// Returns an <svg> element with axes, a legend, and the values of each point to hover over.
std::string ChartSvg(const Chart& chart);

// Round numbers from the least to the most, about `wanted` of them: 0, 0.2, 0.4, …
std::vector<double> AxisTicks(double least, double most, int wanted);

// Returns the ticks of a logarithmic axis, whose `least` is above 0: 0.01, 0.02, 0.05, 0.1, …. If
// these are more than `most_ticks`, it returns only powers of ten, and not all of them.
std::vector<double> LogTicks(double least, double most, size_t most_ticks);

}  // namespace cgrun

#endif  // CGRUN_REPORT_CHART_H_
