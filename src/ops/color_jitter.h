// Declares the attributes of color_jitter, and says by how much the colours of a sample change.
#ifndef CGRUN_OPS_COLOR_JITTER_H_
#define CGRUN_OPS_COLOR_JITTER_H_

#include <array>
#include <cstdint>

#include "src/ir/attributes.h"

namespace cgrun {

// An empty list changes nothing. One number d is the range from 1 - d, but not below 0, to 1 + d;
// for `hue` it is from -d to d. Two numbers are the ends of a range.
struct ColorJitterAttributes {
  RealList brightness;
  RealList contrast;
  RealList saturation;
  RealList hue;
  int64_t key = 0;     // of the random numbers: RandomKey(seed, name of the node)
  bool varied = true;  // false: no sample changes

  static const AttributeSchema& Schema();
};

// Holds the changes of one sample.
struct ColorChange {
  double brightness = 1;
  double contrast = 1;
  double saturation = 1;
  double hue = 0;  // in turns of the colour circle
};

// Holds the ranges that each sample's change is drawn from.
struct ColorRange {
  struct Range {
    double from = 1;
    double to = 1;
  };
  std::array<Range, 4> ranges = {{{1, 1}, {1, 1}, {1, 1}, {0, 0}}};  // in the order of ColorChange
  uint64_t key = 0;

  static ColorRange Of(const ColorJitterAttributes& attributes);
  // Draws the change of sample `n` at a step.
  ColorChange ChangeOf(uint64_t step, int64_t n) const;
};

}  // namespace cgrun

#endif  // CGRUN_OPS_COLOR_JITTER_H_
