// Tests values that another file gives to a model.
#include "src/model/assignment.h"

#include <gtest/gtest.h>

#include <fstream>

namespace cgrun {
namespace {

constexpr char kModel[] =
    "cgrun: 1\n"
    "inputs: {x: {shape: [4]}, label: {type: int32, shape: []}}\n"
    "paths:\n"
    "  classify:\n"
    "    ops:\n"
    "      - logits: {op: linear, in: x, units: 3}\n"
    "    loss: {op: softmax_cross_entropy, in: [logits, label]}\n"
    "train: {epochs: 1, batch: 2, optimizer: {op: sgd, lr: 0.1}}\n";

class AssignmentTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "assigned.yaml";
    std::ofstream(path_) << kModel;
  }

  // Makes an assignment of line 5 of a file "s.yaml": the path stands in column 3, the value in 20.
  static Assignment Of(const std::string& path, const std::string& value) {
    const auto file = std::make_shared<const SourceFile>(SourceFile{"s.yaml", "\n\n\n\n  a: b\n"});
    return {path, TreeNode::Scalar(value, {file, 5, 20}), {file, 5, 3}};
  }

  std::string path_;
};

TEST_F(AssignmentTest, SetsValuesByTheirPaths) {
  Diagnostics diagnostics;
  const std::vector<Assignment> assignments = {Of("train.batch", "7"),
                                               Of("train.optimizer.lr", "0.25"),
                                               Of("paths.classify.ops.logits.units", "5")};
  const auto model = LoadAssignedModel(path_, assignments, diagnostics);
  ASSERT_TRUE(model) << diagnostics.ToString();
  EXPECT_EQ(model->train->batch.value.size, 7);
  EXPECT_NE(ToYaml(model->tree).find("units: 5"), std::string::npos);
  EXPECT_NE(ToYaml(model->tree).find("lr: 0.25"), std::string::npos);
}

TEST_F(AssignmentTest, AnErrorStandsInTheFileOfTheValue) {
  const auto error_of = [&](const Assignment& assignment) {
    Diagnostics diagnostics;
    EXPECT_FALSE(LoadAssignedModel(path_, std::vector{assignment}, diagnostics));
    return diagnostics.Sorted().at(0).mark.ToString();
  };
  EXPECT_EQ(error_of(Of("train.batch", "many")), "s.yaml:5:20");
  EXPECT_EQ(error_of(Of("train.epoch", "2")), "s.yaml:5:3");
  EXPECT_EQ(error_of(Of("paths.classify.ops.logit.units", "2")), "s.yaml:5:3");
  EXPECT_EQ(error_of(Of("train..batch", "2")), "s.yaml:5:3");
}

TEST_F(AssignmentTest, AFileThatIsNotThereIsAnError) {
  Diagnostics diagnostics;
  EXPECT_FALSE(LoadAssignedModel(path_ + ".no", {}, diagnostics));
  EXPECT_TRUE(diagnostics.has_errors());
}

}  // namespace
}  // namespace cgrun
