// Tests runs of training that are interrupted, resumed or refused, or whose numbers are not finite.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <sstream>
#include <thread>

#include "src/base/allocation_counter.h"
#include "src/run/checkpoint.h"
#include "src/run/run_folder.h"
#include "tests/session/session_testing.h"

namespace cgrun {
namespace {

// Two paths that learn; the loss of the second is NaN from the first step on.
constexpr char kBrokenPath[] = R"(
cgrun: 1
model: broken
data: {train: {format: synthetic, samples: 40, classes: 4}}
inputs:
  image: {type: uint8, shape: [1, 2, 2]}
  label: {type: int32, shape: []}
paths:
  sound:
    ops:
      - a: {op: normalize, in: image, scale: 1/255}
      - {op: flatten}
      - right: {op: linear, units: 4}
    loss: {op: softmax_cross_entropy, in: [right, label]}
  broken:
    ops:
      - b: {op: normalize, in: image, scale: 1/255, mean: 2}
      - {op: log}
      - {op: flatten}
      - wrong: {op: linear, units: 4}
    loss: {op: softmax_cross_entropy, in: [wrong, label]}
train: {epochs: 1, batch: 10, optimizer: {op: sgd, lr: 0.1}}
)";

TEST(TrainingRun, AFileThatDoesNotSayHowToTrainIsAnError) {
  const std::string text = kBrokenPath;
  const std::string errors = SessionErrors(ModelOf(text.substr(0, text.find("train: {epochs"))));
  EXPECT_NE(errors.find("it has no 'train'"), std::string::npos) << errors;
}

TEST(TrainingRun, NamesTheOperatorWhoseValueIsNotFinite) {
  try {
    TrainModel(ModelOf(kBrokenPath));
    FAIL() << "a loss that is not finite passed";
  } catch (const UserError& error) {
    EXPECT_STREQ(
        error.what(),
        "small.yaml:18:14: broken.log[0] made the first value that is not finite (NaN), in "
        "step 1");
    EXPECT_TRUE(error.help().starts_with("no parameter had changed by then")) << error.help();
  }
}

// Asks the run to stop after a number of steps.
class Interrupt final : public RunObserver {
 public:
  explicit Interrupt(int64_t steps) : steps_(steps) {}
  void OnStep(const StepReport& report) override { flag = report.step >= steps_; }
  volatile std::sig_atomic_t flag = 0;

 private:
  int64_t steps_;
};

// If an interrupted run has not measured a number, the number stands nowhere, least of all as 0.
TEST(TrainingRun, LeavesOutWhatAnInterruptKeptFromBeingMeasured) {
  const ModelSpec model = SmallModel();
  Diagnostics diagnostics;
  Session session(model, {}, true, diagnostics);
  ASSERT_TRUE(session.ready()) << diagnostics.ToString();
  const std::string folder = FreshFolder();
  Interrupt interrupt(3);
  const TrainResult result = session.Train(folder, interrupt, {&interrupt.flag});
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.steps, 3);
  EXPECT_EQ(result.last.train.samples, 300);
  for (const PassResult& pass : result.last.evaluations) EXPECT_FALSE(pass.measured());
  const std::string json = SummaryJson(result);
  EXPECT_NE(json.find("\"test\": {}"), std::string::npos) << json;
  EXPECT_EQ(json.find("\"train\": {}"), std::string::npos) << json;
  const std::string csv = ReadText(folder + "/metrics.csv");
  EXPECT_EQ(csv,
            "epoch,step,learning_rate,seconds,samples,train_loss,train_accuracy,test_loss,"
            "test_accuracy\n");
}

// The step that is under way is lost, and the checkpoint before it is whole.
TEST(TrainingRun, EndsBetweenTwoOperators) {
  for (const Mode mode : {Mode::kGraph, Mode::kEager}) {
    const ModelSpec model = SmallModel({"train.checkpoint_every=2"});
    Diagnostics diagnostics;
    SessionOptions options;
    options.mode = mode;
    Session session(model, options, true, diagnostics);
    ASSERT_TRUE(session.ready()) << diagnostics.ToString();
    const std::string folder = FreshFolder();
    Interrupt interrupt(3);
    std::atomic<int64_t> saved_step = -1;
    RunSignals signals;
    signals.stop_now = &interrupt.flag;
    signals.saved_step = &saved_step;
    EXPECT_THROW(session.Train(folder, interrupt, signals), RunStopped);
    EXPECT_EQ(saved_step, 2);
    std::vector<std::string> damaged;
    EXPECT_TRUE(NewestCheckpoint(folder, damaged).ends_with("checkpoint-2.safetensors"));
    EXPECT_TRUE(damaged.empty());
  }
}

