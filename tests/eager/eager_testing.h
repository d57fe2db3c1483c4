// The tests of eager mode share a listener that writes down the events of a run, and steps of a
// graph.
#ifndef CGRUN_TESTS_EAGER_EAGER_TESTING_H_
#define CGRUN_TESTS_EAGER_EAGER_TESTING_H_

#include <string>
#include <vector>

#include "src/eager/eager_program.h"
#include "tests/support/compile_graph.h"

namespace cgrun {

// "allocate x", "free x", "relu1": a line an event.
class EagerTrace final : public EagerListener {
 public:
  void OnAllocate(std::string_view value, int64_t) override {
    events.push_back("allocate " + std::string(value));
  }
  void OnFree(std::string_view value) override { events.push_back("free " + std::string(value)); }
  void OnRun(std::string_view node) override { events.emplace_back(node); }

  std::vector<std::string> events;
};

// Binds a graph and selects kernels as eager mode does. Fails a check where no kernel fits.
Graph PreparePlain(const Graph& graph, int64_t batch, const KernelLibrary& library,
                   int threads = 1);

// The steps one after another in eager mode, as RunSteps() does by a program. `statistics`, if it
// is there, gets the allocator's.
std::vector<StepResult> RunEagerSteps(const Graph& prepared, const KernelLibrary& library,
                                      const StepInputs& inputs, const EagerOptions& options = {},
                                      AllocatorStatistics* statistics = nullptr);

}  // namespace cgrun

#endif  // CGRUN_TESTS_EAGER_EAGER_TESTING_H_
