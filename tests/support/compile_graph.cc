// Calls the compiler's parts by hand, and runs their results in both ways.
#include "tests/support/compile_graph.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "src/base/check.h"
#include "src/device/cpu.h"
#include "src/plan/update_legality.h"
#include "src/program/build_image.h"
#include "src/program/program.h"
#include "src/select/select.h"
#include "tests/support/interpreter.h"
#include "tests/support/random_graph.h"

namespace cgrun {

Graph PrepareGraph(const Graph& graph, int64_t batch, const KernelLibrary& library, int threads) {
  Diagnostics diagnostics;
  const SelectOptions select{threads};
  Graph prepared = SelectKernels(BindBatch(graph, batch), library, select, diagnostics);
  if (LegalizeUpdates(prepared)) SelectMissingKernels(prepared, library, select, diagnostics);
  CGRUN_CHECK(!diagnostics.has_errors()) << diagnostics.ToString();
  const std::vector<std::string> violations = VerifyGraph(prepared);
  CGRUN_CHECK(violations.empty()) << "prepared: " << violations[0];
  return prepared;
}

GraphProgram EncodeGraph(const Graph& prepared, std::string_view order,
                         const LayoutOptions& options, const KernelLibrary& library) {
  return EncodeGraph(prepared, FindOrder(order)->Order(prepared), options, library);
}

GraphProgram EncodeGraph(const Graph& prepared, Schedule schedule, const LayoutOptions& options,
                         const KernelLibrary& library) {
  GraphProgram program;
  program.schedule = std::move(schedule);
  program.layout = PlanLayout({{"step", &prepared, &program.schedule}}, options);
  program.image =
      BuildImage({{"step", EntryKind::kTrain, 1, &prepared, &program.schedule}}, program.layout);
  program.image.model = prepared.name;
  program.image.device = library.name();
  program.image.fingerprint = library.fingerprint();
  program.image.seed = prepared.seed;
  return program;
}

StepInputs RandomInputs(const Graph& bound, int steps, uint64_t key) {
  StepInputs inputs;
  inputs.feeds.resize(static_cast<size_t>(steps));
  for (int step = 0; step < steps; ++step) {
    for (auto& [id, tensor] : RandomSources(bound, key + static_cast<uint64_t>(step))) {
      const Value& value = bound.values[id];
      if (value.role == Role::kPlaceholder) {
        inputs.feeds[static_cast<size_t>(step)].emplace(value.name, std::move(tensor));
      } else if (step == 0) {
        inputs.states.emplace(value.name, std::move(tensor));
      }
    }
  }
  return inputs;
}

std::vector<StepResult> InterpretSteps(const Graph& bound, const Target& target,
                                       const StepInputs& inputs) {
  std::map<std::string, HostTensor> states = inputs.states;
  std::vector<StepResult> results;
  for (const auto& feeds : inputs.feeds) {
    std::map<ValueId, HostTensor> sources;
    for (ValueId id : bound.values.ids()) {
      const std::string& name = bound.values[id].name;
      if (feeds.contains(name)) sources.emplace(id, feeds.at(name));
      if (states.contains(name)) sources.emplace(id, states.at(name));
    }
    const std::map<ValueId, HostTensor> values = Interpret(bound, target, sources);
    StepResult result;
    for (const Output& output : bound.outputs) {
      result.outputs.emplace(output.name, values.at(output.value));
    }
    for (const UpdateEdge& edge : bound.updates) {
      states.insert_or_assign(bound.values[edge.state].name, values.at(edge.next));
    }
    result.states = states;
    results.push_back(std::move(result));
  }
  return results;
}

std::string FolderForTests() {
  const char* folder = std::getenv("TEST_TMPDIR");
  return folder != nullptr ? folder : std::filesystem::temp_directory_path().string();
}

namespace {

// Returns a result of the first entry point.
HostTensor ReadResult(const Program& program, size_t index) {
  const ImagePort& port = program.image().entries[0].results[index];
  HostTensor tensor(port.type.dtype, port.type.shape);
  program.Fetch(0, index, tensor.bytes());
  return tensor;
}

}  // namespace

std::vector<StepResult> RunSteps(const ProgramImage& image, const KernelLibrary& library,
                                 const StepInputs& inputs) {
  CpuDevice device("reference");
  SingleProcess communicator;
  Program program(image, device, library, communicator, FolderForTests());
  const ImageEntry& entry = program.image().entries[0];
  const auto& states = program.image().states;
  for (size_t i = 0; i < states.size(); ++i) {
    program.WriteState(i, inputs.states.at(states[i].name));
  }
  std::vector<StepResult> results;
  for (const auto& feeds : inputs.feeds) {
    for (size_t i = 0; i < entry.feeds.size(); ++i) {
      program.Feed(0, i, feeds.at(entry.feeds[i].name).bytes());
    }
    program.Run(0);
    StepResult result;
    for (size_t i = 0; i < entry.results.size(); ++i) {
      result.outputs.emplace(entry.results[i].name, ReadResult(program, i));
    }
    for (size_t i = 0; i < states.size(); ++i) {
      result.states.emplace(states[i].name, program.ReadState(i));
    }
    results.push_back(std::move(result));
  }
  return results;
}

bool SameNumbers(const HostTensor& a, const HostTensor& b) {
  if (a == b) return true;
  if (a.dtype() != b.dtype() || a.shape() != b.shape() || !IsFloat(a.dtype())) return false;
  for (int64_t i = 0; i < a.elements(); ++i) {
    const double x = a.At(i), y = b.At(i);
    const bool both_nan = std::isnan(x) && std::isnan(y);
    if (!both_nan && (x != y || std::signbit(x) != std::signbit(y))) return false;
  }
  return true;
}

namespace {

std::string FirstDifference(const std::map<std::string, HostTensor>& actual,
                            const std::map<std::string, HostTensor>& wanted) {
  for (const auto& [name, tensor] : actual) {
    if (!wanted.contains(name)) return name + " is not wanted";
    if (!SameNumbers(tensor, wanted.at(name))) return name + " differs";
  }
  return "";
}

}  // namespace

std::string FirstDifference(const std::vector<StepResult>& actual,
                            const std::vector<StepResult>& wanted) {
  if (actual.size() != wanted.size()) return "the number of steps differs";
  for (size_t step = 0; step < actual.size(); ++step) {
    const std::string at = "step " + std::to_string(step) + ": ";
    if (actual[step].outputs.size() != wanted[step].outputs.size())
      return at + "outputs are missing";
    std::string what = FirstDifference(actual[step].outputs, wanted[step].outputs);
    if (what.empty()) what = FirstDifference(actual[step].states, wanted[step].states);
    if (!what.empty()) return at + what;
  }
  return "";
}

}  // namespace cgrun