// A run that goes on in the midst of an epoch has the epoch's means, but the time of the rest
// alone: its throughput is that of the samples in this time.
TEST(TrainingRun, CountsWhatAResumedRunHasDone) {
  const ModelSpec model = SmallModel();
  const std::string folder = FreshFolder();
  SessionOptions options;
  {
    Diagnostics diagnostics;
    Session session(model, options, true, diagnostics);
    Interrupt interrupt(3);
    const TrainResult part = session.Train(folder, interrupt, {&interrupt.flag});
    EXPECT_EQ(part.last.train.timed_samples, 300);
    EXPECT_EQ(part.resumed_step, 0);
    options.checkpoint = part.checkpoint;
  }
  Diagnostics diagnostics;
  Session session(model, options, true, diagnostics);
  ASSERT_TRUE(session.ready()) << diagnostics.ToString();
  class Watch final : public RunObserver {
   public:
    void OnStep(const StepReport& report) override {
      if (report.epoch > 0) return;
      EXPECT_EQ(report.timed_steps, report.step - 3);
      EXPECT_EQ(report.timed_samples, report.samples - 300);
    }
    void OnEpoch(const EpochReport& report) override {
      EXPECT_EQ(report.train.samples, 1065);
      EXPECT_EQ(report.train.timed_samples, report.epoch == 0 ? 765 : 1065);
      seconds += report.train.seconds;
    }
    double seconds = 0;
  } watch;
  const TrainResult result = session.Train(folder, watch);
  EXPECT_EQ(result.resumed_step, 3);
  EXPECT_EQ(result.steps, 22);
  EXPECT_NEAR(result.samples_per_second * watch.seconds, 765 + 1065, 1e-3 * (765 + 1065));
  const std::string csv = ReadText(folder + "/metrics.csv");
  std::vector<std::string> samples;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream cells(line);
    std::string cell;
    for (int i = 0; i < 5; ++i) std::getline(cells, cell, ',');
    samples.push_back(cell);
  }
  EXPECT_EQ(samples, (std::vector<std::string>{"samples", "765", "1065"})) << csv;
}

// Throughput is that of training, however much is evaluated and written beside it.
TEST(TrainingRun, CountsNoTimeOfEvaluationsWithinAnEpoch) {
  const ModelSpec model =
      SmallModel({"data.valid={split: 0.1}", "train.eval_every=1", "train.checkpoint_every=1"});
  Diagnostics diagnostics;
  Session session(model, {}, true, diagnostics);
  ASSERT_TRUE(session.ready()) << diagnostics.ToString();
  class Slow final : public RunObserver {
   public:
    void OnStep(const StepReport& report) override { last = report.seconds; }
    void OnEvaluationStep(const StepReport&) override {
      const auto begin = std::chrono::steady_clock::now();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      const std::chrono::duration<double> slept = std::chrono::steady_clock::now() - begin;
      evaluating += slept.count();
    }
    void OnEpoch(const EpochReport& report) override {
      logged = report.train.seconds;
      evaluating_in_epochs = evaluating;  // the test data come behind the time of the run
    }
    double evaluating = 0, evaluating_in_epochs = 0, last = 0, logged = 0;
  } slow;
  const TrainResult result = session.Train(FreshFolder(), slow);
  EXPECT_GT(slow.evaluating_in_epochs, 0.02 * 20);
  for (const double seconds : {result.train_seconds, slow.last, slow.logged}) {
    EXPECT_GT(seconds, 0);
    EXPECT_LT(seconds + slow.evaluating_in_epochs, result.seconds);
  }
}

