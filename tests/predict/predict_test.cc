// Tests what outputs mean, which classes are the most probable, and what their names are.
#include "src/predict/predict.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "src/base/allocation_counter.h"
#include "src/io/npy_file.h"
#include "src/kernels/kernel.h"
#include "src/model_data/class_names.h"
#include "tests/session/session_testing.h"

namespace cgrun {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

PredictedOutput OutputOf(Scores scores, int64_t elements) {
  PredictedOutput output;
  output.scores = scores;
  output.shape = Shape{elements};
  return output;
}

std::vector<int64_t> Indices(const std::vector<ClassScore>& top) {
  std::vector<int64_t> indices;
  for (const ClassScore& score : top) indices.push_back(score.index);
  return indices;
}

TEST(TopClasses, LogitsBecomeProbabilities) {
  const std::vector<double> logits = {0, std::log(6.0), std::log(3.0)};
  const auto top = TopClasses(OutputOf(Scores::kLogits, 3), logits, 2);
  EXPECT_EQ(Indices(top), (std::vector<int64_t>{1, 2}));
  EXPECT_NEAR(top[0].probability, 0.6, 1e-12);
  EXPECT_NEAR(top[1].probability, 0.3, 1e-12);
}

TEST(TopClasses, LargeLogitsDoNotOverflow) {
  const std::vector<double> logits = {1e300, -1e300};
  EXPECT_EQ(TopClasses(OutputOf(Scores::kLogits, 2), logits, 1)[0].probability, 1);
}

TEST(TopClasses, EqualOnesAreInOrderAndNanIsLast) {
  const std::vector<double> values = {kNan, 0.2, 0.4, 0.2};
  const auto top = TopClasses(OutputOf(Scores::kProbabilities, 4), values, 9);
  EXPECT_EQ(Indices(top), (std::vector<int64_t>{2, 1, 3, 0}));
}

TEST(TopClasses, OneLogitTellsTwoClassesApart) {
  const std::vector<double> logit = {std::log(4.0)};
  const PredictedOutput output = OutputOf(Scores::kYesNoLogits, 1);
  EXPECT_EQ(output.class_count(), 2);
  const auto top = TopClasses(output, logit, 2);
  EXPECT_EQ(Indices(top), (std::vector<int64_t>{1, 0}));
  EXPECT_NEAR(top[0].probability, 0.8, 1e-12);
  EXPECT_NEAR(top[1].probability, 0.2, 1e-12);
}

TEST(TopClasses, LogProbabilities) {
  const std::vector<double> values = {std::log(0.25), std::log(0.75)};
  EXPECT_NEAR(TopClasses(OutputOf(Scores::kLogProbabilities, 2), values, 1)[0].probability, 0.75,
              1e-12);
}

// Returns the signature of a model with this end and loss.
PredictSignature SignatureWith(const std::string& end, const std::string& loss,
                               const std::string& label) {
  const ModelSpec model = ModelOf(R"(cgrun: 1
inputs:
  x: {shape: [4]}
  y: )" + label + R"(
paths:
  learn:
    ops:
      - h: {op: linear, in: x, units: 3}
      - )" + end + R"(
    loss: )" + loss + R"(
train: {optimizer: {op: sgd, lr: 0.1}}
)");
  Diagnostics diagnostics;
  const auto signature = DescribePredictions(model, DType::kF32, false, diagnostics);
  EXPECT_TRUE(signature.has_value()) << diagnostics.ToString();
  return signature.value_or(PredictSignature());
}

TEST(DescribePredictions, TheLossSaysWhatOutputsMean) {
  struct Case {
    const char *end, *loss, *label;
    Scores scores;
  };
  const Case cases[] = {
      {"z: {op: relu}", "{op: softmax_cross_entropy, in: [z, y]}", "{type: int32, shape: []}",
       Scores::kLogits},
      {"z: {op: softmax}", "{op: softmax_cross_entropy, in: [h, y]}", "{type: int32, shape: []}",
       Scores::kProbabilities},
      {"z: {op: sigmoid}", "{op: binary_cross_entropy, in: [z, y], from_logits: false}",
       "{shape: [3]}", Scores::kYesNo},
      {"z: {op: relu}", "{op: binary_cross_entropy, in: [z, y]}", "{shape: [3]}",
       Scores::kYesNoLogits},
      {"z: {op: relu}", "{op: squared_error, in: [z, y]}", "{shape: [3]}", Scores::kNone},
      {"half: {op: mul, in: [y, 1/2]}\n      - z: {op: relu, in: h}",
       "{op: squared_error, in: [z, half]}", "{shape: [3]}", Scores::kNone}};
  for (const Case& c : cases) {
    const PredictSignature signature = SignatureWith(c.end, c.loss, c.label);
    ASSERT_EQ(signature.inputs.size(), 1u) << c.end;
    EXPECT_EQ(signature.inputs[0].name, "x");
    ASSERT_EQ(signature.outputs.size(), 1u) << c.end;
    EXPECT_EQ(signature.outputs[0].name, "z");
    EXPECT_EQ(signature.outputs[0].shape, Shape{3});
    EXPECT_EQ(signature.outputs[0].scores, c.scores) << c.end << c.loss;
  }
}

TEST(ClassNames, SurviveMetadata) {
  const ClassNames names = {{"label", {"a \"b\"", "ä", ""}}, {"other", {"x"}}};
  EXPECT_EQ(ReadClassMetadata(ClassMetadata(names)), names);
  EXPECT_TRUE(
      ReadClassMetadata({{"classes.label", "[1, 2"}, {"classes.x", "[3]"}, {"y", "[]"}}).empty());
  ClassMetadata({{"label", {"no UTF-8: \xff"}}});
}

TEST(ClassNames, AreThoseOfTheInputElseOfTheLength) {
  const ClassNames names = {{"label", {"a", "b"}}, {"other", {"x", "y", "z"}}};
  EXPECT_EQ(FindClassNames(names, "label", 2)[1], "b");
  EXPECT_EQ(FindClassNames(names, "renamed", 3)[0], "x");
  EXPECT_EQ(FindClassNames(names, "label", 3).size(), 2u);
  EXPECT_EQ(FindClassNames({{"", {"a", "b"}}}, "label", 3).size(), 2u);
  EXPECT_TRUE(FindClassNames({{"", {"a", "b"}}}, "", 3).empty());
  EXPECT_TRUE(FindClassNames(names, "renamed", 4).empty());
}

// Two networks, and what joins them.
ModelSpec ModelOfTwo() {
  return ModelOf(R"(cgrun: 1
inputs:
  a: {shape: [4]}
  b: {shape: [4]}
paths:
  join:
    mode: forward
    ops:
      - left: {op: linear, in: a, units: 8, activation: tanh}
      - right: {op: linear, in: b, units: 8, activation: tanh}
      - sum: {op: add, in: [left, right]}
      - y: {op: linear, in: sum, units: 3}
)");
}

HostTensor Numbers(Shape shape, float first) {
  HostTensor tensor(DType::kF32, std::move(shape));
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    tensor.Set(i, first + static_cast<float>(i) / 8);
  }
  return tensor;
}

