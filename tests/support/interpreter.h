// The slowest engine, and the oracle for the others: evaluates a bound graph node by node.
#ifndef CGRUN_TESTS_SUPPORT_INTERPRETER_H_
#define CGRUN_TESTS_SUPPORT_INTERPRETER_H_

#include <map>

#include "src/ir/graph.h"
#include "src/ops/target.h"

namespace cgrun {

// The value of every id of `graph` (bound) for the given sources; constants are taken from the
// graph.
std::map<ValueId, HostTensor> Interpret(const Graph& graph, const Target& target,
                                        std::map<ValueId, HostTensor> sources);

}  // namespace cgrun

#endif  // CGRUN_TESTS_SUPPORT_INTERPRETER_H_
