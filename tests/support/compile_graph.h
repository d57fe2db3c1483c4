// The compiler by hand, from a graph to results: what tests compare with the interpreter.
#ifndef CGRUN_TESTS_SUPPORT_COMPILE_GRAPH_H_
#define CGRUN_TESTS_SUPPORT_COMPILE_GRAPH_H_

#include <map>
#include <string>
#include <vector>

#include "src/base/host_tensor.h"
#include "src/kernels/kernel.h"
#include "src/passes/pipeline.h"
#include "src/plan/memory_layout.h"
#include "src/program/image.h"

namespace cgrun {

// Binds a graph, selects kernels, makes its updates legal. Fails a check where no kernel fits.
Graph PrepareGraph(const Graph& graph, int64_t batch, const KernelLibrary& library,
                   int threads = 1);

struct GraphProgram {
  Schedule schedule;
  MemoryLayout layout;
  ProgramImage image;
};

// Orders, plans and encodes a prepared graph as the only entry point, "step". The image is not yet
// verified.
GraphProgram EncodeGraph(const Graph& prepared, std::string_view order,
                         const LayoutOptions& options, const KernelLibrary& library);

GraphProgram EncodeGraph(const Graph& prepared, Schedule schedule, const LayoutOptions& options,
                         const KernelLibrary& library);

// Holds the results of a step: outputs by name, then states by name.
struct StepResult {
  std::map<std::string, HostTensor> outputs;
  std::map<std::string, HostTensor> states;
};

// The values of placeholders, an entry a step, and what states start with: by name.
struct StepInputs {
  std::vector<std::map<std::string, HostTensor>> feeds;
  std::map<std::string, HostTensor> states;
};

// Random inputs for a bound graph.
StepInputs RandomInputs(const Graph& bound, int steps, uint64_t key);

// The steps one after another: by the interpreter (the oracle), and by a program. States that the
// image has not are left out.
std::vector<StepResult> InterpretSteps(const Graph& bound, const Target& target,
                                       const StepInputs& inputs);
std::vector<StepResult> RunSteps(const ProgramImage& image, const KernelLibrary& library,
                                 const StepInputs& inputs);

// Returns the folder in which tests may leave files.
std::string FolderForTests();

// Same type, shape and bits; but any NaN equals any other, as IEEE 754 leaves their bits open.
bool SameNumbers(const HostTensor& a, const HostTensor& b);

// The first thing in `actual` that differs from `wanted`, as a sentence; "" where nothing does.
std::string FirstDifference(const std::vector<StepResult>& actual,
                            const std::vector<StepResult>& wanted);

}  // namespace cgrun

#endif  // CGRUN_TESTS_SUPPORT_COMPILE_GRAPH_H_
