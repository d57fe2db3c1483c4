// Eager execution by example: what is allocated, run and freed, in which order; what is held.
#include "src/eager/eager_program.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "src/autodiff/autodiff.h"
#include "src/base/allocation_counter.h"
#include "src/base/diagnostics.h"
#include "src/device/cpu.h"
#include "src/ops/optimizer.h"
#include "tests/eager/eager_testing.h"
#include "tests/support/graph_maker.h"

namespace cgrun {
namespace {

using Events = std::vector<std::string>;

const KernelLibrary& Reference() { return *FindKernelLibrary("reference"); }

class EagerProgramTest : public testing::Test {
 protected:
  void Start(const std::vector<ValueId>& keep = {}, FreePolicy free = FreePolicy::kAtLastReader) {
    EagerOptions options;
    options.free = free;
    options.listener = &trace_;
    EagerSource source{"step", EntryKind::kTrain, 1, PreparePlain(maker_.graph(), 1, Reference()),
                       keep};
    program_ = std::make_unique<EagerProgram>(std::vector{std::move(source)}, device_, Reference(),
                                              communicator_, options);
    trace_.events.clear();
  }
  void Feed(ValueId id, float number) {
    const TensorType& type = maker_.graph().values[id].type;
    HostTensor tensor(type.dtype, type.shape);
    for (int64_t i = 0; i < tensor.elements(); ++i) tensor.Set(i, number);
    program_->Feed(0, id, tensor.bytes());
  }
  double Fetch(ValueId id) {
    const TensorType& type = maker_.graph().values[id].type;
    HostTensor tensor(type.dtype, type.shape);
    program_->Fetch(0, id, tensor.bytes());
    return tensor.At(0);
  }
  double State(size_t index) {
    HostTensor tensor(program_->states()[index].type.dtype, program_->states()[index].type.shape);
    program_->ReadState(index, tensor.bytes());
    return tensor.At(0);
  }

