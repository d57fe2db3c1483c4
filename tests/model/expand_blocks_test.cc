// Tests blocks: arguments, bodies, labels, limits.
#include "src/model/expand_blocks.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/model/model_testing.h"

namespace cgrun {
namespace {

// Returns a model with these blocks and these items in a forward path.
std::string ModelOf(const std::string& blocks, const std::string& ops) {
  return "cgrun: 1\ninputs: {x: {shape: [4]}, y: {shape: [4]}}\nblocks:\n" + blocks +
         "paths:\n  p:\n    mode: forward\n    ops:\n" + ops;
}

std::vector<OpSpec> Expanded(const std::string& blocks, const std::string& ops) {
  std::string errors;
  const auto model = ParseModelText(ModelOf(blocks, ops), {}, &errors);
  EXPECT_EQ(errors, "");
  return model ? model->paths[0].ops : std::vector<OpSpec>();
}

std::string Errors(const std::string& blocks, const std::string& ops) {
  return ModelErrors(ModelOf(blocks, ops));
}

const std::string kBottleneck =
    "  bottleneck:\n"
    "    params: {mid: null, out: \"${4*mid}\", stride: 1, project: false}\n"
    "    in: x\n"
    "    ops:\n"
    "      - {op: conv, in: x, filters: ${mid}, kernel: 1}\n"
    "      - y: {op: conv, filters: ${out}, kernel: 3, stride: [${stride}, ${stride}]}\n"
    "      - side: {op: conv, in: x, filters: ${out}, if: ${project}}\n"
    "      - side: {op: identity, in: x, if: ${!project}}\n"
    "      - {op: add, in: [y, side]}\n";

TEST(ExpandBlocksTest, ArgumentsDefaultsAndConditions) {
  const std::vector<OpSpec> ops = Expanded(
      kBottleneck,
      "      - {block: bottleneck, in: x, with: {mid: 64, out: 100, project: true, stride: 2}}\n"
      "      - {block: bottleneck, with: {mid: 8}}\n");
  ASSERT_EQ(ops.size(), 2u);
  const std::vector<OpSpec>& first = ops[0].body;
  ASSERT_EQ(first.size(), 4u);
  EXPECT_EQ(first[0].attributes[0].value.scalar, "64");
  EXPECT_EQ(first[1].attributes[0].value.scalar, "100");
  EXPECT_EQ(first[1].attributes[2].value.items[1].scalar, "2");
  EXPECT_EQ(first[2].target.value, "conv");
  const std::vector<OpSpec>& second = ops[1].body;
  ASSERT_EQ(second.size(), 4u);
  EXPECT_EQ(second[1].attributes[0].value.scalar, "32");  // 4*mid
  EXPECT_EQ(second[2].target.value, "identity");
  EXPECT_EQ(ops[1].body_in[0].value, "x");
}

TEST(ExpandBlocksTest, MarksAreTheTemplatesAndUsesAreKnown) {
  const std::vector<OpSpec> ops =
      Expanded(kBottleneck, "      - {block: bottleneck, in: x, with: {mid: 64}}\n");
  const OpSpec& conv = ops.at(0).body.at(0);
  EXPECT_EQ(conv.mark.line, 8);
  EXPECT_EQ(conv.attributes[0].value.mark.line, 8);
  EXPECT_EQ(UseNote(conv.use.get()), "in block 'bottleneck', used in line 17");
  EXPECT_EQ(UseNote(ops[0].use.get()), "");
}

TEST(ExpandBlocksTest, LabelsAreUnique) {
  const std::string unit = "  unit: {in: x, ops: [relu, relu]}\n";
  const std::vector<OpSpec> ops = Expanded(unit,
                                           "      - {block: unit, in: x}\n"
                                           "      - {block: unit, repeat: 2}\n"
                                           "      - stage: {block: unit, repeat: 2}\n"
                                           "      - last: {block: unit}\n"
                                           "      - {block: unit, repeat: 0}\n"
                                           "      - {block: unit}\n");
  using Labels = std::vector<std::string>;
  ASSERT_EQ(ops.size(), 5u);
  EXPECT_EQ(ops[0].labels, Labels{"unit[0]"});
  EXPECT_EQ(ops[1].labels, (Labels{"unit[1]", "unit[2]"}));
  EXPECT_EQ(ops[1].repeat, 2);
  EXPECT_EQ(ops[2].labels, (Labels{"stage[0]", "stage[1]"}));
  EXPECT_EQ(ops[3].labels, Labels{"last"});
  EXPECT_EQ(ops[4].labels, Labels{"unit[3]"});
  EXPECT_EQ(ops[0].body[1].labels, Labels{"relu[1]"});
}

TEST(ExpandBlocksTest, BlocksUseBlocks) {
  const std::vector<OpSpec> ops = Expanded(
      "  outer: {params: {n: 2}, in: a, ops: [{block: inner, with: {n: ${n+1}}, repeat: ${n}}]}\n"
      "  inner: {params: {n: null}, in: b, ops: [{op: linear, units: ${n}}]}\n",
      "      - {block: outer, in: x, with: {n: 5}}\n");
  const OpSpec& inner = ops.at(0).body.at(0);
  EXPECT_EQ(inner.repeat, 5);
  EXPECT_EQ(inner.body.at(0).attributes[0].value.scalar, "6");
  EXPECT_EQ(UseNote(inner.body[0].use.get()),
            "in block 'inner', used in line 4, in block 'outer', used in line 10");
}

TEST(ExpandBlocksTest, NetworksUseBlocksToo) {
  const auto model = ParseModelText(
      "cgrun: 1\nblocks: {unit: {in: x, ops: [relu]}}\n"
      "networks: {net: {in: z, ops: [{block: unit}]}}\n"
      "paths: {p: {mode: forward, ops: [{network: net, in: x}]}}\ninputs: {x: {shape: [1]}}\n");
  ASSERT_TRUE(model);
  EXPECT_EQ(model->networks[0].ops[0].body.size(), 1u);
}

TEST(ExpandBlocksTest, ErrorsOfAUseNameBothPlaces) {
  EXPECT_EQ(
      Errors("  unit: {params: {n: null}, in: a, ops: [{op: linear, repeat: 2, units: ${n/2}}]}\n",
             "      - {block: unit, in: x, with: {n: 3}}\n"),
      "model.yaml:4:55: error: 'repeat' belongs to a block\n"
      "      unit: {params: {n: null}, in: a, ops: [{op: linear, repeat: 2, units: ${n/2}}]}\n"
      "                                                          ^~~~~~\n"
      "help: only `{block: …}` takes it\n"
      "model.yaml:4:73: error: 3 / 2 is not an integer\n"
      "      unit: {params: {n: null}, in: a, ops: [{op: linear, repeat: 2, units: ${n/2}}]}\n"
      "                                                                            ^~~~~~\n"
      "help: only exact divisions are allowed; in block 'unit', used in line 9\n");
}

TEST(ExpandBlocksTest, RecursionIsRefused) {
  EXPECT_NE(Errors("  a: {in: x, ops: [{block: b}]}\n  b: {in: x, ops: [{block: a}]}\n",
                   "      - {block: a, in: x}\n")
                .find("block 'a' uses block 'b', which uses block 'a'"),
            std::string::npos);
  EXPECT_NE(ModelErrors("cgrun: 1\nnetworks: {n: {in: x, ops: [{network: n}]}}\n"
                        "paths: {p: {mode: forward, ops: []}}\n")
                .find("network 'n' uses itself"),
            std::string::npos);
}

TEST(ExpandBlocksTest, GrowthIsLimited) {
  std::string blocks = "  b0: {in: x, ops: [relu, relu]}\n", deep = blocks, values;
  for (int i = 1; i < 60; ++i) {
    const std::string use = "{block: b" + std::to_string(i - 1) + "}";
    blocks += "  b" + std::to_string(i) + ": {in: x, ops: [" + use + ", " + use + "]}\n";
  }
  const std::string big = "      - {block: b59, in: x}\n";
  EXPECT_NE(Errors(blocks, big).find("grow too large"), std::string::npos);
  EXPECT_NE(Errors("  b0: {in: x, ops: [relu]}\n", "      - {block: b0, in: x, repeat: 1000000}\n")
                .find("grow too large"),
            std::string::npos);
  const auto repeated = [](int times) {
    return Errors("  b0: {in: x, ops: [relu]}\n",
                  "      - {block: b0, in: x, repeat: " + std::to_string(times) + "}\n");
  };
  EXPECT_EQ(repeated(99'000).find("grow too large"), std::string::npos) << "uses are no operators";
  EXPECT_NE(repeated(100'001).find("grow too large"), std::string::npos);
  for (int i = 1; i < 300; ++i) {
    deep +=
        "  b" + std::to_string(i) + ": {in: x, ops: [{block: b" + std::to_string(i - 1) + "}]}\n";
  }
  EXPECT_NE(Errors(deep, "      - {block: b299, in: x}\n").find("nested deeper than 64"),
            std::string::npos);
  values = "  b0: {params: {v: 1}, in: x, ops: [{op: relu, v: ${v}}]}\n";
  for (int i = 1; i < 50; ++i) {
    values += "  b" + std::to_string(i) + ": {params: {v: 1}, in: x, ops: [{block: b" +
              std::to_string(i - 1) + ", with: {v: [${v}, ${v}]}}]}\n";
  }
  EXPECT_NE(Errors(values, "      - {block: b49, in: x}\n").find("grow too large"),
            std::string::npos);
}

TEST(ExpandBlocksTest, UnusedBlocksAreChecked) {
  const std::string errors =
      Errors("  unit: {params: {n: 1}, in: a, ops: [{op: linear, units: ${m}}, {block: no}]}\n",
             "      - {op: relu, in: x}\n");
  EXPECT_NE(errors.find("'m' is no parameter of this block"), std::string::npos);
  EXPECT_NE(errors.find("there is no block 'no'"), std::string::npos);
}

}  // namespace
}  // namespace cgrun
