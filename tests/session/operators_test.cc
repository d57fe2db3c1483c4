// Every operator of the table in a model file: the model is built, three steps are trained, and the
// parameters have changed.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "src/ir/op_def.h"
#include "tests/session/session_testing.h"

namespace cgrun {
namespace {

constexpr char kHead[] = R"(
cgrun: 1
data:
  train: {format: synthetic, samples: 10, classes: 4}
  test: {format: synthetic, samples: 6, classes: 4, seed: 9}
inputs:
  image: {type: uint8, shape: [2, 6, 6]}
  row: {shape: [5]}
  words: {type: int32, shape: [3]}
  label: {type: int32, shape: []}
  answer: {type: bool, shape: [1]}
paths:
  learn:
    ops:
      - x: {op: normalize, in: image, scale: 1/255}
      - c: {op: conv, filters: 2, kernel: 3, padding: same}
)";

constexpr char kClasses[] = R"(
      - {op: flatten}
      - logits: {op: linear, units: 4}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
    metrics: {accuracy: {in: [logits, label]}}
)";

constexpr char kSgd[] = "{op: sgd, lr: 0.1}";

// Makes boxes [N, 3, 4] of images of 6 × 6. Each element of the first channel of c is a score.
constexpr char kFlat[] = "flat: {op: flatten, in: c}";
constexpr char kScore[] = "score: {op: slice, in: c, axes: [1], starts: [0], ends: [1]}";
constexpr char kDeltas[] = "deltas: {op: concat, in: [c, c], axis: 1}";
constexpr char kRegions[] =
    "regions: {op: region_proposals, in: [score, deltas], strides: [1], scales: [3], ratios: [1], "
    "count: 3}";

struct Trial {
  std::string op;
  std::vector<std::string> lines;  // items of `ops:`, or a loss, or an optimizer
};

