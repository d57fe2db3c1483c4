// Declares the attributes of tile and of expand.
#ifndef CGRUN_OPS_TILE_H_
#define CGRUN_OPS_TILE_H_

#include "src/ir/attributes.h"

namespace cgrun {

struct TileAttributes {
  IntList repeats;  // one for each axis

  static const AttributeSchema& Schema();
};

struct ExpandAttributes {
  IntList sizes;              // from the last axis on; 1 keeps that of x, 0 is the batch
  Shape batch = {kBatchDim};  // of that axis

  static const AttributeSchema& Schema();
};

}  // namespace cgrun

#endif  // CGRUN_OPS_TILE_H_
