// Times the planners, the bound and the validator on 20,000 buffers, in three shapes of time.
#include <benchmark/benchmark.h>

#include <algorithm>

#include "src/packing/planner.h"
#include "src/packing/validator.h"
#include "tests/packing/random_problem.h"

namespace cgrun {
namespace {

constexpr int64_t kBuffers = 20000;

enum Shape {
  kInference,  // short lives, a few dozen alive at a time
  kTraining,   // activations die in the reverse order of their birth; gradients are short
  kCrowd,      // births and deaths anywhere: half of all pairs overlap
};

MemoryProblem Problem(Shape shape) {
  Dice dice(RandomKey(7, "benchmark"));
  MemoryProblem problem;
  for (int64_t i = 0; i < kBuffers; ++i) {
    const TimePoint lower = shape == kCrowd ? dice.Between(0, kBuffers - 1) : i;
    TimePoint upper = lower + dice.Between(1, 60);
    const bool activation = i < kBuffers / 2 && !dice.OneIn(8);
    if (shape == kTraining && activation) upper = kBuffers - i;
    if (shape == kCrowd) upper = dice.Between(lower + 1, kBuffers);
    const Bytes bytes = dice.Between(1, 1000) * dice.Between(1, 1000);
    problem.buffers.push_back({bytes, lower, upper, kDefaultAlignment, {}, ""});
  }
  return problem;
}

void RunPlanner(benchmark::State& state, const PlannerEntry& entry, Shape shape) {
  const MemoryProblem problem = Problem(shape);
  MemoryPlan plan;
  for (auto _ : state) plan = entry.function(problem);
  state.counters["peak/bound"] =
      static_cast<double>(plan.peak_bytes) / static_cast<double>(LowerBound(problem));
}

void RunChecked(benchmark::State& state, Shape shape) {
  const MemoryProblem problem = Problem(shape);
  for (auto _ : state) benchmark::DoNotOptimize(PlanMemory(problem));
}

void RunValidator(benchmark::State& state, Shape shape) {
  const MemoryProblem problem = Problem(shape);
  const MemoryPlan plan = PlanMemory(problem);
  for (auto _ : state) benchmark::DoNotOptimize(ValidatePlan(problem, plan));
}

void RunBound(benchmark::State& state, Shape shape) {
  const MemoryProblem problem = Problem(shape);
  for (auto _ : state) benchmark::DoNotOptimize(LowerBound(problem));
}

void RegisterAll() {
  const std::pair<Shape, std::string> shapes[] = {
      {kInference, "inference/"}, {kTraining, "training/"}, {kCrowd, "crowd/"}};
  for (const auto& [shape, prefix] : shapes) {
    for (const PlannerEntry& entry : Planners()) {
      const std::string name = prefix + std::string(entry.name);
      benchmark::RegisterBenchmark(name.c_str(), RunPlanner, entry, shape)
          ->Unit(benchmark::kMillisecond);
    }
    const auto add = [&](const char* what, auto function) {
      benchmark::RegisterBenchmark((prefix + what).c_str(), function, shape)
          ->Unit(benchmark::kMillisecond);
    };
    add("PlanMemory", RunChecked);
    add("ValidatePlan", RunValidator);
    add("LowerBound", RunBound);
  }
}

}  // namespace
}  // namespace cgrun

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  cgrun::RegisterAll();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
