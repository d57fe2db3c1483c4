// A sum behind a batch_norm becomes a part of it: there is one node in each direction, and the bits
// are the same.
#include <algorithm>
#include <cmath>

#include "src/ops/batch_norm.h"
#include "src/ops/clip.h"
#include "tests/passes/pass_test.h"

namespace cgrun {
namespace {

const Shape kImages = {2, 2, 2, 3};

// y = relu(batch_norm(x) + skip), and its gradients; `a` and `b` are parts of that of y.
class AddInBatchNorm : public testing::Test {
 protected:
  std::vector<ValueId> Norm(const BatchNormAttributes& attributes = {}) {
    return g_.builder.AddNode(OpId::batch_norm, Attributes::Of(attributes),
                              {x_, scale_, Constants({0.25F, 0}, "shift"),
                               Constants({0, 0.5F}, "mean"), Constants({1, 2}, "var")},
                              "norm", {});
  }
  ValueId Constants(const std::vector<float>& values, const std::string& name) {
    return g_.Constant(values, name);
  }
  // Gives the gradients of x and of what was added.
  void GradientOf(ValueId y, ValueId dy, const std::vector<ValueId>& norm) {
    const ValueId sum = g_.Node(OpId::relu_grad, {y, dy}, "relu.grad");
    g_.Output(g_.Node(OpId::batch_norm_grad, {x_, sum, scale_, norm[3], norm[4]}, "norm.grad",
                      Attributes::Of(BatchNormAttributes())),
              "dx");
    g_.Output(g_.Node(OpId::neg, {sum}, "skip.grad"), "dskip");
  }
  void Residual(ValueId dy) {
    const std::vector<ValueId> norm = Norm();
    const ValueId y = g_.Node(OpId::relu, {g_.Node(OpId::add, {norm[0], skip_}, "add")}, "relu");
    GradientOf(y, dy.valid() ? dy : y, norm);
    g_.Output(y, "y");
  }
  ValueId SumOfParts() { return g_.Node(OpId::add, {a_, b_}, "sum"); }

  bool Run(bool incremental = false) {
    const KernelLibrary& library = *FindKernelLibrary("blas");
    g_.RunFor(library, passes::FuseElementwise);
    const std::string before = ToString(g_.graph);
    const bool changed =
        passes::AddInBatchNorm(g_.graph, {.target = library, .incremental = incremental});
    EXPECT_EQ(changed, ToString(g_.graph) != before);
    EXPECT_EQ(VerifyGraph(g_.graph), std::vector<std::string>());
    return changed;
  }
  void ExpectSameBits() {
    HostTensor x(DType::kF32, kImages);
    for (int64_t i = 0; i < x.elements(); ++i) x.Set(i, std::sin(static_cast<double>(37 * i)));
    const size_t outputs = g_.graph.outputs.size();
    std::vector<HostTensor> before;
    for (size_t i = 0; i < outputs; ++i) before.push_back(OutputOf(i, x));
    EXPECT_TRUE(Run());
    for (size_t i = 0; i < outputs; ++i) {
      EXPECT_TRUE(std::ranges::equal(before[i].bytes(), OutputOf(i, x).bytes()))
          << g_.graph.outputs[i].name;
    }
  }
  HostTensor OutputOf(size_t i, const HostTensor& x) {
    std::swap(g_.graph.outputs[0], g_.graph.outputs[i]);
    HostTensor result = g_.Evaluate(x);
    std::swap(g_.graph.outputs[0], g_.graph.outputs[i]);
    return result;
  }
  const Node& NodeOf(OpId op) const { return *std::ranges::find(g_.graph.nodes, op, &Node::op); }

