// The tape by example: program order, shared bytes, references, what may run in place.
#include "src/eager/tape.h"

#include <gtest/gtest.h>

#include "src/autodiff/autodiff.h"
#include "src/ops/cast.h"
#include "src/ops/optimizer.h"
#include "tests/eager/eager_testing.h"
#include "tests/support/graph_maker.h"

namespace cgrun {
namespace {

const KernelLibrary& Reference() { return *FindKernelLibrary("reference"); }

std::vector<std::string> NamesOf(const Graph& graph, const Tape& tape) {
  std::vector<std::string> names;
  for (const TapeCall& call : tape.calls) names.push_back(graph.nodes[call.node].name);
  return names;
}

class TapeTest : public testing::Test {
 protected:
  Tape Make(const std::vector<ValueId>& keep = {}) {
    prepared_ = PreparePlain(maker_.graph(), 1, Reference());
    return MakeTape(prepared_, keep);
  }
  const TapeTensor& TensorOf(const Tape& tape, ValueId value) {
    return tape.tensors[tape.tensor_of[value]];
  }

  GraphMaker maker_;
  Graph prepared_;
};

TEST_F(TapeTest, PathsRunOneAfterAnother) {
  Graph& graph = maker_.graph();
  for (const char* name : {"a", "b"}) {
    const ValueId w = maker_.State(std::string(name) + ".w", {3});
    const ValueId x = maker_.Feed(std::string(name) + ".x", {3});
    Path path;
    path.name = name;
    path.backprop = true;
    path.optimizer = OpId::sgd;
    path.optimizer_attributes = Attributes::Of(SgdAttributes());
    path.learning_rate = maker_.Feed(std::string(name) + ".rate", {}, DType::kF64);
    path.trains = {w};
    const ValueId error = maker_.Op(OpId::squared_error, std::string(name) + ".loss", {w, x});
    path.loss = error;
    maker_.Producer(error).path = graph.paths.push_back(std::move(path));
  }
  graph = Differentiate(graph);
  const Tape tape = Make();
  EXPECT_EQ(NamesOf(prepared_, tape),
            (std::vector<std::string>{"a.loss", "a.loss.grad", "a.w.sgd", "b.loss", "b.loss.grad",
                                      "b.w.sgd"}));
  const TapeCall& sgd = tape.calls[2];
  EXPECT_EQ(sgd.in_place, (std::vector<InPlacePair>{{0, 0}}));
}

TEST_F(TapeTest, ViewsShareATensorAndItsReferences) {
  const ValueId x = maker_.Feed("x", {2, 3});
  const ValueId y = maker_.Op(OpId::relu, "y", {x});
  const ValueId flat = maker_.Op(OpId::flatten, "flat", {y});
  maker_.Out(maker_.Op(OpId::relu, "z", {flat}), "z");
  maker_.Out(flat, "flat");
  const Tape tape = Make();
  EXPECT_EQ(tape.tensor_of[y], tape.tensor_of[flat]);
  EXPECT_TRUE(tape.calls[1].view);
  EXPECT_EQ(TensorOf(tape, x).references, 1);
  EXPECT_EQ(TensorOf(tape, y).references, 3) << "the view, its reader, the output";
}

TEST_F(TapeTest, WhatIsTheSameTensorIsNotCopied) {
  const ValueId x = maker_.Feed("x", {4});
  const ValueId same = maker_.Op(OpId::identity, "same", {x});
  const ValueId cast = maker_.Op(OpId::cast, "cast", {same}, Attributes::Of(CastAttributes()));
  maker_.Out(maker_.Op(OpId::neg, "y", {cast}), "y");
  const Tape tape = Make();
  EXPECT_EQ(tape.tensor_of[x], tape.tensor_of[same]);
  EXPECT_EQ(tape.tensor_of[x], tape.tensor_of[cast]);
}

TEST_F(TapeTest, ActivationsAreNotWrittenOverTheirInputs) {
  const ValueId x = maker_.Feed("x", {4});
  maker_.Out(maker_.Op(OpId::relu, "b", {maker_.Op(OpId::sigmoid, "a", {x})}), "b");
  const Tape tape = Make();
  ASSERT_FALSE(prepared_.nodes[tape.calls[1].node].kernel->in_place.empty()) << "though it could";
  for (const TapeCall& call : tape.calls) EXPECT_TRUE(call.in_place.empty());
}

// x·y + x: the gradient of x has two parts.
TEST_F(TapeTest, GradientsOfSeveralPartsAreAddedUpInPlace) {
  const ValueId x = maker_.State("x", {4}), y = maker_.Feed("y", {4});
  const ValueId product = maker_.Op(OpId::mul, "product", {maker_.Op(OpId::exp, "e", {x}), y});
  const ValueId sum = maker_.Op(OpId::add, "sum", {product, maker_.Op(OpId::neg, "n", {x})});
  const ValueId loss = maker_.Op(OpId::reduce_sum, "loss", {sum});
  Builder builder(maker_.graph());
  const ValueId one = builder.AddConstant(HostTensor::Scalar<float>(1), "one");
  const auto gradients = AddGradients(builder, {{loss, one}}, {x}, PathId());
  maker_.Out(gradients.at(x), "gradient");
  const Tape tape = Make();
  int in_place = 0;
  for (const TapeCall& call : tape.calls) {
    if (call.in_place.empty()) continue;
    EXPECT_EQ(prepared_.nodes[call.node].op, OpId::add);
    EXPECT_EQ(prepared_.nodes[call.node].phase, Phase::kBackward);
    ++in_place;
  }
  EXPECT_EQ(in_place, 1);
}

TEST_F(TapeTest, BackwardOperatorsInVainAreLeftOut) {
  const ValueId x = maker_.Feed("x", {4});
  maker_.Op(OpId::sigmoid, "forward", {x});
  maker_.phase = Phase::kBackward;
  maker_.Op(OpId::relu, "last", {maker_.Op(OpId::neg, "first", {x})});
  EXPECT_EQ(NamesOf(maker_.graph(), Make()), (std::vector<std::string>{"forward"}));
}

TEST_F(TapeTest, StatesTakeOverNewValuesThatNobodyElseHolds) {
  const ValueId a = maker_.State("a", {4}), b = maker_.State("b", {4}), c = maker_.State("c", {4});
  const ValueId next = maker_.Op(OpId::neg, "next", {a});
  maker_.Update(a, next);
  maker_.Update(b, c);
  maker_.Update(c, maker_.Op(OpId::relu, "shown", {a}));
  maker_.Out(maker_.graph().updates[2].next, "shown");
  const Tape tape = Make();
  EXPECT_FALSE(tape.updates[0].copies);
  EXPECT_TRUE(tape.updates[1].copies) << "another state";
  EXPECT_TRUE(tape.updates[2].copies) << "an output";
}

TEST_F(TapeTest, WhatTheUserKeepsHasAReferenceMore) {
  const ValueId x = maker_.Feed("x", {4});
  const ValueId y = maker_.Op(OpId::relu, "y", {x});
  maker_.Out(maker_.Op(OpId::neg, "z", {y}), "z");
  EXPECT_EQ(TensorOf(Make(), y).references, 1);
  const Tape tape = Make({y});
  EXPECT_EQ(TensorOf(tape, y).references, 2);
  EXPECT_EQ(tape.held.size(), 2u);
}

}  // namespace
}  // namespace cgrun
