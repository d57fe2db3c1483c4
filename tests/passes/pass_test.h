// Has the code that tests of passes share: a small graph to build, and one run of a pass with its
// checks.
#ifndef CGRUN_TESTS_PASSES_PASS_TEST_H_
#define CGRUN_TESTS_PASSES_PASS_TEST_H_

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/ir/builder.h"
#include "src/kernels/kernel.h"
#include "src/passes/pass.h"
#include "tests/support/interpreter.h"

namespace cgrun {

struct PassGraph {
  Graph graph;
  Builder builder{graph};

  ValueId Input(const std::string& name, Shape shape = {3}) {
    return builder.AddSource(Role::kPlaceholder, Zone::kForward, {DType::kF32, std::move(shape)},
                             name);
  }
  ValueId Constant(const std::vector<float>& values, const std::string& name) {
    return builder.AddConstant(HostTensor::Of<float>({static_cast<int64_t>(values.size())}, values),
                               name);
  }
  ValueId Node(OpId op, std::vector<ValueId> inputs, const std::string& name,
               Attributes attributes = Attributes()) {
    return builder.AddNode(op, std::move(attributes), std::move(inputs), name, {})[0];
  }
  void Output(ValueId value, const std::string& name = "out") {
    graph.outputs.push_back({value, OutputKind::kPrediction, name, PathId()});
  }

  // Runs a pass; checks that the graph stays sound, and that the pass tells the truth.
  bool Run(PassFunction pass, bool inexact = false, const RematPlan* remat = nullptr) {
    return RunFor(*FindKernelLibrary("reference"), pass, inexact, remat);
  }
  bool RunFor(const Target& target, PassFunction pass, bool inexact = false,
              const RematPlan* remat = nullptr) {
    const std::string before = ToString(graph);
    const bool changed = pass(graph, {target, inexact, remat});
    EXPECT_EQ(changed, ToString(graph) != before);
    EXPECT_EQ(VerifyGraph(graph), std::vector<std::string>());
    return changed;
  }
  // Counts the nodes of an operator.
  int Count(OpId op) const {
    int count = 0;
    for (const cgrun::Node& node : graph.nodes) count += node.op == op;
    return count;
  }
  // Returns the value of the first output, with `x` for every placeholder.
  HostTensor Evaluate(const HostTensor& x) const {
    std::map<ValueId, HostTensor> sources;
    for (ValueId id : graph.values.ids()) {
      if (graph.values[id].role == Role::kPlaceholder) sources.emplace(id, x);
    }
    return Interpret(graph, *FindKernelLibrary("reference"), sources).at(graph.outputs[0].value);
  }
};

}  // namespace cgrun

#endif  // CGRUN_TESTS_PASSES_PASS_TEST_H_
