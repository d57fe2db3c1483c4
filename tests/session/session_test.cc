// Whole runs on small data: every sample once, no allocation, weights that come back, and one hash
// for every order, planner and zones setting.
#include "src/session/session.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "src/base/allocation_counter.h"
#include "src/fit/run_shape.h"
#include "src/packing/planner.h"
#include "tests/session/session_testing.h"

namespace cgrun {
namespace {

TEST(Session, PartialBatchesTakeEachSampleOnce) {
  const ModelSpec model = SmallModel();
  Diagnostics diagnostics;
  Session session(model, {}, true, diagnostics);
  ASSERT_TRUE(session.ready()) << diagnostics.ToString();
  std::vector<int64_t> batches;
  for (const ImageEntry& entry : session.program()->image().entries) batches.push_back(entry.batch);
  EXPECT_EQ(batches, (std::vector<int64_t>{100, 65, 100, 30}));
  RunObserver silent;
  const TrainResult result = session.Train("", silent);
  EXPECT_EQ(result.steps, 2 * 11);
  EXPECT_EQ(result.last.train.samples, 1065);
  ASSERT_EQ(result.last.evaluations.size(), 1u);
  EXPECT_EQ(result.last.evaluations[0].samples, 230);
  EXPECT_TRUE(std::isfinite(result.last.train.means[0].value));
}

// Metrics of an evaluation are means over samples, whatever the batch size.
TEST(Session, MetricsDoNotDependOnTheBatchSize) {
  std::vector<std::vector<NamedNumber>> means;
  for (const char* batch : {"train.batch=100", "train.batch=7", "train.batch=230"}) {
    const ModelSpec model = SmallModel({batch});
    Diagnostics diagnostics;
    Session session(model, {}, false, diagnostics);
    ASSERT_TRUE(session.ready()) << diagnostics.ToString();
    RunObserver silent;
    means.push_back(session.Evaluate("test", silent).means);
  }
  for (size_t i = 0; i < means[0].size(); ++i) {
    EXPECT_NEAR(means[1][i].value, means[0][i].value, 1e-6) << means[0][i].name;
    EXPECT_NEAR(means[2][i].value, means[0][i].value, 1e-6) << means[0][i].name;
  }
}

// Those that are no means over samples neither.
TEST(Session, ListsAndTablesDoNotDependOnTheBatchSize) {
  std::vector<PassResult> results;
  for (const char* batch : {"train.batch=100", "train.batch=7", "train.batch=230"}) {
    const ModelSpec model = ModelOf(R"(
cgrun: 1
data:
  test: {format: synthetic, samples: 230, classes: 4, seed: 9}
inputs:
  row: {shape: [6]}
  target: {shape: [2]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - flat: {op: flatten, in: row}
      - logits: {op: linear, units: 4, init: {normal: {deviation: 1}}}
      - y: {op: linear, in: flat, units: 2}
    loss: {op: softmax_cross_entropy, in: [logits, label], class_weights: [1, 2, 3, 4]}
    metrics:
      r2: {in: [y, target]}
      f1: {in: [logits, label]}
      mean_squared_error: {in: [y, target]}
      per_class_accuracy: {in: [logits, label]}
      confusion_matrix: {in: [logits, label]}
train: {epochs: 1, batch: 100, optimizer: {op: sgd, lr: 0.1}}
)",
                                    {batch});
    Diagnostics diagnostics;
    Session session(model, {}, false, diagnostics);
    ASSERT_TRUE(session.ready()) << diagnostics.ToString();
    RunObserver silent;
    results.push_back(session.Evaluate("test", silent));
  }
  const PassResult& wanted = results[0];
  ASSERT_EQ(wanted.means.size(), 4u);
  ASSERT_EQ(wanted.tables.size(), 2u);
  EXPECT_EQ(wanted.tables[1].columns, 4);
  double counted = 0;
  for (const double count : wanted.tables[1].values) counted += count;
  EXPECT_EQ(counted, 230);
  for (const PassResult& result : results) {
    for (size_t i = 0; i < wanted.means.size(); ++i) {
      EXPECT_NEAR(result.means[i].value, wanted.means[i].value, 1e-6) << wanted.means[i].name;
    }
    for (size_t i = 0; i < wanted.tables.size(); ++i) {
      EXPECT_EQ(result.tables[i].values, wanted.tables[i].values) << wanted.tables[i].name;
    }
  }
}

// Evaluations, the log, the test set at the end and the last checkpoint are included.
TEST(Session, AllocatesNothingAfterTheFirstStep) {
  const std::string folder = FreshFolder();
  const TrainResult result = TrainModel(SmallModel({"data.valid={split: 0.2}"}), {}, folder);
  ASSERT_EQ(result.last.evaluations.size(), 2u);
  EXPECT_EQ(result.last.evaluations[0].split, "valid");
  EXPECT_EQ(result.last.evaluations[0].samples, 213);
  EXPECT_EQ(result.last.evaluations[1].split, "test");
  EXPECT_EQ(result.last.evaluations[1].samples, 230);
  EXPECT_EQ(result.checkpoint, folder + "/checkpoint-18.safetensors");
  if (!AllocationsAreCounted()) {
    EXPECT_FALSE(result.allocations_after_first_step.has_value());
    return;
  }
  const int64_t before = CurrentHeapUse().allocations;
  ::operator delete(::operator new(8));  // called by name, so that it is not optimised away
  ASSERT_EQ(CurrentHeapUse().allocations, before + 1) << "the counter does not count";
  EXPECT_EQ(result.allocations_after_first_step, 0);
  EXPECT_EQ(result.heap_growth_bytes, 0);
}

TEST(Session, TestsOnAPartOfTheTrainingData) {
  const TrainResult result = TrainModel(
      SmallModel({"data.valid={split: 0.2}", "data.test={split: 0.1}"}), {}, FreshFolder());
  ASSERT_EQ(result.last.evaluations.size(), 2u);
  EXPECT_EQ(result.last.evaluations[0].samples, 213);
  EXPECT_EQ(result.last.evaluations[1].split, "test");
  EXPECT_EQ(result.last.evaluations[1].samples, 107);
}

TEST(Session, WeightsComeBackFromTheCheckpoint) {
  const ModelSpec model = SmallModel();
  const TrainResult result = TrainModel(model, {}, testing::TempDir());
  Diagnostics diagnostics;
  SessionOptions options;
  options.weights = result.checkpoint;
  Session session(model, options, false, diagnostics);
  ASSERT_TRUE(session.ready()) << diagnostics.ToString();
  EXPECT_EQ(session.engine().StateHash(), result.weights_hash);
  EXPECT_TRUE(session.weights().missing.empty());
  RunObserver silent;
  const PassResult again = session.Evaluate("test", silent);
  ASSERT_EQ(result.last.evaluations.size(), 1u);
  for (size_t i = 0; i < again.means.size(); ++i) {
    EXPECT_EQ(again.means[i].value, result.last.evaluations[0].means[i].value);
  }
}

TEST(Session, SeedsMakeTheDifference) {
  const uint64_t one = TrainModel(SmallModel()).weights_hash;
  EXPECT_EQ(TrainModel(SmallModel()).weights_hash, one);
  EXPECT_NE(TrainModel(SmallModel({"train.seed=1"})).weights_hash, one);
}

TEST(Session, OneHashForEveryOrderPlannerAndZonesSetting) {
  std::set<uint64_t> hashes;
  const auto run = [&](const std::string& order, const std::string& planner, bool apart) {
    SessionOptions options;
    options.compile.order = order;
    options.compile.layout.planner = planner;
    options.compile.layout.zones_apart = apart;
    hashes.insert(
        TrainModel(SmallModel({"train.steps=20", "train.batch=30"}), options).weights_hash);
    EXPECT_EQ(hashes.size(), 1u) << order << ", " << planner << ", " << apart;
  };
  for (const OrderEntry& order : Orders()) {
    for (const PlannerEntry& planner : Planners()) {
      for (bool apart : {false, true}) {
        run(std::string(order.name), std::string(planner.name), apart);
      }
    }
  }
  SessionOptions no_in_place;
  no_in_place.compile.layout.in_place = false;
  hashes.insert(
      TrainModel(SmallModel({"train.steps=20", "train.batch=30"}), no_in_place).weights_hash);
  EXPECT_EQ(hashes.size(), 1u) << "without in-place";
}

// Recomputing costs time and saves memory. It changes no bit.
TEST(Session, RecomputingChangesNoWeight) {
  const ModelSpec model = SmallModel({"train.steps=20"});
  SessionOptions options;
  // They leave nothing to recompute.
  options.compile.passes.disabled = {"relu_before_pool_grad", "relu_bits"};
  options.compile.layout.recompute = {"classify.conv", "classify.conv.relu", "preprocess.nothing"};
  Diagnostics diagnostics;
  Session session(model, options, true, diagnostics);
  ASSERT_TRUE(session.ready()) << diagnostics.ToString();
  const std::string code = Disassemble(session.program()->image());
  EXPECT_NE(code.find(".again"), std::string::npos) << code;
  RunObserver silent;
  EXPECT_EQ(session.Train("", silent).weights_hash, TrainModel(model).weights_hash);
}

// A data set that is smaller than a batch has its partial batch alone.
TEST(Session, BatchesMayBeLargerThanADataSet) {
  for (const char* batch : {"train.batch=400", "train.batch=2000"}) {
    const TrainResult result = TrainModel(SmallModel({batch}));
    EXPECT_EQ(result.last.train.samples, 1065) << batch;
    EXPECT_EQ(result.last.evaluations[0].samples, 230) << batch;
  }
}

// The ring holds no more samples than there are.
TEST(Session, ABatchLargerThanTheDataTakesNoMoreMemory) {
  const auto plan = [](const char* batch) {
    Diagnostics none;
    const RunShape shape = ShapeOfRun(SmallModel({batch}), none);
    EXPECT_EQ(shape.entries.size(), 2u);
    return HostUseOf(shape.host).total();
  };
  const int64_t whole = plan("train.batch=1065");
  EXPECT_GT(whole, 1065 * 36 * 2);
  EXPECT_EQ(plan("train.batch=999999999999"), whole);
  const TrainResult result = TrainModel(SmallModel({"train.batch=999999999999"}));
  EXPECT_EQ(result.steps, 2);
  EXPECT_EQ(result.last.train.samples, 1065);
  EXPECT_EQ(result.last.evaluations[0].samples, 230);
  EXPECT_EQ(result.memory.data, TrainModel(SmallModel({"train.batch=1065"})).memory.data);
}

TEST(Session, SyntheticDataFeedEveryInput) {
  const ModelSpec model = SmallModel({"inputs.extra={type: f32, shape: [2]}"});
  Diagnostics diagnostics;
  Session session(model, {}, true, diagnostics);
  EXPECT_TRUE(session.ready()) << diagnostics.ToString();
}

TEST(Session, DataThatDoesNotFitIsExplained) {
  const ModelSpec model =
      SmallModel({"inputs.image.shape=[1, 5, 6]", "data.train.format=synthetical"});
  Diagnostics diagnostics;
  Session session(model, {}, true, diagnostics);
  EXPECT_FALSE(session.ready());
  EXPECT_NE(diagnostics.ToString().find("did you mean 'synthetic'"), std::string::npos)
      << diagnostics.ToString();
}

}  // namespace
}  // namespace cgrun
