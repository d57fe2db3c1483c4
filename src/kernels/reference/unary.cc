// neg: functions of one number.
#include "src/kernels/reference/elementwise.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

struct Neg {
  template <class C>
  C operator()(C x) const {
    return -x;
  }
};

}  // namespace

KernelDef neg() { return Unary<Neg>::Define("reference.neg"); }

}  // namespace cgrun::reference
