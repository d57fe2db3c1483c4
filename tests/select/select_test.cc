// Selection for a device that does not exist: it wants one operator's tensors in blocks, the others
// plain. Reorder nodes stand where layouts differ, and nowhere else.
#include "src/select/select.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "src/ops/reorder.h"
#include "src/plan/memory_layout.h"
#include "src/plan/schedule.h"
#include "src/select/workspace_budget.h"
#include "tests/support/graph_maker.h"

namespace cgrun {
namespace {

Layout Blocked() {
  Layout layout;
  EXPECT_TRUE(Layout::Parse("Ab4a", &layout));
  return layout;
}

// tanh runs on blocks, and at another price on plain tensors; mul on either; everything else is
// plain. There is no kernel for exp.
class FakeTarget : public Target {
 public:
  double plain_tanh_seconds = 100;
  double reorder_seconds = 1;

  std::string_view name() const override { return "fake"; }
  std::string fingerprint() const override { return "fake 1"; }
  std::optional<std::vector<HostTensor>> Evaluate(const NodeSignature&,
                                                  std::span<const HostTensor>) const override {
    return std::nullopt;
  }

  std::vector<KernelOption> Options(const NodeSignature& node,
                                    const RunSetting& setting) const override {
    KernelOption plain;
    plain.kernel = "fake." + std::string(NameOf(node.op));
    plain.input_layouts.resize(node.inputs.size());
    plain.output_layouts.resize(node.outputs.size());
    plain.seconds = 1;
    if (node.op == OpId::exp) return {};
    if (node.op == OpId::sigmoid) plain.workspace_bytes = 1000 * setting.threads;
    if (node.op == OpId::reorder) return {Reorder(node, plain)};
    if (node.op != OpId::tanh && node.op != OpId::mul) return {plain};
    KernelOption blocked = plain;
    blocked.kernel = plain.kernel + ".blocked";
    std::ranges::fill(blocked.input_layouts, Blocked());
    blocked.output_layouts = {Blocked()};
    if (node.op == OpId::mul) return {plain, blocked};
    blocked.in_place = {{0, 0}};
    blocked.workspace_bytes = 128;
    plain.seconds = plain_tanh_seconds;
    return {plain, blocked};
  }

 private:
  KernelOption Reorder(const NodeSignature& node, KernelOption option) const {
    const auto& attributes = node.attributes.As<ReorderAttributes>();
    EXPECT_NE(attributes.from, attributes.to) << "a reorder that changes nothing";
    EXPECT_TRUE(Layout::Parse(attributes.from, &option.input_layouts[0]));
    EXPECT_TRUE(Layout::Parse(attributes.to, &option.output_layouts[0]));
    option.seconds = reorder_seconds;
    option.workspace_bytes = 64;
    return option;
  }
};

class Select : public testing::Test {
 protected:
  Graph Run(int threads = 1) {
    Diagnostics diagnostics;
    Graph selected = SelectKernels(maker_.graph(), target_, {threads}, diagnostics);
    EXPECT_FALSE(diagnostics.has_errors()) << diagnostics.ToString();
    EXPECT_EQ(VerifyGraph(selected), std::vector<std::string>());
    ExpectLayoutsMeet(selected);
    return selected;
  }

  // Every node has a kernel and reads its operands as that kernel wants them.
  void ExpectLayoutsMeet(const Graph& graph) {
    for (const Node& node : graph.nodes) {
      ASSERT_TRUE(node.kernel.has_value()) << node.name;
      for (const KernelOption& option : target_.Options(SignatureOf(graph, node), {})) {
        if (option.kernel != node.kernel->kernel) continue;
        for (size_t i = 0; i < node.inputs.size(); ++i) {
          EXPECT_EQ(graph.values[node.inputs[i]].layout, option.input_layouts[i]) << node.name;
        }
        for (size_t i = 0; i < node.outputs.size(); ++i) {
          EXPECT_EQ(graph.values[node.outputs[i]].layout, option.output_layouts[i]) << node.name;
        }
      }
    }
    for (const Output& output : graph.outputs) {
      EXPECT_TRUE(graph.values[output.value].layout.IsPlain()) << output.name;
    }
    for (const UpdateEdge& edge : graph.updates) {
      EXPECT_TRUE(graph.values[edge.next].layout.IsPlain());
      EXPECT_TRUE(graph.values[edge.state].layout.IsPlain());
    }
  }

