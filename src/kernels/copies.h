// Plans the copies of the operators that only move elements. The kernels of every device follow
// these plans.
#ifndef CGRUN_KERNELS_COPIES_H_
#define CGRUN_KERNELS_COPIES_H_

#include "src/ir/signature.h"
#include "src/kernels/strided.h"

namespace cgrun {

// Describes a copy from operand 0 to operand 1: a space with their offsets, and where these begin,
// in elements.
struct CopyPlan {
  StridedSpace<2> space;
  std::array<int64_t, 2> base{};
};

// Describes the same copy into a tensor that is filled before.
struct FillAndCopyPlan {
  CopyPlan copy;
  int64_t elements = 0;  // of operand 1
  uint64_t fill = 0;     // the bits of an element
};

CopyPlan PlanBroadcast(const NodeSignature& node);
CopyPlan PlanCrop(const NodeSignature& node);
CopyPlan PlanFlip(const NodeSignature& node);
CopyPlan PlanSlice(const NodeSignature& node);
CopyPlan PlanTranspose(const NodeSignature& node);
FillAndCopyPlan PlanPad(const NodeSignature& node);
FillAndCopyPlan PlanSliceGrad(const NodeSignature& node);

}  // namespace cgrun

#endif  // CGRUN_KERNELS_COPIES_H_
