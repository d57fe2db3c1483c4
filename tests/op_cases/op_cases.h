// Declares the case list of each operator of op_list.inc: a forgotten one is a link error.
#ifndef CGRUN_TESTS_OP_CASES_OP_CASES_H_
#define CGRUN_TESTS_OP_CASES_OP_CASES_H_

#include "tests/op_cases/op_case.h"

namespace cgrun::op_cases {

#define CGRUN_OP(name, cpu, cuda) std::vector<OpCase> name();
#include "src/ir/op_list.inc"
#undef CGRUN_OP

}  // namespace cgrun::op_cases

#endif  // CGRUN_TESTS_OP_CASES_OP_CASES_H_
