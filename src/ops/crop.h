// Declares the attributes of crop, and where the part that it keeps begins.
#ifndef CGRUN_OPS_CROP_H_
#define CGRUN_OPS_CROP_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct CropAttributes {
  IntList size;    // height, width
  IntList offset;  // top, left; empty: the part in the middle

  static const AttributeSchema& Schema();
};

// First row and first column of the part, on images whose last two axes are the rows and columns.
IntList CropOffset(const CropAttributes& attributes, const Shape& images);

}  // namespace cgrun

#endif  // CGRUN_OPS_CROP_H_
