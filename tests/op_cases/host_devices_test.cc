// Every operator case as a graph of one node through the compiler on each device of the host, in
// f32: each gets a kernel, is planned, run, and agrees with `reference`. A case that a device
// leaves out is a failure.
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <set>

#include "src/ir/op_def.h"
#include "tests/op_cases/case_graph.h"
#include "tests/support/compile_graph.h"

namespace cgrun {
namespace {

std::vector<HostTensor> Evaluated(const NamedCase& c, DType float_type) {
  const CaseGraph graph = MakeGraph(c, float_type);
  const NodeSignature node = SignatureOf(graph.graph, graph.graph.nodes[NodeId(0)]);
  auto outputs = FindKernelLibrary("reference")->Evaluate(node, MakeInputs(c, float_type));
  EXPECT_TRUE(outputs.has_value()) << "no reference kernel";
  return outputs.value_or(std::vector<HostTensor>());
}

std::string OutputName(size_t i) { return "output" + std::to_string(i); }

// The case's graph with all that its node gives as outputs.
Graph WithOutputs(const CaseGraph& c) {
  Graph graph = c.graph;
  graph.name = "case";
  for (size_t i = 0; i < c.outputs.size(); ++i) {
    graph.outputs.push_back({c.outputs[i], OutputKind::kKept, OutputName(i), PathId()});
  }
  return graph;
}

std::vector<HostTensor> Compiled(const CaseGraph& c, const Graph& prepared,
                                 const KernelLibrary& library) {
  StepInputs inputs;
  inputs.feeds.resize(1);
  for (const auto& [id, tensor] : c.sources) {
    inputs.feeds[0].emplace(c.graph.values[id].name, tensor);
  }
  const GraphProgram program = EncodeGraph(prepared, "serial", {}, library);
  const StepResult result = RunSteps(program.image, library, inputs).at(0);
  std::vector<HostTensor> outputs;
  for (size_t i = 0; i < c.outputs.size(); ++i) outputs.push_back(result.outputs.at(OutputName(i)));
  return outputs;
}

struct HostDevice {
  std::string name;
  int threads = 1;
};

class HostDevices : public testing::TestWithParam<HostDevice> {
 protected:
  static const KernelLibrary& Library() { return *FindKernelLibrary(GetParam().name); }

  void Run(const NamedCase& c) {
    const CaseGraph graph = MakeGraph(c, DType::kF32);
    const Graph prepared = PrepareGraph(WithOutputs(graph), 1, Library(), GetParam().threads);
    const std::vector<HostTensor> same = Evaluated(c, DType::kF32);
    const std::string kernel = prepared.nodes[NodeId(0)].kernel->kernel;
    ExpectAgreement(Compiled(graph, prepared, Library()), Evaluated(c, DType::kF64), &same,
                    DType::kF32, kernel);
    ++kernels_[kernel.substr(0, kernel.find('.'))];
    ops_.insert(c.op);
  }

  std::map<std::string, int> kernels_;  // cases that each library ran: "reference", "cpu", …
  std::set<OpId> ops_;
};

TEST_P(HostDevices, RunEveryCase) {
  int cases = 0;
  for (const NamedCase& c : AllCases()) {
    if (!c.op_case.error.empty()) continue;  // type inference refuses it
    if (IsTransfer(c.op)) continue;          // a program has all four: //tests/session:swap_test
    SCOPED_TRACE(std::string(NameOf(c.op)) + ", " + c.op_case.name);
    ASSERT_NO_FATAL_FAILURE(Run(c));
    ++cases;
  }
  for (int i = 0; i < kBuiltinOpCount; ++i) {  // fused nodes: tests/kernels/fused_test.cc
    const bool is_elsewhere = OpId(i) == OpId::fused || IsTransfer(OpId(i));
    EXPECT_TRUE(ops_.contains(OpId(i)) || is_elsewhere) << NameOf(OpId(i));
  }
  std::cout << GetParam().name << ", threads: " << GetParam().threads
            << ", cases compared: " << cases << ", of operators: " << ops_.size()
            << "; chosen kernels:";
  for (const auto& [library, count] : kernels_) std::cout << " " << library << " " << count;
  std::cout << "\n";
}

// Returns whether the device has another kernel than the reference kernel for a case of the
// operator.
bool HasOwnKernel(const KernelLibrary& library, OpId op, int threads) {
  for (const NamedCase& c : AllCases()) {
    if (c.op != op || !c.op_case.error.empty()) continue;
    const CaseGraph graph = MakeGraph(c, DType::kF32);
    const NodeSignature node = SignatureOf(graph.graph, graph.graph.nodes[NodeId(0)]);
    for (const KernelOption& option : library.Options(node, {threads})) {
      if (!option.kernel.starts_with("reference.")) return true;
    }
  }
  return false;
}

std::vector<OpId> OperatorsWithCpuKernels() {
  std::vector<OpId> ops;
#define CGRUN_WITH_cpu(name) ops.push_back(OpId::name);
#define CGRUN_WITH_none(name)
#define CGRUN_OP(name, on_cpu, on_cuda) CGRUN_WITH_##on_cpu(name)
#include "src/ir/op_list.inc"
#undef CGRUN_OP
#undef CGRUN_WITH_none
#undef CGRUN_WITH_cpu
  return ops;
}

// Else the cases above would try the reference kernel, and look as if they had tried ours.
TEST_P(HostDevices, HaveTheirOwnKernelsForSomeCase) {
  if (GetParam().name == "reference") return;
  for (OpId op : OperatorsWithCpuKernels()) {
    EXPECT_TRUE(HasOwnKernel(Library(), op, GetParam().threads) || op == OpId::fused) << NameOf(op);
  }
}

std::vector<HostDevice> Devices() {
  std::vector<HostDevice> devices = {{"reference", 1}};
  for (const char* name : {"blas", "cpu"}) {
    if (FindKernelLibrary(name) == nullptr) {
      std::cout << "Left out: " << name << ", " << DescribeKernels(name) << "\n";
      continue;
    }
    devices.push_back({name, 1});
    devices.push_back({name, 2});
  }
  return devices;
}

INSTANTIATE_TEST_SUITE_P(, HostDevices, testing::ValuesIn(Devices()), [](const auto& info) {
  return info.param.name + "_" + std::to_string(info.param.threads);
});

}  // namespace
}  // namespace cgrun