  const Node& Named(const Graph& graph, std::string_view name) {
    const NodeId id = FindNode(graph, name);
    EXPECT_TRUE(id.valid()) << name;
    return graph.nodes[id];
  }

  FakeTarget target_;
  GraphMaker maker_;
  ValueId x_ = maker_.Feed("x", {6, 3});
};

TEST_F(Select, PlainGraphsHaveNoReorders) {
  maker_.Out(maker_.Op(OpId::relu, "b", {maker_.Op(OpId::sigmoid, "a", {x_})}), "y");
  const Graph selected = Run();
  EXPECT_EQ(CountOps(selected, OpId::reorder), 0);
  EXPECT_EQ(selected.nodes.size(), 2u);
  EXPECT_EQ(Named(selected, "a").kernel->kernel, "fake.sigmoid");
}

// With the reorder in front of it the kernel for blocks takes 2, with the one behind it 3. Guards
// against a layout that gains at one node and loses more at its readers.
TEST_F(Select, LooksAtWhatComesBehind) {
  target_.plain_tanh_seconds = 2.5;
  maker_.Out(maker_.Op(OpId::relu, "b", {maker_.Op(OpId::tanh, "a", {x_})}), "y");
  const Graph selected = Run();
  EXPECT_EQ(Named(selected, "a").kernel->kernel, "fake.tanh");
  EXPECT_EQ(CountOps(selected, OpId::reorder), 0);
}

TEST_F(Select, TwoReordersPayForTwoOperatorsWhereTheyDoNotForOne) {
  target_.plain_tanh_seconds = 2.5;
  maker_.Out(maker_.Op(OpId::tanh, "b", {maker_.Op(OpId::tanh, "a", {x_})}), "y");
  const Graph selected = Run();
  EXPECT_EQ(Named(selected, "b").kernel->kernel, "fake.tanh.blocked");
  EXPECT_EQ(CountOps(selected, OpId::reorder), 2);
}

TEST_F(Select, ReordersStandAroundBlockedOperators) {
  const ValueId a = maker_.Op(OpId::relu, "a", {x_});
  const ValueId b = maker_.Op(OpId::tanh, "b", {a});
  maker_.Out(maker_.Op(OpId::relu, "c", {b}), "y");
  const Graph selected = Run();
  EXPECT_EQ(CountOps(selected, OpId::reorder), 2);
  const Node& in = Named(selected, "a.reorder");
  const Node& out = Named(selected, "b.reorder");
  EXPECT_EQ(in.attributes.As<ReorderAttributes>().to, "Ab4a");
  EXPECT_EQ(out.attributes.As<ReorderAttributes>().from, "Ab4a");
  EXPECT_EQ(Named(selected, "b").inputs, in.outputs);
  EXPECT_EQ(Named(selected, "c").inputs, out.outputs);
  EXPECT_EQ(Named(selected, "b").kernel->kernel, "fake.tanh.blocked");
}

TEST_F(Select, NeighboursInOneLayoutNeedNone) {
  ValueId value = x_;
  for (const char* name : {"a", "b", "c"}) value = maker_.Op(OpId::tanh, name, {value});
  maker_.Out(value, "y");
  EXPECT_EQ(CountOps(Run(), OpId::reorder), 2);  // of the feed, and of the output
}

TEST_F(Select, AValueIsReorderedOnceForAllItsReaders) {
  const ValueId a = maker_.Op(OpId::relu, "a", {x_});
  for (const char* name : {"b", "c", "d"}) maker_.Op(OpId::tanh, name, {a});
  for (const char* name : {"b", "c"})
    maker_.Out(maker_.graph().nodes[FindNode(maker_.graph(), name)].outputs[0], name);
  const ValueId d = maker_.graph().nodes[FindNode(maker_.graph(), "d")].outputs[0];
  maker_.Out(maker_.Op(OpId::add, "e", {d, d}), "e");
  maker_.Out(d, "d");
  const Graph selected = Run();
  EXPECT_EQ(CountOps(selected, OpId::reorder), 4);  // a, b, c, d: each once
  EXPECT_EQ(Named(selected, "b").inputs, Named(selected, "c").inputs);
  EXPECT_EQ(Named(selected, "b").inputs, Named(selected, "d").inputs);
  const std::vector<ValueId> operands = Named(selected, "e").inputs;
  EXPECT_EQ(operands[0], operands[1]);
  EXPECT_EQ(selected.outputs[3].value, operands[0]) << "the output takes the reorder that is there";
}

TEST_F(Select, ReordersThatCostMoreThanTheyGainAreLeftOut) {
  maker_.Out(maker_.Op(OpId::tanh, "a", {maker_.Op(OpId::relu, "r", {x_})}), "y");
  target_.plain_tanh_seconds = 10;
  target_.reorder_seconds = 50;
  const Graph selected = Run();
  EXPECT_EQ(CountOps(selected, OpId::reorder), 0);
  EXPECT_EQ(Named(selected, "a").kernel->kernel, "fake.tanh");
}

TEST_F(Select, StatesAndUpdatesStayPlain) {
  const ValueId w = maker_.State("w", {6, 3});
  const ValueId t = maker_.Op(OpId::tanh, "t", {w});
  maker_.Update(w, t);
  maker_.Out(maker_.Op(OpId::relu, "y", {w}), "y");
  const Graph selected = Run();
  EXPECT_EQ(CountOps(selected, OpId::reorder), 2);
  EXPECT_EQ(selected.updates[0].next, Named(selected, "t.reorder").outputs[0]);
}

// A weight and its momentum, updated by what their readers make.
TEST_F(Select, StateCanLieAsItsForwardKernelsWantIt) {
  const ValueId w = maker_.State("w", {8, 3});
  const ValueId m = maker_.State("m", {8, 3}, Role::kOptimizerState);
  const ValueId t = maker_.Op(OpId::tanh, "t", {w});
  maker_.Out(maker_.Op(OpId::relu, "y", {t}), "y");
  maker_.phase = Phase::kUpdate;
  const ValueId v = maker_.Op(OpId::mul, "v", {m, t});
  maker_.Update(m, v);
  maker_.Update(w, maker_.Op(OpId::mul, "next", {w, v}));
  const Graph selected = Run();
  const StateLayouts layouts = ChooseStateLayouts(maker_.graph(), target_, {});
  EXPECT_EQ(layouts, (StateLayouts{{"m", Blocked()}, {"w", Blocked()}}));

  Diagnostics diagnostics;
  const Graph laid = SelectKernels(maker_.graph(), target_, {1, layouts}, diagnostics);
  EXPECT_EQ(VerifyGraph(laid), std::vector<std::string>());
  EXPECT_EQ(CountOps(laid, OpId::reorder), 1) << "of what relu reads";
  EXPECT_LT(SecondsOfKernels(laid), SecondsOfKernels(selected));
  for (const UpdateEdge& edge : laid.updates) {
    EXPECT_EQ(laid.values[edge.state].layout, Blocked());
    EXPECT_EQ(laid.values[edge.next].layout, Blocked());
  }

  maker_.Out(w, "w");
  const Graph shown = SelectKernels(maker_.graph(), target_, {1, layouts}, diagnostics);
  for (const Output& output : shown.outputs) {
    EXPECT_TRUE(shown.values[output.value].layout.IsPlain()) << output.name;
  }
}

TEST_F(Select, StateIsNotPadded) {
  const ValueId w = maker_.State("w", {6, 3});
  maker_.Out(maker_.Op(OpId::tanh, "t", {w}), "t");
  EXPECT_TRUE(ChooseStateLayouts(maker_.graph(), target_, {}).empty())
      << "six rows in blocks of four take eight";
}

TEST_F(Select, ReordersTakePhaseAndRoleOfWhatTheyServe) {
  const ValueId a = maker_.Op(OpId::relu, "a", {x_});
  maker_.phase = Phase::kBackward;
  const ValueId g = maker_.Op(OpId::neg, "g", {a}, {}, Zone::kGradient);
  maker_.graph().values[g].role = Role::kGradient;
  maker_.Out(maker_.Op(OpId::tanh, "t", {g}, {}, Zone::kGradient), "y");
  const Graph selected = Run();
  const Node& copy = Named(selected, "g.reorder");
  EXPECT_EQ(copy.phase, Phase::kBackward);
  EXPECT_EQ(selected.values[copy.outputs[0]].role, Role::kGradient);
  EXPECT_EQ(selected.values[copy.outputs[0]].zone, Zone::kGradient);
}

TEST_F(Select, WorkspacesAndPaddingArriveInThePlan) {
  const ValueId a = maker_.Op(OpId::sigmoid, "a", {x_});
  maker_.Out(maker_.Op(OpId::tanh, "b", {a}), "y");
  const Graph selected = Run(/*threads=*/3);
  EXPECT_EQ(Named(selected, "a").kernel->workspace_bytes, 3000);
  EXPECT_EQ(Named(selected, "a").kernel->threads, 3);
  EXPECT_EQ(Named(selected, "a.reorder").kernel->workspace_bytes, 64);
  const Schedule schedule = FindOrder("serial")->Order(selected);
  const MemoryLayout layout = PlanLayout({{"step", &selected, &schedule}}, {});
  std::map<std::string, int64_t> bytes;
  for (const PlacedBuffer& buffer : layout.buffers) {
    const std::string name = buffer.values.empty() ? buffer.name : buffer.values[0];
    bytes[name] = std::max(bytes[name], buffer.bytes);
  }
  EXPECT_EQ(bytes["a.reorder"], 8 * 3 * 4) << "six rows in blocks of four take eight";
  EXPECT_EQ(bytes["a"], 6 * 3 * 4);
  for (const char* name : {"a", "a.reorder", "b"}) {
    EXPECT_GE(layout.entries[0].workspace_offset[FindNode(selected, name)], 0) << name;
  }
  EXPECT_GE(layout.arena_bytes, 3000 + 2 * 72);
}

TEST_F(Select, WhatTheDeviceCannotRunIsAMarkedError) {
  const ValueId y = maker_.Op(OpId::exp, "y", {maker_.Op(OpId::relu, "a", {x_})});
  maker_.Out(y, "y");
  const auto file = std::make_shared<SourceFile>(SourceFile{"m.yaml", "one\n  - y: {op: exp}\n"});
  maker_.Producer(y).mark = {file, 2, 5, 1};
  Diagnostics diagnostics;
  SelectKernels(maker_.graph(), target_, {}, diagnostics);
  EXPECT_EQ(diagnostics.error_count(), 1);
  const std::string text = diagnostics.ToString();
  EXPECT_EQ(
      text.rfind("m.yaml:2:5: error: y: device 'fake' has no kernel for 'exp' on f32[6, 3]\n", 0),
      0u)
      << text;
  EXPECT_NE(text.find("help: choose another device or another number type"), std::string::npos);
}

TEST_F(Select, MissingKernelsAreAddedAndOthersKept) {
  const ValueId a = maker_.Op(OpId::relu, "a", {x_});
  const ValueId b = maker_.Op(OpId::relu, "b", {a});
  maker_.Out(b, "y");
  maker_.Producer(a).kernel = KernelChoice{"mine", 7, 11, {}, {}};
  Diagnostics diagnostics;
  SelectMissingKernels(maker_.graph(), target_, {}, diagnostics);
  EXPECT_EQ(maker_.Producer(a).kernel->kernel, "mine");
  EXPECT_EQ(maker_.Producer(b).kernel->kernel, "fake.relu");
}

// State counts for nothing: a workspace as large as a weight would come beside it.
TEST(Room, IsWhatTheLargestNodeTakesAndASixteenth) {
  GraphMaker maker;
  const ValueId x = maker.Feed("x", {16, 4}), weight = maker.State("weight", {16, 4});
  maker.Op(OpId::relu, "y", {x});
  maker.Op(OpId::add, "sum", {x, weight});
  EXPECT_EQ(WorkspaceBudget(maker.graph()), 2 * 256 / 16 * 17);
}

}  // namespace
}  // namespace cgrun
