// Measures the cost of eager mode beside its kernels. A chain of operators on four numbers runs
// eagerly and as byte code. The difference is the cost of asking for memory and giving it back, per
// operator.
#include <benchmark/benchmark.h>

#include "src/device/cpu.h"
#include "src/program/program.h"
#include "tests/eager/eager_testing.h"
#include "tests/support/graph_maker.h"

namespace cgrun {
namespace {

constexpr int kOperators = 1000;

const KernelLibrary& Reference() { return *FindKernelLibrary("reference"); }

// Each result is read twice, the second time five operators later.
Graph Chain() {
  GraphMaker maker;
  std::vector<ValueId> values = {maker.Feed("x", {4})};
  for (int i = 0; i < kOperators; ++i) {
    const ValueId earlier = values[values.size() < 6 ? 0 : values.size() - 6];
    values.push_back(maker.Op(OpId::mul, "op" + std::to_string(i), {values.back(), earlier}));
  }
  maker.Out(values.back(), "y");
  return maker.graph();
}

void SetTimePerOperator(benchmark::State& state) {
  state.counters["per_operator"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * kOperators,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void Eager(benchmark::State& state) {
  CpuDevice device("reference");
  SingleProcess communicator;
  const Graph graph = PreparePlain(Chain(), 1, Reference());
  EagerProgram program({{"step", EntryKind::kEval, 1, graph}}, device, Reference(), communicator);
  const HostTensor x(DType::kF32, {4});
  for (auto _ : state) {
    program.Feed(0, graph.FindValue("x"), x.bytes());
    program.Run(0);
  }
  SetTimePerOperator(state);
}
BENCHMARK(Eager);

void ByteCode(benchmark::State& state) {
  CpuDevice device("reference");
  SingleProcess communicator;
  const Graph graph = PrepareGraph(Chain(), 1, Reference());
  Program program(EncodeGraph(graph, "serial", {}, Reference()).image, device, Reference(),
                  communicator);
  const HostTensor x(DType::kF32, {4});
  for (auto _ : state) {
    program.Feed(0, 0, x.bytes());
    program.Run(0);
  }
  SetTimePerOperator(state);
}
BENCHMARK(ByteCode);

}  // namespace
}  // namespace cgrun

BENCHMARK_MAIN();