// Between c, which is learned, and a linear layer: a gradient must find its way through.
const std::vector<Trial>& Operators() {
  static const std::vector<Trial> trials = {
      {"identity", {"identity"}},
      {"parameter",
       {"scale: {op: parameter, shape: [2, 1, 1], init: {constant: 0.5}}",
        "{op: mul, in: [c, scale]}"}},
      {"relu", {"relu"}},
      {"leaky_relu", {"{op: leaky_relu, slope: 0.2}"}},
      {"sigmoid", {"sigmoid"}},
      {"tanh", {"tanh"}},
      {"softplus", {"softplus"}},
      {"gelu", {"{op: gelu, approximate: tanh}", "gelu"}},
      {"silu", {"silu"}},
      {"hard_swish", {"hard_swish"}},
      {"softmax", {"{op: softmax, axis: 1}"}},
      {"log_softmax", {"{op: log_softmax, axis: 1}"}},
      {"add", {"{op: add, in: [c, x]}"}},
      {"sub", {"{op: sub, in: [1, c]}"}},
      {"mul", {"{op: mul, in: [c, 1/3]}"}},
      {"div", {"{op: div, in: [c, 2.5]}"}},
      {"neg", {"neg"}},
      {"exp", {"exp"}},
      {"log", {"exp", "log"}},
      {"sqrt", {"exp", "sqrt"}},
      {"abs", {"abs"}},
      {"pow", {"{op: pow, in: [c, 2]}"}},
      {"min", {"{op: min, in: [c, x]}"}},
      {"max", {"{op: max, in: [c, 0]}"}},
      {"fill", {"two: {op: fill, value: 2}", "{op: mul, in: [c, two]}"}},
      {"clip", {"{op: clip, min: -0.5, max: 0.5}"}},
      {"compare", {"m: {op: compare, is: greater, in: [c, 0]}", "{op: where, in: [m, c, x]}"}},
      {"where", {"m: {op: compare, is: less, in: [x, 0.5]}", "{op: where, in: [m, c, -1]}"}},
      {"reduce_sum", {"{op: reduce_sum, axes: [2], keep_dims: true}"}},
      {"reduce_mean", {"{op: reduce_mean, axes: [1]}"}},
      {"reduce_max", {"{op: reduce_max, axes: [-1]}"}},
      {"elu", {"{op: elu, alpha: 0.5}"}},
      {"mod", {"{op: mod, in: [c, 0.7]}"}},
      {"sign", {"s: sign", "{op: mul, in: [c, s]}"}},
      {"ceil", {"s: ceil", "{op: sub, in: [c, s]}"}},
      {"floor", {"s: floor", "{op: sub, in: [c, s]}"}},
      {"round", {"s: round", "{op: sub, in: [c, s]}"}},
      {"erf", {"erf"}},
      {"sin", {"sin"}},
      {"cos", {"cos"}},
      {"atan", {"atan"}},
      {"sinh", {"sinh"}},
      {"cosh", {"cosh"}},
      {"asinh", {"asinh"}},
      {"tan", {"sin", "tan"}},
      {"asin", {"t: tanh", "{op: mul, in: [t, 0.9]}", "asin"}},
      {"acos", {"t: tanh", "{op: mul, in: [t, 0.9]}", "acos"}},
      {"atanh", {"t: tanh", "{op: mul, in: [t, 0.9]}", "atanh"}},
      {"acosh", {"e: exp", "{op: add, in: [e, 1.1]}", "acosh"}},
      {"logical_not",
       {"a: {op: compare, is: greater, in: [c, 0]}", "m: logical_not",
        "{op: where, in: [m, c, x]}"}},
      {"logical_and",
       {"a: {op: compare, is: greater, in: [c, 0]}", "b: {op: compare, is: less, in: [x, 0.5]}",
        "m: {op: logical_and, in: [a, b]}", "{op: where, in: [m, c, x]}"}},
      {"logical_or",
       {"a: {op: compare, is: greater, in: [c, 0]}", "b: {op: compare, is: less, in: [x, 0.5]}",
        "m: {op: logical_or, in: [a, b]}", "{op: where, in: [m, c, x]}"}},
      {"logical_xor",
       {"a: {op: compare, is: greater, in: [c, 0]}", "b: {op: compare, is: less, in: [x, 0.5]}",
        "m: {op: logical_xor, in: [a, b]}", "{op: where, in: [m, c, x]}"}},
      {"trilu", {"{op: trilu, upper: true, diagonal: -1}"}},
      {"reduce_min", {"{op: reduce_min, axes: [-1]}"}},
      {"reduce_prod", {"{op: reduce_prod, axes: [1]}"}},
      {"arg_max",
       {"i: {op: arg_max, axis: -1, keep_dims: true}",
        "{op: gather_elements, in: [c, i], axis: -1}"}},
      {"arg_min",
       {"i: {op: arg_min, axis: -1, keep_dims: true}",
        "{op: gather_elements, in: [c, i], axis: -1}"}},
      {"top_k", {"i: {op: top_k, k: 2, axis: 2}", "{op: gather_elements, in: [c, i], axis: 2}"}},
      {"cumsum", {"{op: cumsum, axis: 2, exclusive: true}"}},
      {"expand", {"{op: reduce_sum, axes: [2], keep_dims: true}", "{op: expand, sizes: [3, 1]}"}},
      {"tile", {"{op: tile, repeats: [1, 1, 2, 1]}"}},
      {"gather",
       {"table: {op: reduce_mean, axes: [0, 1]}", "{op: gather, in: [table, words]}",
        "{op: reshape, shape: [18]}"}},
      {"gather_elements",
       {"i: {op: arg_max, axis: 1, keep_dims: true}",
        "{op: gather_elements, in: [c, i], axis: 1}"}},
      {"scatter_elements",
       {"i: {op: arg_max, keep_dims: true}",
        "u: {op: reduce_max, in: c, axes: [-1], keep_dims: true}",
        "{op: scatter_elements, in: [x, i, u], reduction: add}"}},
      {"gather_nd",
       {"{op: arg_max, axis: 1, keep_dims: true}", "i: {op: transpose, perm: [0, 2, 3, 1]}",
        "{op: gather_nd, in: [c, i], batch_dims: 1}"}},
      {"scatter_nd",
       {"{op: arg_max, axis: 1, keep_dims: true}",
        "{op: slice, axes: [2, 3], starts: [0, 0], ends: [1, 1]}",
        "i: {op: reshape, shape: [1, 1]}", "u: {op: reduce_max, in: c, axes: [1], keep_dims: true}",
        "{op: scatter_nd, in: [x, i, u], batch_dims: 1}"}},
      {"resample", {"{op: resample, size: 4, axis: 2, mode: cubic}"}},
      {"reshape", {"{op: reshape, shape: [72]}"}},
      {"flatten", {"flatten"}},
      {"transpose", {"{op: transpose, perm: [0, 2, 3, 1]}"}},
      {"concat", {"{op: concat, in: [c, x], axis: 1}"}},
      {"slice", {"{op: slice, axes: [2], starts: [1], ends: [5]}"}},
      {"pad",
       {"{op: pad, axes: [2, 3], before: [1, 1], after: [1, 1]}",
        "{op: pad, axes: [2, 3], before: [1], mode: reflect}"}},
      {"crop", {"{op: crop, size: 4}"}},
      {"flip", {"{op: flip, axes: [-1]}"}},
      {"random_crop", {"{op: random_crop, size: [5, 4]}"}},
      {"random_flip", {"{op: random_flip, axes: [-1], probability: 0.3}"}},
      {"random_resized_crop", {"{op: random_resized_crop, size: 5, scale: [0.3, 1]}"}},
      {"random_erasing", {"{op: random_erasing, probability: 0.4, value: 0.5}"}},
      {"rotate", {"{op: rotate, degrees: -20, fill: 0.5}"}},
      {"random_rotate", {"{op: random_rotate, degrees: 15}"}},
      {"color_jitter",
       {"grey: {op: slice, in: x, axes: [1], starts: [0], ends: [1]}",
        "rgb: {op: concat, in: [x, grey], axis: 1}",
        "{op: color_jitter, brightness: 0.4, contrast: [0.5, 2], saturation: 0.3, hue: 0.1}",
        "{op: concat, in: [c, rgb], axis: 1}"}},
      {"resize", {"{op: resize, size: [3, 4]}"}},
      {"cast", {"{op: cast, to: f32}"}},
      {"matmul_integer",
       {"r: {op: reshape, in: image, shape: [72]}", "m: {op: reduce_max, in: c, axes: [0]}",
        "n: {op: reshape, in: m, shape: [72, 1]}", "b: {op: cast, in: n, to: int8}",
        "z: {op: slice, in: b, axes: [0], starts: [0], ends: [1]}",
        "l: {op: reshape, in: z, shape: [1]}", "u: {op: cast, in: l, to: uint8}",
        "q: {op: matmul_integer, in: [r, b, u, l]}", "f: {op: cast, to: f32}",
        "p: {op: mul, in: [f, 0.001]}", "d: {op: flatten, in: c}", "{op: add, in: [d, p]}"}},
      {"conv_integer",
       {"m: {op: reduce_max, in: c, axes: [0, 2, 3]}", "n: {op: reshape, shape: [1, 2, 1, 1]}",
        "b: {op: cast, to: int8}", "z: {op: slice, in: m, axes: [0], starts: [0], ends: [1]}",
        "l: {op: cast, to: int8}", "u: {op: cast, in: z, to: uint8}",
        "q: {op: conv_integer, in: [image, b, u, l]}", "f: {op: cast, to: f32}",
        "p: {op: mul, in: [f, 0.001]}", "{op: add, in: [c, p]}"}},
      {"normalize", {"{op: normalize, scale: 2, mean: 0.5}"}},
      {"one_hot",
       {"flat: {op: flatten}", "{op: one_hot, in: words, classes: 4}", "rows: {op: flatten}",
        "{op: concat, in: [flat, rows], axis: 1}"}},
      {"embedding",
       {"flat: {op: flatten}", "{op: embedding, in: words, entries: 4, units: 3}",
        "rows: {op: flatten}", "{op: concat, in: [flat, rows], axis: 1}"}},
      {"region_proposals",
       {kFlat, kScore, kDeltas, kRegions, "rows: flatten",
        "{op: concat, in: [flat, rows], axis: 1}"}},
      {"roi_align",
       {kScore, kDeltas, kRegions, "{op: roi_align, in: [regions, c, x], size: 2, strides: [1, 2]}",
        "{op: reshape, shape: [-1]}"}},
      {"detections",
       {kFlat, kScore, kDeltas, kRegions,
        "{op: slice, in: flat, axes: [1], starts: [0], ends: [6]}", "{op: reshape, shape: [3, 2]}",
        "scores: {op: softmax, axis: 2}",
        "{op: slice, in: flat, axes: [1], starts: [0], ends: [24]}",
        "moves: {op: reshape, shape: [3, 2, 4]}",
        "{op: detections, in: [regions, scores, moves, image], count: 2, min_score: 0.1}",
        "rows: flatten", "{op: concat, in: [flat, rows], axis: 1}"}},
      {"random_normal", {"z: {op: random_normal, shape: [2, 6, 6]}", "{op: add, in: [c, z]}"}},
      {"random_mix", {"other: {op: neg}", "{op: random_mix, in: [c, other]}"}},
      {"random_uniform", {"z: {op: random_uniform, shape: [1, 1, 6]}", "{op: mul, in: [z, c]}"}},
      {"matmul", {"{op: matmul, in: [c, c], transpose_b: true}"}},
      {"linear", {"flatten", "{op: linear, units: 3}"}},
      {"bias", {"bias"}},
      {"conv", {"{op: conv, filters: 2, kernel: 2}"}},
      {"conv_transpose", {"{op: conv_transpose, filters: 3, kernel: 3, stride: 2, padding: 1}"}},
      {"max_pool", {"{op: max_pool, kernel: 2}"}},
      {"avg_pool", {"{op: avg_pool, kernel: 2}"}},
      {"global_avg_pool", {"global_avg_pool"}},
      {"batch_norm", {"batch_norm"}},
      {"layer_norm", {"{op: layer_norm, axis: 1, epsilon: 1.0e-3}", "layer_norm"}},
      {"dropout", {"{op: dropout, rate: 0.3}"}},
  };
  return trials;
}