std::vector<std::byte> BytesOf(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

// Holds the answer of a predictor for six samples: `a` of them are all different, and `b` are three
// and three alike.
struct Predicted {
  std::vector<std::vector<std::byte>> outputs;
  int64_t run = 0, of = 0;
  std::vector<std::string> operators;
};

Predicted PredictTwo(const std::string& device, Mode mode, int64_t batch) {
  const std::string folder = FreshFolder();
  WriteNpy(folder + "/a.npy", Numbers({6, 4}, -1));
  WriteNpy(folder + "/first.npy", Numbers({1, 4}, 2));
  WriteNpy(folder + "/second.npy", Numbers({1, 4}, 3));
  std::vector<std::string> arguments = {"a=" + folder + "/a.npy"};
  for (int i = 0; i < 6; ++i) {
    arguments.push_back("b=" + folder + (i < 3 ? "/first.npy" : "/second.npy"));
  }
  const ModelSpec model = ModelOfTwo();
  Diagnostics diagnostics;
  const auto signature = DescribePredictions(model, DType::kF32, false, diagnostics);
  PredictOptions options;
  options.device = device;
  options.mode = mode;
  options.batch = batch;
  Predictor predictor(model, *signature, options, diagnostics);
  EXPECT_TRUE(predictor.ready()) << diagnostics.ToString();
  const TableReader tables(model);
  PredictSource source(arguments, signature->inputs, ImageFit::kCover, tables);
  Predicted result;
  predictor.Run(source, 0, [&](const SampleOrigin&, PredictionBytes outputs) {
    result.outputs.push_back(BytesOf(outputs[0]));
  });
  result.run = predictor.operators_run();
  result.of = predictor.operators();
  for (const EngineOperator& op : predictor.engine().Operators(0)) {
    result.operators.push_back(op.name);
  }
  return result;
}

TEST(Predictor, ComputesAgainWhatChangedInputsReach) {
  for (const std::string device : {"reference", "cpu"}) {
    if (FindKernelLibrary(device) == nullptr) {
      std::cout << "not on '" << device << "': it is not in this build\n";
      continue;
    }
    const Predicted parts = PredictTwo(device, Mode::kGraph, 1);
    const auto count = static_cast<int64_t>(parts.operators.size());
    const int64_t of_b = std::ranges::count_if(parts.operators, [](const std::string& name) {
      return name.find("right") != std::string::npos;
    });
    ASSERT_GT(of_b, 0);
    EXPECT_EQ(parts.of, 6 * count) << device;
    EXPECT_EQ(parts.run, 6 * count - 4 * of_b) << device << ": `b` changed once";
    ASSERT_EQ(parts.outputs.size(), 6u);
    EXPECT_NE(parts.outputs[0], parts.outputs[1]);
    EXPECT_NE(parts.outputs[2], parts.outputs[3]);
  }
}

TEST(Predictor, RunsWholeWhereInputsChangeAndInEagerMode) {
  for (const auto& [mode, batch] : {std::pair(Mode::kGraph, 2), std::pair(Mode::kEager, 1)}) {
    const Predicted whole = PredictTwo("reference", mode, batch);
    EXPECT_GT(whole.of, 0);
    EXPECT_EQ(whole.run, whole.of) << Name(mode);
    EXPECT_EQ(whole.outputs, PredictTwo("reference", Mode::kGraph, 1).outputs) << Name(mode);
  }
}

// An engine for partial runs and one for whole runs, fed alike.
struct TwoEngines {
  std::unique_ptr<Device> device = OpenDevice("reference");
  SingleProcess communicator;
  std::unique_ptr<Engine> parts = Make(true), whole = Make(false);

  std::unique_ptr<Engine> Make(bool incremental) {
    CompileOptions options;
    options.layout.incremental = incremental;
    Diagnostics diagnostics;
    auto engine =
        BuildEngine(ModelOfTwo(), {{"predict", EntryKind::kPredict, 2}}, Mode::kGraph, options,
                    {*FindKernelLibrary("reference"), *device, communicator}, diagnostics);
    EXPECT_NE(engine, nullptr) << diagnostics.ToString();
    return engine;
  }
  static std::vector<std::byte> ResultOf(const Engine& engine) {
    std::vector<std::byte> bytes(static_cast<size_t>(engine.model().entries[0].results[0].bytes()));
    engine.Fetch(0, 0, bytes);
    return bytes;
  }
  // Returns how many operators of `parts` ran. The results must be those of `whole`.
  int64_t Run(std::span<const HostTensor> feeds, const std::vector<bool>& changed) {
    const int64_t before = CurrentHeapUse().allocations;
    const int64_t count = parts->RunChanged(0, feeds, changed);
    EXPECT_EQ(CurrentHeapUse().allocations, before);
    const auto all = static_cast<int64_t>(whole->Operators(0).size());
    EXPECT_EQ(whole->RunChanged(0, feeds, changed), all) << "it cannot run in part";
    EXPECT_EQ(ResultOf(*parts), ResultOf(*whole));
    return count;
  }
};

TEST(Engine, RunsInPartWithTheBitsOfWholeRunsAndWithoutAllocations) {
  TwoEngines engines;
  const auto all = static_cast<int64_t>(engines.parts->Operators(0).size());
  std::vector<HostTensor> feeds = {Numbers({2, 4}, 0), Numbers({2, 4}, 1)};
  EXPECT_EQ(engines.Run(feeds, {false, false}), all) << "the first run is whole";
  EXPECT_EQ(engines.Run(feeds, {false, false}), 0);
  feeds[0] = Numbers({2, 4}, 2);
  const int64_t of_a = engines.Run(feeds, {true, false});
  feeds[1] = Numbers({2, 4}, 3);
  const int64_t of_b = engines.Run(feeds, {false, true});
  EXPECT_GT(of_a, 0);
  EXPECT_GT(of_b, 0);
  EXPECT_LT(of_a, all);
  EXPECT_LT(of_b, all);
  EXPECT_GT(of_a + of_b, all) << "both reach the end";
  const auto times = MakeTimes(*engines.parts);
  engines.parts->Watch(times.get());
  EXPECT_EQ(engines.Run(feeds, {true, false}), of_a) << "watched";
  engines.parts->Watch(nullptr);
  EXPECT_GT(engines.parts->memory().live_peak_bytes, engines.whole->memory().live_peak_bytes)
      << "what is kept is part of the plan";
}

TEST(Engine, RunsAllAgainAfterStatesWereWritten) {
  TwoEngines engines;
  const auto all = static_cast<int64_t>(engines.parts->Operators(0).size());
  const std::vector<HostTensor> feeds = {Numbers({2, 4}, 0), Numbers({2, 4}, 1)};
  EXPECT_EQ(engines.Run(feeds, {true, true}), all);
  const size_t weight = engines.parts->model().FindState("join.right.weight");
  for (Engine* engine : {engines.parts.get(), engines.whole.get()}) {
    const EngineState& state = engine->model().states[weight];
    HostTensor tensor(state.type.dtype, state.type.shape);
    engine->ReadState(weight, tensor);
    tensor.Set(0, tensor.At(0) + 1);
    engine->WriteState(weight, tensor);
  }
  EXPECT_EQ(engines.Run(feeds, {false, false}), all);
  EXPECT_EQ(engines.Run(feeds, {false, false}), 0);
}

}  // namespace
}  // namespace cgrun
