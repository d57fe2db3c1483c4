// Steps in eager mode.
#include "tests/eager/eager_testing.h"

#include "src/base/check.h"
#include "src/device/cpu.h"
#include "src/select/select_plain.h"

namespace cgrun {

Graph PreparePlain(const Graph& graph, int64_t batch, const KernelLibrary& library, int threads) {
  Diagnostics diagnostics;
  Graph prepared = SelectPlainKernels(BindBatch(graph, batch), library, {threads}, diagnostics);
  CGRUN_CHECK(!diagnostics.has_errors()) << diagnostics.ToString();
  const std::vector<std::string> violations = VerifyGraph(prepared);
  CGRUN_CHECK(violations.empty()) << "prepared: " << violations[0];
  return prepared;
}

namespace {

HostTensor Read(const EagerProgram& program, ValueId value) {
  const TensorType& type = program.entry(0).graph.values[value].type;
  HostTensor tensor(type.dtype, type.shape);
  program.Fetch(0, value, tensor.bytes());
  return tensor;
}

}  // namespace

std::vector<StepResult> RunEagerSteps(const Graph& prepared, const KernelLibrary& library,
                                      const StepInputs& inputs, const EagerOptions& options,
                                      AllocatorStatistics* statistics) {
  CpuDevice device("reference");
  SingleProcess communicator;
  EagerProgram program({{"step", EntryKind::kTrain, 1, prepared}}, device, library, communicator,
                       options);
  const std::vector<EagerState>& states = program.states();
  for (size_t i = 0; i < states.size(); ++i) {
    program.WriteState(i, inputs.states.at(states[i].name));
  }
  std::vector<StepResult> results;
  for (const auto& feeds : inputs.feeds) {
    for (ValueId id : prepared.values.ids()) {
      const Value& value = prepared.values[id];
      if (value.role == Role::kPlaceholder) program.Feed(0, id, feeds.at(value.name).bytes());
    }
    program.Run(0);
    StepResult result;
    for (const Output& output : prepared.outputs) {
      result.outputs.emplace(output.name, Read(program, output.value));
    }
    for (size_t i = 0; i < states.size(); ++i) {
      HostTensor tensor(states[i].type.dtype, states[i].type.shape);
      program.ReadState(i, tensor.bytes());
      result.states.emplace(states[i].name, std::move(tensor));
    }
    results.push_back(std::move(result));
  }
  program.ReleaseResults();
  if (statistics != nullptr) *statistics = program.statistics();
  int64_t of_model = 0;
  for (const Value& value : prepared.values) {
    of_model += IsState(value.role) || value.role == Role::kConstant;
  }
  CGRUN_CHECK(program.statistics().live_blocks == of_model)
      << program.statistics().live_blocks << " blocks are left of a model with " << of_model
      << " states and constants";
  return results;
}

}  // namespace cgrun
