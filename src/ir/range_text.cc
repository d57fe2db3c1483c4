// Bounds in words: those next to a whole number stand for the number itself, left out.
#include "src/ir/range_text.h"

#include <cmath>

namespace cgrun {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string NumberText(double value) { return ToString(AttributeValue(value)); }

// Returns whether a bound only leaves out the whole number next to it, on the side of `towards`.
bool LeavesOutNext(double bound, double towards) {
  return bound != std::floor(bound) && std::nextafter(bound, towards) == std::round(bound);
}

bool IsOpenBelow(double minimum) { return LeavesOutNext(minimum, -kInfinity); }
bool IsOpenAbove(double maximum) { return LeavesOutNext(maximum, kInfinity); }

std::string LeastText(double minimum) {
  return IsOpenBelow(minimum) ? "more than " + NumberText(std::round(minimum))
                              : "at least " + NumberText(minimum);
}

std::string MostText(double maximum) {
  return IsOpenAbove(maximum) ? "less than " + NumberText(std::round(maximum))
                              : "at most " + NumberText(maximum);
}

}  // namespace

std::string RangeText(double minimum, double maximum) {
  const bool low = minimum > -kInfinity, high = maximum < kInfinity;
  if (!low) return high ? MostText(maximum) : "";
  if (!high) return LeastText(minimum);
  if (!IsOpenBelow(minimum) && !IsOpenAbove(maximum)) {
    return NumberText(minimum) + " to " + NumberText(maximum);
  }
  return LeastText(minimum) + " and " + MostText(maximum);
}

}  // namespace cgrun
