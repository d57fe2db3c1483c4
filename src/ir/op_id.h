// Operator ids, in the order of op_list.inc. Ids from kBuiltinOpCount on belong to plug-ins.
#ifndef CGRUN_IR_OP_ID_H_
#define CGRUN_IR_OP_ID_H_

#include <cstdint>
#include <string_view>

namespace cgrun {

enum class OpId : uint16_t {
#define CGRUN_OP(name, cpu, cuda) name,
#include "src/ir/op_list.inc"
#undef CGRUN_OP
};

inline constexpr int kBuiltinOpCount = 0
#define CGRUN_OP(name, cpu, cuda) +1
#include "src/ir/op_list.inc"
#undef CGRUN_OP
    ;

}  // namespace cgrun

#endif  // CGRUN_IR_OP_ID_H_
