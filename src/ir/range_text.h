// Puts the range of a field of numbers into words.
#ifndef CGRUN_IR_RANGE_TEXT_H_
#define CGRUN_IR_RANGE_TEXT_H_

#include <limits>
#include <string>

#include "src/ir/attributes.h"

namespace cgrun {

// The largest number below 1: the bound of what must be less than 1, in AtMost().
inline constexpr double kBelowOne = 0x1.fffffffffffffp-1;
// The smallest number above 0: the bound of what must be positive, in AtLeast().
inline constexpr double kAboveZero = std::numeric_limits<double>::denorm_min();

// "at least 0", "more than 0", "at most 9", "less than 1", "1 to 9", "at least 0 and less than 1";
// "" where every number is allowed.
std::string RangeText(double minimum, double maximum);

}  // namespace cgrun

#endif  // CGRUN_IR_RANGE_TEXT_H_