const std::vector<Trial>& Losses() {
  static const std::vector<Trial> trials = {
      {"softmax_cross_entropy",
       {"y: {op: linear, units: 4}",
        "{op: softmax_cross_entropy, in: [y, label], label_smoothing: 0.1}"}},
      {"squared_error", {"y: {op: linear, units: 5}", "{op: squared_error, in: [y, row]}"}},
      {"absolute_error", {"y: {op: linear, units: 5}", "{op: absolute_error, in: [y, row]}"}},
      {"softmax_cross_entropy",
       {"y: {op: linear, units: 4}",
        "{op: softmax_cross_entropy, in: [y, label], class_weights: [1, 2, 0.5, 1]}"}},
      {"huber", {"y: {op: linear, units: 5}", "{op: huber, in: [y, row], delta: 0.5}"}},
      {"smooth_l1", {"y: {op: linear, units: 5}", "{op: smooth_l1, in: [y, row]}"}},
      {"ranking", {"y: {op: linear, units: 5}", "{op: ranking, in: [y, row], margin: 2}"}},
      {"hinge", {"y: {op: linear, units: 1}", "{op: hinge, in: [y, answer]}"}},
      {"binary_cross_entropy",
       {"y: {op: linear, units: 1}", "{op: binary_cross_entropy, in: [y, answer]}"}},
      {"binary_cross_entropy",
       {"y: {op: linear, units: 5, activation: sigmoid}",
        "{op: binary_cross_entropy, in: [y, row], from_logits: false}"}},
  };
  return trials;
}

