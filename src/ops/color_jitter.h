// Attributes of color_jitter, and by how much the colours of a sample change.
#ifndef CGRUN_OPS_COLOR_JITTER_H_
#define CGRUN_OPS_COLOR_JITTER_H_

#include <array>
#include <cstdint>

#include "src/ir/attributes.h"

namespace cgrun {

// Empty: nothing changes. One number d: from 1 - d, or 0, to 1 + d; of `hue` from -d to d. Two:
// from the first to the second.
struct ColorJitterAttributes {
  RealList brightness;
  RealList contrast;
  RealList saturation;
  RealList hue;
  int64_t key = 0;     // of the random numbers: RandomKey(seed, name of the node)
  bool varied = true;  // false: no sample changes

  static const AttributeSchema& Schema();
};

// What one sample is changed by.
struct ColorChange {
  double brightness = 1;
  double contrast = 1;
  double saturation = 1;
  double hue = 0;  // in turns of the colour circle
};

// From what each sample's change is drawn.
struct ColorRange {
  struct Range {
    double from = 1;
    double to = 1;
  };
  std::array<Range, 4> ranges = {{{1, 1}, {1, 1}, {1, 1}, {0, 0}}};  // in the order of ColorChange
  uint64_t key = 0;

  static ColorRange Of(const ColorJitterAttributes& attributes);
  // Of sample `n` at a step.
  ColorChange ChangeOf(uint64_t step, int64_t n) const;
};

}  // namespace cgrun

#endif  // CGRUN_OPS_COLOR_JITTER_H_