  GraphMaker maker_;
  EagerTrace trace_;
  CpuDevice device_{"reference"};
  SingleProcess communicator_;
  std::unique_ptr<EagerProgram> program_;
};

// c = a + b, d = 2c: when d is asked for, a's memory is free again.
TEST_F(EagerProgramTest, MemoryIsFreedBeforeTheNextIsTaken) {
  const ValueId a = maker_.Feed("a", {1000}), b = maker_.State("b", {1000});
  const ValueId c = maker_.Op(OpId::add, "add", {a, b});
  const ValueId d = maker_.Op(OpId::mul, "multiply", {maker_.Scalar("two", 2), c});
  maker_.graph().values[c].name = "c";
  maker_.graph().values[d].name = "d";
  maker_.Out(d, "d");
  Start();
  Feed(a, 3);
  EXPECT_EQ(trace_.events, (Events{"allocate a"}));
  program_->Run(0);
  EXPECT_EQ(trace_.events, (Events{"allocate a", "allocate c",                 //
                                   "add", "free a", "allocate d", "multiply",  //
                                   "free c"}));
  EXPECT_EQ(Fetch(d), 8);
  EXPECT_EQ(program_->statistics().live_peak_bytes, 3 * 4032 + 64) << "b, two of a, c and d; 2";
  trace_.events.clear();
  Feed(a, 0);
  EXPECT_EQ(trace_.events, (Events{"free d", "allocate a"})) << "results go when a step begins";
}

TEST_F(EagerProgramTest, WhatTheUserKeepsIsNeverRecycled) {
  const ValueId a = maker_.Feed("a", {4});
  const ValueId c = maker_.Op(OpId::neg, "c", {a});
  const ValueId d = maker_.Op(OpId::relu, "d", {c});
  const ValueId e = maker_.Op(OpId::neg, "e", {d});
  maker_.Out(e, "e");
  Start({c});
  for (float number : {3.0f, -2.0f}) {
    Feed(a, number);
    program_->Run(0);
    EXPECT_EQ(Fetch(c), -number);
    EXPECT_EQ(Fetch(e), number < 0 ? number : 0);
  }
  EXPECT_EQ(std::count(trace_.events.begin(), trace_.events.end(), "free c"), 1) << "by step 2";
  EXPECT_DEATH(Fetch(d), "d is not held");
}

// w ← w − w is not done in place while the user holds the old w.
TEST_F(EagerProgramTest, AKeptStateKeepsItsOldValue) {
  const ValueId w = maker_.State("w", {4}), g = maker_.Feed("g", {4});
  const ValueId rate = maker_.Feed("rate", {}, DType::kF64);
  const ValueId next = maker_.Op(OpId::sgd, "sgd", {w, g, rate}, Attributes::Of(SgdAttributes()));
  maker_.Update(w, next);
  for (bool keep : {false, true}) {
    Start(keep ? std::vector<ValueId>{w} : std::vector<ValueId>{});
    Feed(g, 1);
    Feed(rate, 0.5);
    program_->Run(0);
    EXPECT_EQ(State(0), 0.5);
    const bool allocated =
        std::count(trace_.events.begin(), trace_.events.end(), "allocate sgd") > 0;
    EXPECT_EQ(allocated, keep);
    if (keep) {
      EXPECT_EQ(Fetch(w), 1);
    }
  }
}

// If a parameter has two optimizers, both work in place.
TEST_F(EagerProgramTest, OptimizersWorkInPlaceOneAfterTheOther) {
  const ValueId w = maker_.State("w", {4}), g = maker_.Feed("g", {4});
  const ValueId rate = maker_.Feed("rate", {}, DType::kF64);
  const Attributes sgd = Attributes::Of(SgdAttributes());
  const ValueId first = maker_.Op(OpId::sgd, "first", {w, g, rate}, sgd);
  maker_.Update(w, maker_.Op(OpId::sgd, "second", {first, g, rate}, sgd));
  Start();
  for (int step = 1; step <= 2; ++step) {
    trace_.events.clear();
    Feed(g, 1);
    Feed(rate, 0.25);
    program_->Run(0);
    EXPECT_EQ(trace_.events,
              (Events{"allocate g", "allocate rate", "first", "second", "free g", "free rate"}));
    EXPECT_EQ(State(0), 1 - step * 0.5);
  }
}

TEST_F(EagerProgramTest, StatesThatSwapSwap) {
  const ValueId a = maker_.State("a", {4}), b = maker_.State("b", {4});
  maker_.Update(a, b);
  maker_.Update(b, a);
  Start();
  HostTensor two(DType::kF32, {4});
  two.Set(0, 2);
  program_->WriteState(1, two);
  program_->Run(0);
  EXPECT_EQ(State(0), 2);
  EXPECT_EQ(State(1), 1);
  program_->Run(0);
  EXPECT_EQ(State(0), 1);
  EXPECT_EQ(program_->statistics().live_blocks, 2);
}

// Nothing freed: every tensor and workspace of the step side by side, as Owl has it.
TEST_F(EagerProgramTest, FreeingNothingTakesTheSumOfAll) {
  ValueId x = maker_.Feed("x", {1, 16, 16, 16});
  for (int i = 0; i < 4; ++i) x = maker_.Op(OpId::neg, "layer" + std::to_string(i), {x});
  maker_.Out(x, "y");
  const ValueId feed = maker_.graph().FindValue("x");
  const int64_t bytes = 16 * 16 * 16 * 4;
  Start();
  Feed(feed, 1);
  program_->Run(0);
  EXPECT_EQ(program_->statistics().live_peak_bytes, 2 * bytes);
  Start({}, FreePolicy::kAfterStep);
  for (int step = 0; step < 3; ++step) {
    Feed(feed, 1);
    program_->Run(0);
    EXPECT_EQ(Fetch(x), 1);
    EXPECT_EQ(program_->statistics().live_peak_bytes, 5 * bytes);
  }
  program_->ReleaseResults();
  EXPECT_EQ(program_->statistics().live_bytes, 0);
}

// A path in forward mode beside one that learns: no gradient of its values is ever allocated.
TEST_F(EagerProgramTest, ForwardPathsHaveNoGradients) {
  const ValueId x = maker_.Feed("x", {4}), w = maker_.State("w", {4});
  const ValueId scaled = maker_.Op(OpId::exp, "scaled", {maker_.Op(OpId::neg, "raw", {x})});
  const ValueId loss = maker_.Op(OpId::squared_error, "loss", {w, scaled});
  Graph& graph = maker_.graph();
  graph.paths.push_back(Path());
  Path path;
  path.backprop = true;
  path.loss = loss;
  path.optimizer = OpId::sgd;
  path.optimizer_attributes = Attributes::Of(SgdAttributes());
  path.learning_rate = maker_.Feed("rate", {}, DType::kF64);
  path.trains = {w};
  maker_.Producer(loss).path = graph.paths.push_back(std::move(path));
  graph = Differentiate(graph);
  Start();
  Feed(x, 1);
  Feed(graph.FindValue("rate"), 1);
  program_->Run(0);
  const auto first = std::find(trace_.events.begin(), trace_.events.end(), "loss.grad");
  ASSERT_NE(first, trace_.events.end());
  for (const std::string& event : trace_.events) {
    if (!event.starts_with("allocate ")) continue;
    const ValueId value = graph.FindValue(event.substr(9));
    if (!value.valid() || graph.values[value].role != Role::kGradient) continue;
    EXPECT_TRUE(event == "allocate loss.grad" || event == "allocate loss.grad.da") << event;
  }
}

TEST_F(EagerProgramTest, AFeedThatNothingReadsTakesNoMemory) {
  const ValueId x = maker_.Feed("x", {4}), unread = maker_.Feed("unread", {4});
  maker_.Out(maker_.Op(OpId::neg, "y", {x}), "y");
  Start();
  Feed(unread, 1);
  EXPECT_EQ(trace_.events, Events());
  EXPECT_DEATH(program_->Run(0), "x was not fed");
  Feed(x, 1);
  Feed(x, 2);
  program_->Run(0);
  EXPECT_EQ(trace_.events, (Events{"allocate x", "allocate y", "y", "free x"}));
}

TEST_F(EagerProgramTest, AStepThatRepeatsItselfTakesNothingFromTheHeapOrTheDevice) {
  const ValueId x = maker_.Feed("x", {3, 1000});
  ValueId y = maker_.Op(OpId::relu, "first", {x});
  for (int i = 0; i < 20; ++i) {
    y = maker_.Op(i % 3 == 0 ? OpId::add : OpId::mul, "op" + std::to_string(i), {y, y});
  }
  maker_.Out(maker_.Op(OpId::reduce_sum, "sum", {y}), "sum");
  EagerSource source{"step", EntryKind::kTrain, 1, PreparePlain(maker_.graph(), 1, Reference())};
  EagerProgram program({source}, device_, Reference(), communicator_);
  const HostTensor batch(DType::kF32, {3, 1000});
  const auto step = [&] {
    program.Feed(0, x, batch.bytes());
    program.Run(0);
  };
  step();
  const int64_t before = CurrentHeapUse().allocations;
  const AllocatorStatistics first = program.statistics();
  for (int i = 0; i < 5; ++i) step();
  if (AllocationsAreCounted()) {
    EXPECT_EQ(CurrentHeapUse().allocations, before);
  }
  EXPECT_EQ(program.statistics().system_allocations, first.system_allocations);
  EXPECT_EQ(program.statistics().live_peak_bytes, first.live_peak_bytes);
  EXPECT_GT(program.statistics().allocations, first.allocations);
}

}  // namespace
}  // namespace cgrun