const std::vector<Trial>& Optimizers() {
  static const std::vector<Trial> trials = {
      {"sgd", {"{op: sgd, lr: 0.1, momentum: 0.9, nesterov: true}"}},
      {"adam", {"{op: adam, lr: 0.01}"}},
      {"adamw", {"{op: adamw, lr: 0.01, weight_decay: 0.1}"}},
      {"rmsprop", {"{op: rmsprop, lr: 0.01, momentum: 0.5, centered: true}"}},
      {"adagrad", {"{op: adagrad, lr: 0.1, lr_decay: 0.1, initial_accumulator: 0.1}"}},
  };
  return trials;
}

std::string TrainSection(const std::string& optimizer) {
  return "train: {steps: 3, batch: 4, optimizer: " + optimizer + "}\n";
}

std::string Items(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "      - " + line + "\n";
  return text;
}

// Returns the weight of the first layer, which stands behind the operator that is tried.
HostTensor FirstWeight(const Program& program) {
  const auto& states = program.image().states;
  for (size_t i = 0; i < states.size(); ++i) {
    if (states[i].name == "learn.c.weight") return program.ReadState(i);
  }
  ADD_FAILURE() << "no weight";
  return {};
}

// Batches of 4, 4 and 2 samples.
void ExpectThatItTrains(const std::string& text) {
  const ModelSpec model = ModelOf(text);
  Diagnostics diagnostics;
  Session session(model, {}, true, diagnostics);
  ASSERT_TRUE(session.ready()) << diagnostics.ToString();
  const HostTensor before = FirstWeight(*session.program());
  RunObserver silent;
  const TrainResult result = session.Train("", silent);
  EXPECT_EQ(result.steps, 3);
  EXPECT_FALSE(FirstWeight(*session.program()) == before) << "the first layer has not learned";
  for (const NamedNumber& mean : result.last.train.means) {
    EXPECT_TRUE(std::isfinite(mean.value)) << mean.name;
  }
  if (result.allocations_after_first_step) {
    EXPECT_EQ(*result.allocations_after_first_step, 0);
  }
}

