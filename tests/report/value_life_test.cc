// Tests why a value is alive: the node that makes it, the nodes that read it, and what keeps it.
#include "src/report/value_life.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/graph_maker.h"

namespace cgrun {
namespace {

// x → a → b → c → sum(c, a): `a` waits while b and c are made.
class ValueLifeTest : public testing::Test {
 protected:
  ValueLifeTest() {
    x_ = make_.Feed("x", {4});
    a_ = make_.Op(OpId::neg, "a", {x_});
    const ValueId b = make_.Op(OpId::neg, "b", {a_});
    const ValueId c = make_.Op(OpId::neg, "c", {b});
    sum_ = make_.Op(OpId::add, "sum", {c, a_});
    make_.Out(sum_, "total");
    graph_ = make_.graph();
    for (NodeId node : graph_.nodes.ids()) schedule_.steps.push_back({node});
    PlaceEachAlone();
  }

  void PlaceEachAlone() {
    EntryLayout& entry = layout_.entries.emplace_back();
    entry.offset.resize(graph_.values.size());
    entry.buffer.resize(graph_.values.size());
    for (ValueId value : graph_.values.ids()) {
      entry.buffer[value] = static_cast<int>(layout_.buffers.size());
      entry.offset[value] = 64 * static_cast<int64_t>(layout_.buffers.size());
      PlacedBuffer& buffer = layout_.buffers.emplace_back();
      buffer.values = {graph_.values[value].name};
      buffer.entry = 0;
      buffer.bytes = 16;
    }
  }

  ValueLife Life(ValueId value) {
    return LifeOf(value, {"train", &graph_, &schedule_}, layout_, 0);
  }

  GraphMaker make_;
  Graph graph_;
  Schedule schedule_;
  MemoryLayout layout_;
  ValueId x_, a_, sum_;
};

TEST_F(ValueLifeTest, TellsWhoReadsAValueAndWhoKeepsIt) {
  const ValueLife life = Life(a_);
  EXPECT_EQ(life.bytes, 16);
  EXPECT_EQ(life.steps, 4);
  EXPECT_EQ(life.lifespan.lower, 0);
  EXPECT_EQ(life.lifespan.upper, 4);
  ASSERT_EQ(life.made.size(), 1u);
  EXPECT_EQ(life.made[0].node, "a");
  ASSERT_EQ(life.reads.size(), 2u);
  EXPECT_EQ(life.reads[0].step, 1);
  EXPECT_EQ(life.reads[1].node, "sum");
  EXPECT_EQ(life.reads[1].op, "add");
  EXPECT_EQ(life.kept_because, "");
  const std::string text = ValueLivesText({life}, false);
  EXPECT_NE(text.find("keeps it alive until here"), text.npos) << text;
  EXPECT_NE(text.find("Nothing touches it between the steps 1 and 3."), text.npos) << text;
}

TEST_F(ValueLifeTest, AnOutputIsKeptForWhoReadsItAfterTheStep) {
  const ValueLife life = Life(sum_);
  EXPECT_EQ(life.kept_because, "'total' is read after the step");
  EXPECT_TRUE(life.reads.empty());
  const std::string text = ValueLivesText({life}, false);
  EXPECT_NE(text.find("Kept, as 'total' is read after the step."), text.npos) << text;
}

TEST_F(ValueLifeTest, WhatIsFedHasNoMaker) {
  const ValueLife life = Life(x_);
  EXPECT_TRUE(life.made.empty());
  EXPECT_EQ(life.lifespan.upper, 1);
  EXPECT_EQ(ValueLivesText({life}, false).find("made"), std::string::npos);
}

TEST_F(ValueLifeTest, FindsThePeakOfTheBuffers) {
  layout_.buffers[2].lifespan = {1, 3};
  layout_.buffers[3].lifespan = {2, 4};
  const ValueLife life = Life(a_);
  EXPECT_EQ(life.peak_step, 2);
  EXPECT_NE(ValueLivesText({life}, false).find("all steps"), std::string::npos);
  EXPECT_NE(ValueLivesText({Life(x_)}, false).find("step 0 of 4; not at the peak, step 2"),
            std::string::npos)
      << ValueLivesText({Life(x_)}, false);
}

TEST_F(ValueLifeTest, AWorkspaceIsUsedByOneOperator) {
  EntryLayout& entry = layout_.entries[0];
  entry.workspace_buffer.resize(graph_.nodes.size(), -1);
  entry.workspace_offset.resize(graph_.nodes.size(), -1);
  entry.workspace_buffer[NodeId(1)] = static_cast<int>(layout_.buffers.size());
  entry.workspace_offset[NodeId(1)] = 4096;
  PlacedBuffer& buffer = layout_.buffers.emplace_back();
  buffer.name = "b.workspace";
  buffer.entry = 0;
  buffer.bytes = 1 << 20;
  buffer.lifespan = {1, 2};
  const PlannedEntry planned = {"train", &graph_, &schedule_};
  const ValueLife life = LifeOfWorkspace(NodeId(1), planned, layout_, 0);
  EXPECT_EQ(life.peak_step, 1);
  EXPECT_EQ(life.offset, 4096);
  const std::string text = ValueLivesText({life}, false);
  EXPECT_NE(text.find("workspace of the kernel, 1.00 MiB"), text.npos) << text;
  EXPECT_NE(text.find("Alive: step 1 of 4, the peak at step 1 among them."), text.npos) << text;
  EXPECT_NE(text.find("used  step 1"), text.npos) << text;
}

TEST_F(ValueLifeTest, HasATwinForMachines) {
  const nlohmann::json json = nlohmann::json::parse(ValueLivesJson({Life(a_), Life(x_)}));
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["reads"].size(), 2u);
  EXPECT_EQ(json[0]["made"]["op"], "neg");
  EXPECT_TRUE(json[1]["made"].is_null());
}

// One of three workspaces belongs to a kernel that copies, at the peak. One is elsewhere.
TEST_F(ValueLifeTest, CopiesInF32AtThePeakAreCounted) {
  EntryLayout& entry = layout_.entries[0];
  for (const NodeId node : graph_.nodes.ids()) {
    entry.workspace_buffer.push_back(static_cast<int>(layout_.buffers.size()));
    PlacedBuffer& buffer = layout_.buffers.emplace_back();
    const int64_t step = static_cast<int64_t>(entry.workspace_buffer.size()) - 1;
    buffer.entry = 0;
    buffer.bytes = step == 2 ? 1000 : 500;
    buffer.lifespan = {step, step + 1};
    graph_.nodes[node].kernel.emplace().kernel = "cpu.neg";
  }
  EXPECT_EQ(CopiesAtPeak(graph_, layout_, 0), 0);
  graph_.nodes[NodeId(1)].kernel->widens = true;
  EXPECT_EQ(CopiesAtPeak(graph_, layout_, 0), 0) << "not at the peak";
  graph_.nodes[NodeId(2)].kernel->widens = true;
  EXPECT_EQ(CopiesAtPeak(graph_, layout_, 0), 1000);
}

}  // namespace
}  // namespace cgrun
