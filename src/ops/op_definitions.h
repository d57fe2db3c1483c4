// Declares op_def::NAME() for each line of op_list.inc; src/ops/NAME.cc (or its family's file)
// defines it.
#ifndef CGRUN_OPS_OP_DEFINITIONS_H_
#define CGRUN_OPS_OP_DEFINITIONS_H_

#include "src/ir/op_def.h"

namespace cgrun::op_def {

#define CGRUN_OP(name, cpu, cuda) OpDef name();
#include "src/ir/op_list.inc"
#undef CGRUN_OP

}  // namespace cgrun::op_def

#endif  // CGRUN_OPS_OP_DEFINITIONS_H_
