// Tests recurrent state in whole runs. It is carried from step to step, kept apart for training and
// evaluations, and is a part of checkpoints.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "src/base/allocation_counter.h"
#include "src/check/model_check.h"
#include "tests/session/session_testing.h"

namespace cgrun {
namespace {

constexpr char kModel[] = R"(
cgrun: 1
model: recurrent
data:
  train: {format: text, file: FILE, length: LENGTH}
  valid: {split: 0.25}
inputs:
  text: {type: uint8, shape: [LENGTH]}
  next: {type: uint8, shape: [LENGTH]}
  h: {shape: [6]}
networks:
  cell:
    in: [c, h]
    ops:
      - x: {op: embedding, in: c, entries: 256, units: 6, init: {normal: {deviation: 1}}}
      - m: {op: linear, in: h, units: 6}
      - {op: add, in: [x, m]}
      - tanh
paths:
  read:
    ops:
      - {network: cell, in: [text, h], unroll: 1, out: [y, h_next]}
      - {op: linear, in: y, units: 256}
      - scores: {op: transpose, perm: [0, 2, 1]}
    loss: {op: softmax_cross_entropy, in: [scores, next]}
    metrics: {accuracy: {in: [scores, next]}}
update: {h_next: h}
train: {epochs: 2, batch: 3, optimizer: {op: adam, lr: 0.01}}
)";

void Replace(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// The model on `bytes` bytes of text, in samples of `length`; one that `forgets` begins each with
// zeros.
ModelSpec Reader(const std::string& folder, int64_t bytes, int64_t length,
                 const std::vector<std::string>& overrides, bool forgets = false) {
  std::ofstream file(folder + "/text");
  for (int64_t i = 0; i < bytes; ++i) file << static_cast<char>('a' + (i * i * 7 + i / 5) % 26);
  std::string text = kModel;
  Replace(text, "FILE", folder + "/text");
  Replace(text, "LENGTH", std::to_string(length));
  if (forgets) {
    Replace(text, "{h_next: h}", "{forgotten: h}");
    Replace(text, "      - {op: linear, in: y",
            "      - forgotten: {op: mul, in: [h_next, 0]}\n      - {op: linear, in: y");
  }
  return ModelOf(text, overrides);
}

// 75 samples to train on, 25 steps an epoch; 25 to validate, of which 24 fill batches.
ModelSpec Reader(const std::string& folder, const std::vector<std::string>& overrides = {}) {
  return Reader(folder, 401, 4, overrides);
}

std::vector<double> StateOf(Session& session, const std::string& name) {
  const EngineModel& model = session.engine().model();
  const size_t index = model.FindState(name);
  HostTensor tensor(model.states[index].type.dtype, model.states[index].type.shape);
  session.engine().ReadState(index, tensor);
  std::vector<double> numbers;
  for (int64_t i = 0; i < tensor.elements(); ++i) numbers.push_back(tensor.At(i));
  return numbers;
}

bool AllZero(const std::vector<double>& numbers) {
  return std::ranges::all_of(numbers, [](double number) { return number == 0; });
}

double LossOf(const ModelSpec& model) {
  Diagnostics diagnostics;
  Session session(model, {}, false, diagnostics);
  EXPECT_TRUE(session.ready()) << diagnostics.ToString();
  RunObserver silent;
  return session.Evaluate("test", silent).means[0].value;
}

// The data are two streams of 32 characters, in steps of 4 or of 8.
TEST(Recurrent, TwoStepsAreOneOfTwiceTheLength) {
  const std::string folder = FreshFolder();
  const auto loss_of = [&](int64_t length, bool forgets) {
    const std::string test = "data.test={format: text, file: " + folder +
                             "/text, length: " + std::to_string(length) + "}";
    return LossOf(Reader(folder, 65, length, {"train.batch=2", "data.valid=", test}, forgets));
  };
  const double of_four = loss_of(4, false);
  EXPECT_NEAR(of_four, loss_of(8, false), 1e-5);
  EXPECT_GT(std::abs(of_four - loss_of(4, true)), 1e-4);
}

TEST(Recurrent, EvaluationsBeginWithZerosAndDisturbNoTraining) {
  const ModelSpec model = Reader(FreshFolder(), {"train.eval_every=7"});
  SessionOptions without;
  without.evaluate = {};
  EXPECT_EQ(TrainModel(model).weights_hash, TrainModel(model, without).weights_hash);
  for (Mode mode : {Mode::kGraph, Mode::kEager}) {
    SessionOptions options;
    options.mode = mode;
    Diagnostics diagnostics;
    Session session(model, options, true, diagnostics);
    ASSERT_TRUE(session.ready()) << diagnostics.ToString();
    EXPECT_TRUE(AllZero(StateOf(session, "h")));
    RunObserver silent;
    session.Train("", silent);
    const std::vector<double> trained = StateOf(session, "h");
    const PassResult first = session.Evaluate("valid", silent);
    const PassResult second = session.Evaluate("valid", silent);
    EXPECT_EQ(first.samples, 24);
    ASSERT_EQ(first.means.size(), 2u);
    for (size_t i = 0; i < first.means.size(); ++i) {
      EXPECT_EQ(first.means[i].value, second.means[i].value) << first.means[i].name;
    }
    EXPECT_LE(first.means[1].value, 1);  // accuracy: of labels
    EXPECT_EQ(StateOf(session, "h"), trained);
    EXPECT_FALSE(AllZero(trained));
    EXPECT_FALSE(AllZero(StateOf(session, ".eval.h")));
    EXPECT_NE(StateOf(session, ".eval.h"), trained);
  }
}

// With a rate that changes nothing every epoch is the same.
TEST(Recurrent, EpochsBeginWithZeros) {
  class Losses final : public RunObserver {
   public:
    void OnEpoch(const EpochReport& report) override {
      losses.push_back(report.train.means[0].value);
    }
    std::vector<double> losses;
  } observer;
  const ModelSpec model = Reader(FreshFolder(), {"train.optimizer={op: sgd, lr: 1.0e-30}"});
  Diagnostics diagnostics;
  Session session(model, {}, true, diagnostics);
  ASSERT_TRUE(session.ready()) << diagnostics.ToString();
  session.Train("", observer);
  ASSERT_EQ(observer.losses.size(), 2u);
  EXPECT_EQ(observer.losses[0], observer.losses[1]);
}

class Interrupt final : public RunObserver {
 public:
  explicit Interrupt(int64_t steps) : steps_(steps) {}
  void OnStep(const StepReport& report) override { flag = report.step >= steps_; }
  volatile std::sig_atomic_t flag = 0;

 private:
  int64_t steps_;
};

TEST(Recurrent, AResumedRunGoesOnInTheSameBits) {
  const std::string folder = FreshFolder();
  for (Mode mode : {Mode::kGraph, Mode::kEager}) {
    for (const char* accumulate : {"train.accumulate=1", "train.accumulate=2"}) {
      const ModelSpec model = Reader(folder, {"train.epochs=3", accumulate});
      SessionOptions options;
      options.mode = mode;
      const TrainResult whole = TrainModel(model, options, folder);
      const std::string checkpoint = ReadText(whole.checkpoint);
      EXPECT_NE(checkpoint.find("\"h\""), std::string::npos);
      EXPECT_EQ(checkpoint.find("eval"), std::string::npos);
      for (int64_t steps : {int64_t{5}, whole.steps / 3, whole.steps / 3 + 2}) {
        const std::string parts = folder + "/parts";
        std::filesystem::remove_all(parts);
        std::filesystem::create_directories(parts);
        Diagnostics diagnostics;
        Session session(model, options, true, diagnostics);
        Interrupt interrupt(steps);
        const TrainResult part = session.Train(parts, interrupt, {&interrupt.flag});
        ASSERT_EQ(part.steps, steps);
        SessionOptions resumed = options;
        resumed.checkpoint = part.checkpoint;
        const TrainResult rest = TrainModel(model, resumed, parts);
        EXPECT_EQ(rest.weights_hash, whole.weights_hash) << steps;
        EXPECT_EQ(ReadText(rest.checkpoint), checkpoint) << steps;
      }
    }
  }
}

TEST(Recurrent, ModesAndDevicesGiveTheSameBits) {
  const std::string folder = FreshFolder();
  const ModelSpec model = Reader(folder);
  for (const char* device : {"reference", "blas"}) {
    std::vector<TrainResult> results;
    std::vector<std::string> checkpoints;
    for (Mode mode : {Mode::kGraph, Mode::kEager}) {
      SessionOptions options;
      options.mode = mode;
      options.device = device;
      options.compile.passes.disabled = {"fuse_activations"};
      results.push_back(TrainModel(model, options, folder));
      checkpoints.push_back(ReadText(results.back().checkpoint));
    }
    EXPECT_EQ(results[0].weights_hash, results[1].weights_hash) << device;
    EXPECT_EQ(checkpoints[0], checkpoints[1]) << device;
    EXPECT_EQ(results[0].last.train.means[0].value, results[1].last.train.means[0].value);
  }
}

TEST(Recurrent, NothingIsAllocatedAfterTheFirstStep) {
  const std::string folder = FreshFolder();
  const TrainResult result = TrainModel(Reader(folder), {}, folder);
  if (!AllocationsAreCounted()) return;
  EXPECT_EQ(result.allocations_after_first_step, 0);
  EXPECT_EQ(result.heap_growth_bytes, 0);
}

TEST(Recurrent, WholeBatchesAloneAreTaken) {
  const std::string folder = FreshFolder();
  const TrainResult result = TrainModel(Reader(folder, {"train.batch=8"}));
  EXPECT_EQ(result.left_out, (LeftOut{{"train", 75 % 8}, {"valid", 25 % 8}}));
  EXPECT_EQ(result.last.train.samples, 72);
  EXPECT_EQ(result.steps, 2 * 9);
  const std::string errors = SessionErrors(Reader(folder, {"train.batch=30"}));
  EXPECT_NE(errors.find("a batch of 30 is as many streams, but 'valid' has 25 samples"),
            std::string::npos)
      << errors;
}

// Weights of a run with another batch: the state is the run's own.
TEST(Recurrent, WeightsFitWhateverTheBatch) {
  const std::string folder = FreshFolder();
  SessionOptions options;
  options.weights = TrainModel(Reader(folder), {}, folder).checkpoint;
  const ModelSpec other = Reader(folder, {"train.batch=2"});
  Diagnostics diagnostics;
  Session session(other, options, true, diagnostics);
  ASSERT_TRUE(session.ready()) << diagnostics.ToString();
  EXPECT_TRUE(session.weights().mismatched.empty());
  EXPECT_TRUE(session.weights().missing.empty());
  EXPECT_EQ(std::ranges::count(session.weights().skipped, "h"), 1);
}

TEST(Recurrent, GradientsAreTheDifferences) {
  const ModelSpec model = Reader(FreshFolder());
  Diagnostics diagnostics;
  ModelCheck check(model, OpenModelData(model, diagnostics), {}, diagnostics);
  ASSERT_TRUE(check.ready()) << check.skipped() << diagnostics.ToString();
  const std::vector<GradientCheck> gradients = check.CheckGradients();
  EXPECT_FALSE(gradients.empty());
  for (const GradientCheck& gradient : gradients) {
    EXPECT_TRUE(gradient.good) << testing::PrintToString(gradient.parameters);
  }
  EXPECT_TRUE(check.CheckDevice("reference").good);
}

}  // namespace
}  // namespace cgrun