  PassGraph g_;
  ValueId x_ = g_.Input("x", kImages), skip_ = g_.Input("skip", kImages);
  ValueId a_ = g_.Input("a", kImages), b_ = g_.Input("b", kImages);
  ValueId scale_ = Constants({0.5F, -2}, "scale");
};

TEST_F(AddInBatchNorm, MakesOneNodeInEachDirection) {
  Residual(SumOfParts());
  EXPECT_TRUE(Run());
  ASSERT_EQ(g_.graph.nodes.size(), 3u);
  const Node& norm = NodeOf(OpId::batch_norm_add);
  EXPECT_EQ(norm.name, "relu");
  EXPECT_EQ(norm.inputs[0], x_);
  EXPECT_EQ(norm.inputs[1], skip_);
  EXPECT_EQ(norm.attributes.As<BatchNormAttributes>().min, 0);
  const Node& gradient = NodeOf(OpId::batch_norm_add_grad);
  EXPECT_EQ(gradient.attributes, norm.attributes);
  EXPECT_EQ(gradient.inputs[1], a_);
  EXPECT_EQ(gradient.inputs[5], norm.outputs[0]);
  EXPECT_EQ(gradient.inputs[6], b_);
  EXPECT_EQ(NodeOf(OpId::neg).inputs[0], gradient.outputs[3]);
  EXPECT_FALSE(Run());
}

TEST_F(AddInBatchNorm, ChangesNoBit) {
  Residual(SumOfParts());
  ExpectSameBits();
}

TEST_F(AddInBatchNorm, ChangesNoBitOfOnePart) {
  Residual(a_);
  ExpectSameBits();
  EXPECT_EQ(NodeOf(OpId::batch_norm_add_grad).inputs.size(), 6u);
}

TEST_F(AddInBatchNorm, TakesTheNormOnEitherSideAndAClip) {
  const Attributes bounds = Attributes::Of(ClipAttributes{.min = -0.25, .max = 0.5});
  const ValueId sum = g_.Node(OpId::add, {skip_, Norm()[0]}, "add");
  g_.Output(g_.Node(OpId::clip, {sum}, "clip", bounds));
  ExpectSameBits();
  EXPECT_EQ(NodeOf(OpId::batch_norm_add).attributes.As<BatchNormAttributes>().max, 0.5);
}

// If the results of two norms are added, as where a shortcut has one, the first takes the other
// with it. Its gradient, which may not be the first, makes that of both.
TEST_F(AddInBatchNorm, TakesTheFirstOfTwoNorms) {
  const std::vector<ValueId> first = Norm();
  const ValueId other = g_.Input("other", kImages);
  const ValueId shortcut = g_.builder.AddNode(
      OpId::batch_norm, Attributes::Of(BatchNormAttributes()),
      {other, scale_, scale_, scale_, Constants({1, 2}, "variance")}, "shortcut", {})[0];
  const ValueId y = g_.Node(OpId::relu, {g_.Node(OpId::add, {first[0], shortcut}, "add")}, "relu");
  const ValueId sum = g_.Node(OpId::relu_grad, {y, a_}, "relu.grad");
  const Attributes plain = Attributes::Of(BatchNormAttributes());
  g_.Output(g_.Node(OpId::batch_norm_grad, {other, sum, scale_, first[3], first[4]}, "other.grad",
                    plain));
  g_.Output(
      g_.Node(OpId::batch_norm_grad, {x_, sum, scale_, first[3], first[4]}, "norm.grad", plain));
  g_.Output(y, "y");
  ExpectSameBits();
  EXPECT_EQ(g_.Count(OpId::batch_norm), 1);
  EXPECT_EQ(g_.Count(OpId::batch_norm_grad), 1);
  EXPECT_EQ(NodeOf(OpId::batch_norm_add).inputs[0], x_);
  EXPECT_EQ(NodeOf(OpId::batch_norm_add_grad).inputs[0], x_);
}

TEST_F(AddInBatchNorm, LeavesResultsThatOthersRead) {
  const ValueId norm = Norm()[0];
  g_.Output(g_.Node(OpId::relu, {g_.Node(OpId::add, {norm, skip_}, "add")}, "relu"));
  g_.Output(norm, "norm");
  EXPECT_FALSE(Run());
}

// Without a relu a sum stays: what is saved is less than what a plan makes of it.
TEST_F(AddInBatchNorm, LeavesSumsAloneAndLongerChains) {
  const ValueId sum = g_.Node(OpId::add, {Norm()[0], skip_}, "add");
  g_.Output(sum);
  EXPECT_FALSE(Run());
  g_.graph.outputs.clear();
  g_.Output(g_.Node(OpId::relu, {g_.Node(OpId::add, {sum, a_}, "second")}, "relu"));
  EXPECT_FALSE(Run());
}

TEST_F(AddInBatchNorm, LeavesWhatIsAddedToItself) {
  const ValueId norm = Norm()[0];
  g_.Output(g_.Node(OpId::relu, {g_.Node(OpId::add, {norm, norm}, "add")}, "relu"));
  EXPECT_FALSE(Run());
}

TEST_F(AddInBatchNorm, LeavesFrozenStatistics) {
  const ValueId norm = Norm({.training = false})[0];
  g_.Output(g_.Node(OpId::relu, {g_.Node(OpId::add, {norm, skip_}, "add")}, "relu"));
  EXPECT_FALSE(Run());
}

// The gradient of what was clipped stays where the norm's alone reads it.
TEST_F(AddInBatchNorm, LeavesGradientsThatNoOtherReads) {
  const std::vector<ValueId> norm = Norm();
  const ValueId sum = g_.Node(OpId::relu_grad, {skip_, a_}, "relu.grad");
  g_.Output(g_.Node(OpId::batch_norm_grad, {x_, sum, scale_, norm[3], norm[4]}, "norm.grad",
                    Attributes::Of(BatchNormAttributes())));
  EXPECT_FALSE(Run());
}

TEST_F(AddInBatchNorm, LeavesProgramsThatRunInPart) {
  Residual(SumOfParts());
  EXPECT_FALSE(Run(/*incremental=*/true));
}

}  // namespace
}  // namespace cgrun
