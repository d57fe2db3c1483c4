// Declares the attributes of resample and of its gradient, and the weights that both compute with.
#ifndef CGRUN_OPS_RESAMPLE_H_
#define CGRUN_OPS_RESAMPLE_H_

#include <string>
#include <vector>

#include "src/ir/attributes.h"

namespace cgrun {

// For resample_grad, `from` is the size of the gradient that it gives.
struct ResampleAttributes {
  int64_t size = 1;  // of the axis of y
  int64_t axis = -1;
  std::string mode = "linear";             // or nearest, cubic
  std::string coordinates = "half_pixel";  // or half_pixel_symmetric, pytorch_half_pixel,
                                           // align_corners, asymmetric, part
  std::string rounding = "down";           // mode nearest: or up, floor, ceil
  double scale = 0;                        // size of y / size of x, if it is no ratio of integers
  double cubic = -0.75;                    // the coefficient of mode cubic
  bool exclude_outside = false;  // places outside of x have weight 0, not that of the edge
  bool antialias = false;        // a smaller y takes in all of x
  RealList part = {};            // [start, end] of coordinates `part`, in sizes of x
  double outside = 0;            // of y where `part` leaves x
  int64_t from = 0;

  static const AttributeSchema& Schema();
};

// One element of y is Σ weight[k]·x[index[k]], or `outside` where no weight is.
struct ResampleTaps {
  std::vector<int64_t> ends;  // of each element's taps
  std::vector<int64_t> index;
  std::vector<double> weight;
};

// Returns the taps of every element of an axis that goes from `from` elements to attributes.size.
ResampleTaps TapsOf(const ResampleAttributes& attributes, int64_t from);

}  // namespace cgrun

#endif  // CGRUN_OPS_RESAMPLE_H_
