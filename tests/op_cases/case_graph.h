// Has the code that the tests of operator cases share: the list of all cases, a case as a graph of
// one node, and how near results have to be.
#ifndef CGRUN_TESTS_OP_CASES_CASE_GRAPH_H_
#define CGRUN_TESTS_OP_CASES_CASE_GRAPH_H_

#include <map>
#include <string>
#include <vector>

#include "src/ir/graph.h"
#include "tests/op_cases/op_case.h"

namespace cgrun {

struct NamedCase {
  OpId op;
  OpCase op_case;
};

// Returns every case of every operator.
std::vector<NamedCase> AllCases();

// Values of the input, in the floating-point type of the run where it has none of its own.
HostTensor MakeInput(const CaseInput& input, DType float_type, uint64_t key);
std::vector<HostTensor> MakeInputs(const NamedCase& c, DType float_type);

// A graph of one node over the case's inputs.
struct CaseGraph {
  Graph graph;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  std::map<ValueId, HostTensor> sources;
};

CaseGraph MakeGraph(const NamedCase& c, DType float_type);

void ExpectClose(const HostTensor& actual, const HostTensor& wanted, double tolerance,
                 const std::string& what);
// Integers are exactly those that `same` has, made of inputs of the same number type; other numbers
// are close to the ones of `exact`.
void ExpectAgreement(const std::vector<HostTensor>& actual, const std::vector<HostTensor>& exact,
                     const std::vector<HostTensor>* same, DType dtype, const std::string& what);

}  // namespace cgrun

#endif  // CGRUN_TESTS_OP_CASES_CASE_GRAPH_H_