TEST(Operators, TrainInAModelFile) {
  for (const Trial& trial : Operators()) {
    SCOPED_TRACE(trial.op);
    ExpectThatItTrains(kHead + Items(trial.lines) + kClasses + TrainSection(kSgd));
  }
}

TEST(Operators, LossesTrainInAModelFile) {
  for (const Trial& trial : Losses()) {
    SCOPED_TRACE(trial.lines[1]);
    ExpectThatItTrains(kHead + Items({"flatten", trial.lines[0]}) + "    loss: " + trial.lines[1] +
                       "\n" + TrainSection(kSgd));
  }
}

TEST(Operators, OptimizersTrainInAModelFile) {
  for (const Trial& trial : Optimizers()) {
    SCOPED_TRACE(trial.op);
    ExpectThatItTrains(std::string(kHead) + kClasses + TrainSection(trial.lines[0]));
  }
}

struct MetricTrial {
  std::string op;
  std::string text;
  size_t numbers = 1;  // that it shows
};

// The metrics read four logits y, a score per sample s, and a prediction r of `row`.
const std::vector<MetricTrial>& Metrics() {
  static const std::vector<MetricTrial> trials = {
      {"accuracy", "{in: [y, label]}"},
      {"top_k_accuracy", "{in: [y, label], k: 2}"},
      {"per_class_accuracy", "{in: [y, label]}", 4},
      {"confusion_matrix", "{in: [y, label]}", 16},
      {"precision", "{in: [y, label]}"},
      {"recall", "{in: [s, answer], threshold: 0.1}"},
      {"f1", "{in: [y, label], average: none}", 4},
      {"auc", "{in: [s, answer]}"},
      {"mean_absolute_error", "{in: [r, row]}"},
      {"mean_squared_error", "{in: [r, row]}"},
      {"r2", "{in: [r, row]}"},
  };
  return trials;
}

// The metrics must stand in the order of the file, numbers and lists apart.
void ExpectMetrics(const PassResult& pass) {
  size_t means = 1, tables = 0;  // behind the loss
  for (const MetricTrial& trial : Metrics()) {
    SCOPED_TRACE(pass.split + " " + trial.op);
    if (trial.numbers == 1) {
      ASSERT_LT(means, pass.means.size());
      EXPECT_EQ(pass.means[means].name, trial.op);
      EXPECT_TRUE(std::isfinite(pass.means[means++].value));
    } else {
      ASSERT_LT(tables, pass.tables.size());
      EXPECT_EQ(pass.tables[tables].name, trial.op);
      EXPECT_EQ(pass.tables[tables++].values.size(), trial.numbers);
    }
  }
  EXPECT_EQ(pass.means.size(), means);
  EXPECT_EQ(pass.tables.size(), tables);
}

TEST(Operators, MetricsInAModelFile) {
  std::string text =
      std::string(kHead) +
      Items({"flat: flatten", "y: {op: linear, units: 4}", "s: {op: linear, in: flat, units: 1}",
             "r: {op: linear, in: flat, units: 5}"}) +
      "    loss: {op: softmax_cross_entropy, in: [y, label]}\n    metrics:\n";
  for (const MetricTrial& trial : Metrics()) text += "      " + trial.op + ": " + trial.text + "\n";
  const ModelSpec model = ModelOf(text + TrainSection(kSgd));
  Diagnostics diagnostics;
  Session session(model, {}, true, diagnostics);
  ASSERT_TRUE(session.ready()) << diagnostics.ToString();
  RunObserver silent;
  const TrainResult result = session.Train("", silent);
  ExpectMetrics(result.last.train);
  ASSERT_EQ(result.last.evaluations.size(), 1u);
  ExpectMetrics(result.last.evaluations[0]);
  if (result.allocations_after_first_step) {
    EXPECT_EQ(*result.allocations_after_first_step, 0);
  }
}

// If a new operator is not tried, this test says so.
TEST(Operators, EachOneThatAModelFileCanNameIsTried) {
  std::set<std::string> tried;
  for (const MetricTrial& trial : Metrics()) tried.insert(trial.op);
  for (const std::vector<Trial>& trials : {Operators(), Losses(), Optimizers()}) {
    for (const Trial& trial : trials) tried.insert(trial.op);
  }
  for (int i = 0; i < kBuiltinOpCount; ++i) {
    const OpDef& def = GetOpDef(OpId(i));
    EXPECT_EQ(tried.contains(def.name), def.usage != Usage::kInternal) << def.name;
  }
}

}  // namespace
}  // namespace cgrun