// The checkpoint that a run goes on from is there.
TEST(TrainingRun, ARunThatGoesOnFromStep0WritesItNotAgain) {
  const ModelSpec model = SmallModel();
  const std::string folder = FreshFolder();
  SessionOptions options;
  for (const bool resumed : {false, true}) {
    Diagnostics diagnostics;
    Session session(model, options, true, diagnostics);
    ASSERT_TRUE(session.ready()) << diagnostics.ToString();
    Interrupt interrupt(0);
    interrupt.flag = 1;
    const TrainResult result = session.Train(folder, interrupt, {&interrupt.flag});
    EXPECT_EQ(result.steps, 0);
    EXPECT_EQ(result.state_checks, resumed ? 0 : 1);
    options.checkpoint = result.checkpoint;
    EXPECT_FALSE(ReadText(options.checkpoint).empty());
  }
}

// The end of an epoch looks at the state, keeps the best model and writes a checkpoint: one copy.
TEST(TrainingRun, CopiesTheStateOnceForAllThatWantIt) {
  const std::string folder = FreshFolder();
  const TrainResult result =
      TrainModel(SmallModel({"data.valid={split: 0.1}"}), SessionOptions(), folder);
  EXPECT_FALSE(ReadText(folder + "/best.safetensors").empty());
  EXPECT_EQ(result.epochs, 2);
  EXPECT_EQ(result.state_checks, 1 + 2) << "of step 0, and of the end of each epoch";
  if (AllocationsAreCounted()) {
    EXPECT_EQ(result.allocations_after_first_step, 0);
  }
}

// The last step is the end: nothing is left that a resumed run would have to do.
TEST(TrainingRun, AnInterruptInTheLastStepComesTooLate) {
  const ModelSpec model = SmallModel();
  Diagnostics diagnostics;
  Session session(model, {}, true, diagnostics);
  ASSERT_TRUE(session.ready()) << diagnostics.ToString();
  Interrupt interrupt(22);
  const TrainResult result = session.Train("", interrupt, {&interrupt.flag});
  EXPECT_FALSE(result.interrupted);
  EXPECT_EQ(result.epochs, 2);
  for (const PassResult& pass : result.last.evaluations) EXPECT_TRUE(pass.measured());
}

// The evaluation of an epoch tells nothing of weights that the next epoch has changed.
TEST(TrainingRun, AnInterruptInTheNextEpochKeepsNoOldEvaluation) {
  const ModelSpec model = SmallModel();
  Diagnostics diagnostics;
  Session session(model, {}, true, diagnostics);
  ASSERT_TRUE(session.ready()) << diagnostics.ToString();
  Interrupt interrupt(13);  // an epoch has 11 steps
  const TrainResult result = session.Train("", interrupt, {&interrupt.flag});
  EXPECT_EQ(result.epochs, 1);
  EXPECT_EQ(result.last.train.samples, 200);
  for (const PassResult& pass : result.last.evaluations) EXPECT_FALSE(pass.measured());
}

TEST(TrainingRun, ARunWithoutAStepHasNoResults) {
  const ModelSpec model = SmallModel();
  Diagnostics diagnostics;
  Session session(model, {}, true, diagnostics);
  ASSERT_TRUE(session.ready()) << diagnostics.ToString();
  Interrupt interrupt(0);
  interrupt.flag = 1;
  const TrainResult result = session.Train("", interrupt, {&interrupt.flag});
  EXPECT_EQ(result.steps, 0);
  EXPECT_FALSE(result.allocations_after_first_step.has_value());
  EXPECT_FALSE(result.heap_growth_bytes.has_value());
  const std::string json = SummaryJson(result);
  EXPECT_NE(json.find("\"train\": {}"), std::string::npos) << json;
  EXPECT_NE(json.find("\"test\": {}"), std::string::npos) << json;
}

TEST(TrainingRun, StepsThatCannotBeCountedAreAnErrorAtTheEpochs) {
  const std::string epochs = "train.epochs=4611686018427387904";
  for (const char* schedule : {"constant", "{cosine: {}}"}) {
    const std::string override = std::string("train.optimizer.schedule=") + schedule;
    const std::string errors = SessionErrors(SmallModel({epochs, override}));
    EXPECT_NE(errors.find("4611686018427387904 epochs of 11 steps are more steps than 64 bits"),
              std::string::npos)
        << errors;
  }
  EXPECT_EQ(SessionErrors(SmallModel({"train.epochs=838488366986797800"})), "");  // 2^63 / 11
}

}  // namespace
}  // namespace cgrun
