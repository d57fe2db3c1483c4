// auc over passes: exact whatever the batch, in memory that is planned, and through a checkpoint.
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>

#include "src/ops/metric.h"
#include "src/session/session.h"
#include "tests/session/session_testing.h"

namespace cgrun {
namespace {

constexpr char kText[] = R"(
cgrun: 1
model: two
data:
  train: {format: synthetic, samples: 1065, classes: 2}
  test: {format: synthetic, samples: 230, classes: 2, seed: 3}
inputs:
  image: {type: uint8, shape: [2, 2]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - {op: normalize, in: image, scale: 1/255}
      - {op: flatten}
      - logits: {op: linear, units: 2}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
    metrics: {auc: {in: [logits, label]}}
train: {epochs: 2, batch: 100, optimizer: {op: sgd, lr: 0.1}}
)";

double AucOf(const PassResult& pass) {
  for (const NamedNumber& mean : pass.means) {
    if (mean.name == "auc") return mean.value;
  }
  return std::nan("");
}

PassResult Evaluate(int64_t batch, Mode mode, const std::string& weights) {
  SessionOptions options;
  options.mode = mode;
  options.weights = weights;
  options.evaluate = {"test"};
  const ModelSpec model = ModelOf(kText, {"train.batch=" + std::to_string(batch)});
  Diagnostics diagnostics;
  Session session(model, options, /*train=*/false, diagnostics);
  EXPECT_TRUE(session.ready()) << diagnostics.ToString();
  RunObserver observer;
  return session.Evaluate("test", observer);
}

TEST(Auc, TellsScoresOfF32ApartAndThoseOfF64ButForTheirLastBit) {
  const float next = std::nextafter(1.0F, 2.0F);
  EXPECT_LT(ScoredSample(1.0F, true), ScoredSample(next, false));
  const double close = std::nextafter(1.0, 2.0), apart = std::nextafter(close, 2.0);
  EXPECT_EQ(ScoredSample(1.0, true), ScoredSample(close, true));
  EXPECT_LT(ScoredSample(1.0, true), ScoredSample(apart, false));
}

TEST(Auc, DependsOnNeitherTheBatchNorTheMode) {
  const TrainResult result = TrainModel(ModelOf(kText), {}, FreshFolder());
  const double whole = AucOf(Evaluate(230, Mode::kGraph, result.checkpoint));
  EXPECT_GT(whole, 0.4);
  EXPECT_LT(whole, 0.6);
  for (const int64_t batch : {1, 7, 100, 1000}) {
    for (const Mode mode : {Mode::kGraph, Mode::kEager}) {
      EXPECT_EQ(AucOf(Evaluate(batch, mode, result.checkpoint)), whole) << batch;
    }
  }
}

// Asks the run to stop after a number of steps, and notes what epochs come to.
class Watch final : public RunObserver {
 public:
  explicit Watch(int64_t steps) : steps_(steps) {}
  void OnStep(const StepReport& report) override {
    flag = report.step == steps_;
    for (const NamedNumber& mean : *report.means) EXPECT_NE(mean.name, "auc") << "it is not known";
  }
  void OnEpoch(const EpochReport& report) override { auc.push_back(AucOf(report.train)); }
  volatile std::sig_atomic_t flag = 0;
  std::vector<double> auc;

 private:
  int64_t steps_;
};

TEST(Auc, GoesThroughACheckpointWithinAnEpoch) {
  const ModelSpec model = ModelOf(kText);
  const auto train = [&](int64_t stop, SessionOptions options, Watch& watch) {
    Diagnostics diagnostics;
    Session session(model, options, true, diagnostics);
    EXPECT_TRUE(session.ready()) << diagnostics.ToString();
    watch = Watch(stop);
    return session.Train(FreshFolder(), watch, {&watch.flag});
  };
  Watch whole(-1), part(-1), rest(-1);
  train(-1, {}, whole);
  SessionOptions options;
  options.checkpoint = train(4, {}, part).checkpoint;
  train(-1, options, rest);
  ASSERT_EQ(whole.auc.size(), 2u);
  EXPECT_EQ(rest.auc, whole.auc);
}

TEST(Auc, ItsMemoryIsPlanned) {
  const auto data = [](const std::vector<std::string>& overrides) {
    const ModelSpec model = ModelOf(kText, overrides);
    Diagnostics diagnostics;
    const Session session(model, {}, true, diagnostics);
    EXPECT_TRUE(session.ready()) << diagnostics.ToString();
    return session.memory().data;
  };
  EXPECT_EQ(data({}) - data({"paths.classify.metrics.auc.bins=64"}), 3 * 8 * 1065 + 8 * 230);
}

}  // namespace
}  // namespace cgrun
