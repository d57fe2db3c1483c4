// Declares the reference kernel of each operator of op_list.inc: a forgotten one is a link error.
#ifndef CGRUN_KERNELS_REFERENCE_KERNELS_H_
#define CGRUN_KERNELS_REFERENCE_KERNELS_H_

#include "src/kernels/kernel.h"

namespace cgrun::reference {

#define CGRUN_OP(name, cpu, cuda) KernelDef name();
#include "src/ir/op_list.inc"
#undef CGRUN_OP

}  // namespace cgrun::reference

#endif  // CGRUN_KERNELS_REFERENCE_KERNELS_H_
