// Biases under batch_norm where the file allows inexact rewrites: their gradients are not computed,
// the losses are the same but for rounding, and a checkpoint means the same with and without.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/session/session_testing.h"

namespace cgrun {
namespace {

// A bias of a convolution, one of a linear layer and one by itself; the last layer's is read by no
// batch_norm.
constexpr const char* kModel = R"(
cgrun: 1
model: biases
data:
  train: {format: synthetic, samples: 60, classes: 4}
  test: {format: synthetic, samples: 40, classes: 4}
inputs:
  image: {type: uint8, shape: [3, 10, 10]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - {op: normalize, in: image, scale: 1/255}
      - {op: conv, filters: 8, kernel: 3, init: {bias: {constant: 0.5}}}
      - batch_norm
      - relu
      - {op: conv, filters: 8, kernel: 3, bias: false}
      - bias
      - batch_norm
      - flatten
      - {op: linear, units: 12}
      - {op: batch_norm, momentum: 0.5}
      - relu
      - logits: {op: linear, units: 4}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
    metrics: {accuracy: {in: [logits, label]}}
train: {epochs: 4, batch: 20, optimizer: {op: sgd, lr: 0.05, momentum: 0.9, weight_decay: 0.01}}
)";

ModelSpec Model(bool inexact) {
  return ModelOf(kModel, {inexact ? "inexact=true" : "inexact=false"});
}

// The loss of each epoch, of what was trained and of the test set.
class Losses final : public RunObserver {
 public:
  void OnEpoch(const EpochReport& report) override {
    losses.push_back(report.train.means[0].value);
    for (const PassResult& pass : report.evaluations) losses.push_back(pass.means[0].value);
  }
  std::vector<double> losses;
};

struct Outcome {
  std::vector<double> losses;
  std::string checkpoint;
  int64_t sums = 0;                 // kernels that sum a gradient over the batch
  std::vector<std::string> states;  // the states in a checkpoint
};

Outcome Train(bool inexact, const std::string& folder) {
  Diagnostics diagnostics;
  const ModelSpec model = Model(inexact);
  Session session(model, {}, true, diagnostics);
  EXPECT_TRUE(session.ready()) << diagnostics.ToString();
  Outcome run;
  for (const EngineOperator& op : session.engine().Operators(0)) {
    run.sums += op.kernel == "reference.reduce_sum";
  }
  for (const EngineState& state : session.engine().model().states) {
    run.states.push_back(state.name);
  }
  Losses losses;
  run.checkpoint = session.Train(folder, losses).checkpoint;
  run.losses = losses.losses;
  return run;
}

// Returns the means of the test set: loss and accuracy.
std::vector<double> Evaluated(const std::string& weights, bool inexact) {
  SessionOptions options;
  options.weights = weights;
  Diagnostics diagnostics;
  const ModelSpec model = Model(inexact);
  Session session(model, options, false, diagnostics);
  EXPECT_TRUE(session.ready()) << diagnostics.ToString();
  RunObserver silent;
  std::vector<double> means;
  for (const NamedNumber& mean : session.Evaluate("test", silent).means)
    means.push_back(mean.value);
  return means;
}

TEST(BiasUnderNorm, HasNoGradientWhereLeaveIsGivenAndTheSameLosses) {
  const std::string folder = FreshFolder();
  for (const char* part : {"/exact", "/inexact"}) std::filesystem::create_directory(folder + part);
  const Outcome exact = Train(false, folder + "/exact");
  const Outcome inexact = Train(true, folder + "/inexact");
  EXPECT_EQ(exact.sums, inexact.sums + 3);
  EXPECT_GT(inexact.sums, 0);
  EXPECT_EQ(exact.states, inexact.states);
  ASSERT_EQ(exact.losses.size(), inexact.losses.size());
  ASSERT_GE(exact.losses.size(), 8u);
  for (size_t i = 0; i < exact.losses.size(); ++i) {
    EXPECT_NEAR(exact.losses[i], inexact.losses[i], 1e-4 * exact.losses[i]) << i;
  }
  for (const Outcome* run : {&exact, &inexact}) {
    const std::vector<double> means = Evaluated(run->checkpoint, false);
    EXPECT_EQ(means, Evaluated(run->checkpoint, true));
    EXPECT_NEAR(means[0], run->losses.back(), 1e-9);
  }
}

}  // namespace
}  // namespace cgrun
