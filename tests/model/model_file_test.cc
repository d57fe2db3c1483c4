// From files to ModelSpec: the shipped models, every section, defaults, the file as resolved.
#include "src/model/model_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/model/schema.h"
#include "tests/model/model_testing.h"

namespace cgrun {
namespace {

ModelSpec MustParse(const std::string& text, const std::vector<std::string>& overrides = {}) {
  std::string errors;
  auto model = ParseModelText(text, overrides, &errors);
  EXPECT_EQ(errors, "");
  return model.value_or(ModelSpec());
}

ModelSpec MustLoad(const std::string& path) {
  Diagnostics diagnostics;
  auto model = LoadModelFile(path, {}, diagnostics);
  EXPECT_EQ(diagnostics.ToString(), "");
  return model.value_or(ModelSpec());
}

// The least that is a model.
constexpr char kSmall[] =
    "cgrun: 1\n"
    "inputs: {x: {shape: [4]}, y: {type: int32, shape: []}}\n"
    "paths:\n"
    "  main:\n"
    "    ops:\n"
    "      - logits: {op: linear, in: x, units: 3}\n"
    "    loss: {op: softmax_cross_entropy, in: [logits, y]}\n";

TEST(ModelFileTest, LenetOnMnist) {
  const ModelSpec model = MustLoad("models/lenet-mnist.yaml");
  EXPECT_EQ(model.name.value, "lenet-mnist");
  EXPECT_EQ(model.device.value, "auto");
  ASSERT_TRUE(model.data && model.data->train && model.data->valid && model.data->test);
  EXPECT_EQ(model.data->train->format->value, "idx");
  ASSERT_EQ(model.data->train->options.size(), 2u);
  EXPECT_EQ(model.data->train->options[0].key, "images");
  EXPECT_FALSE(model.data->valid->format);
  EXPECT_EQ(model.data->valid->split->value, 0.1);
  ASSERT_EQ(model.inputs.size(), 2u);
  EXPECT_EQ(model.inputs[0].name.value, "image");
  EXPECT_EQ(model.inputs[0].type.value, DType::kU8);
  EXPECT_EQ(model.inputs[0].shape.value, Shape({1, 28, 28}));
  EXPECT_EQ(model.inputs[1].shape.value.rank(), 0);
  ASSERT_EQ(model.paths.size(), 2u);
  EXPECT_FALSE(model.paths[0].backprop.value);
  const PathSpec& classify = model.paths[1];
  EXPECT_TRUE(classify.backprop.value);
  ASSERT_EQ(classify.ops.size(), 7u);
  const OpSpec& conv1 = classify.ops[0];
  EXPECT_EQ(conv1.name->value, "conv1");
  EXPECT_EQ(conv1.target.value, "conv");
  EXPECT_EQ(conv1.target.mark.line, 30);
  ASSERT_EQ(conv1.in.size(), 1u);
  EXPECT_EQ(conv1.in[0].value, "x");
  ASSERT_EQ(conv1.attributes.size(), 3u);
  EXPECT_EQ(conv1.attributes[0].key, "filters");
  EXPECT_TRUE(classify.ops[1].in.empty());
  EXPECT_FALSE(classify.ops[4].name);
  EXPECT_EQ(classify.ops[4].labels, std::vector<std::string>{"flatten[0]"});
  EXPECT_EQ(classify.ops[5].attributes[3].value.Find("l2")->value.scalar, "1.0e-4");
  ASSERT_EQ(classify.losses.size(), 1u);
  EXPECT_EQ(classify.losses[0].op.target.value, "softmax_cross_entropy");
  EXPECT_EQ(classify.losses[0].op.in.size(), 2u);
  ASSERT_EQ(classify.metrics.size(), 1u);
  EXPECT_EQ(classify.metrics[0].op.target.value, "accuracy");
  EXPECT_EQ(model.train->epochs->value, 12);
  EXPECT_EQ(model.train->batch.value.size, 64);
  EXPECT_EQ(model.train->optimizer->target.value, "sgd");
  EXPECT_EQ(model.train->optimizer->attributes.size(), 3u);
}

TEST(ModelFileTest, TheOtherShippedModels) {
  const ModelSpec lenet = MustLoad("models/lenet.yaml");
  EXPECT_EQ(lenet.inputs[0].shape.value, Shape({1, 8, 8}));
  EXPECT_EQ(lenet.paths[1].ops.size(), 7u);
  const ModelSpec mlp = MustLoad("models/mlp.yaml");
  EXPECT_EQ(mlp.paths[1].ops.size(), 3u);
  EXPECT_EQ(mlp.paths[0].ops[1].target.value, "flatten");
}

TEST(ModelFileTest, Defaults) {
  const ModelSpec model = MustParse(kSmall);
  EXPECT_EQ(model.name.value, "model");  // of model.yaml
  EXPECT_EQ(model.name.mark.file, nullptr);
  EXPECT_EQ(model.inputs[0].type.value, DType::kF32);
  EXPECT_FALSE(model.train);
  EXPECT_EQ(model.zones.value, "shared");
  const ModelSpec trained = MustParse(std::string(kSmall) + "train: {optimizer: sgd}\n");
  EXPECT_EQ(trained.train->batch.value.size, 32);
  EXPECT_FALSE(trained.train->epochs);
  EXPECT_EQ(trained.train->precision.value, "f32");
  EXPECT_EQ(trained.train->optimizer->target.value, "sgd");
}

TEST(ModelFileTest, EveryKey) {
  const ModelSpec model = MustParse(R"(
cgrun: 1
model: all-of-it.v2
device: cuda:1
data:
  train: {format: csv, files: [a.csv], columns: {x: 0}}
  test: {split: 1/5}
inputs:
  x: {type: f32, shape: [3]}
  h: {shape: [8]}
networks:
  trunk:
    in: [a, b]
    out: [sum, c]
    ops:
      - sum: {op: add, in: [a, b]}
      - c: relu
blocks:
  unit: {in: x, ops: [{op: relu}]}
paths:
  first:
    mode: forward
    ops: [{network: trunk, in: [x, x]}, flatten]
    out: trunk
  second:
    mode: backprop
    ops:
      - {network: trunk, in: [first.flatten, h]}
      - h_next: {op: tanh}
    loss: {op: squared_error, in: [h_next, x]}
    metrics: {mae: {op: absolute_error, in: [h_next, x]}, mse:}
    optimizer: {op: adam, lr: 1.0e-3}
    trains: [trunk, second]
    out: [h_next]
train:
  time: 1h30m
  batch: auto
  memory: 1.5GiB
  precision: bf16
  optimizer: {op: sgd, lr: 0.1}
  accumulate: 4
  clip: {norm: 1.0}
  eval_every: 100
  checkpoint_every: 200
  keep_last: 3
  early_stop: {metric: mae, patience: 5}
  keep_best: second.loss
  seed: 7
  order: dfs
  sequence: [first, second]
update: {h_next: h}
keep: [second.h_next, grad(trunk.w)]
zones: separate
inexact: true
weights: start.safetensors
plugins: [a.so, b.so]
)");
  EXPECT_EQ(model.device.value, "cuda:1");
  EXPECT_EQ(model.data->train->options.size(), 2u);
  EXPECT_DOUBLE_EQ(model.data->test->split->value, 0.2);
  ASSERT_EQ(model.networks.size(), 1u);
  EXPECT_EQ(model.networks[0].in[1].value, "b");
  EXPECT_EQ(model.networks[0].out.size(), 2u);
  EXPECT_EQ(model.paths[0].ops[0].kind, OpSpec::Kind::kNetwork);
  EXPECT_EQ(model.paths[0].ops[1].target.value, "flatten");
  const PathSpec& second = model.paths[1];
  EXPECT_EQ(second.ops[0].in[0].value, "first.flatten");
  EXPECT_EQ(second.metrics[1].op.target.value, "mse");
  EXPECT_EQ(second.optimizer->target.value, "adam");
  EXPECT_EQ(second.trains[1].value, "second");
  EXPECT_EQ(second.out[0].value, "h_next");
  const TrainSpec& train = *model.train;
  EXPECT_EQ(train.seconds->value, 5400);
  EXPECT_TRUE(train.batch.value.automatic);
  EXPECT_GE(train.batch.value.size, 1);  // code that divides by it need not ask
  EXPECT_EQ(train.memory->value, 1536ll << 20);
  EXPECT_EQ(train.precision.value, "bf16");
  EXPECT_EQ(train.accumulate.value, 4);
  EXPECT_EQ(train.clip->norm->value, 1.0);
  EXPECT_EQ(train.eval_every->value, 100);
  EXPECT_EQ(train.checkpoint_every->value, 200);
  EXPECT_EQ(train.keep_last->value, 3);
  EXPECT_EQ(train.early_stop->metric.value, "mae");
  EXPECT_EQ(train.early_stop->patience.value, 5);
  EXPECT_EQ(train.keep_best->value, "second.loss");
  EXPECT_EQ(train.seed.value, 7);
  EXPECT_EQ(train.order.value, "dfs");
  ASSERT_EQ(train.sequence.size(), 2u);
  EXPECT_EQ(train.sequence[1].path.value, "second");
  EXPECT_EQ(train.sequence[1].count, 1);
  ASSERT_EQ(model.update.size(), 1u);
  EXPECT_EQ(model.update[0].value.value, "h_next");
  EXPECT_EQ(model.update[0].state.value, "h");
  ASSERT_EQ(model.keep.size(), 2u);
  EXPECT_EQ(model.keep[1].value, "grad(trunk.w)");
  EXPECT_EQ(model.zones.value, "separate");
  EXPECT_TRUE(model.inexact.value);
  EXPECT_EQ(model.weights->value, "start.safetensors");
  EXPECT_EQ(model.plugins.size(), 2u);
}

TEST(ModelFileTest, AGanNeedsNoPaths) {
  const ModelSpec model = MustParse(
      "cgrun: 1\ninputs: {x: {shape: [2]}}\n"
      "networks: {g: {in: z, ops: [tanh]}, d: {in: x, ops: [tanh]}}\n"
      "gan: {generator: g, discriminator: d, latent: {op: random_normal, shape: [64]},\n"
      "  real: x, optimizer: {op: adam, lr: 0.1}}\n"
      "train: {steps: 5, sequence: [{discriminate: 2}, generate]}\n");
  ASSERT_EQ(model.paths.size(), 2u);
  EXPECT_EQ(model.paths[0].name.value, "discriminate");
  EXPECT_EQ(model.paths[0].losses.size(), 2u);
  EXPECT_EQ(model.paths[1].out[0].value, "fake");
  EXPECT_EQ(model.train->sequence[0].count, 2);
}

TEST(ModelFileTest, FormsOfAnOperator) {
  const ModelSpec model = MustParse(
      "cgrun: 1\ninputs: {x: {shape: [2]}}\npaths:\n  p:\n    mode: forward\n    ops:\n"
      "      - a: {op: relu, in: x}\n      - relu\n      - b: relu\n      - {op: relu, in: [a, "
      "b]}\n"
      "      - op: relu\n        in: a\n      - c:\n          op: conv\n          kernel: 3\n");
  const std::vector<OpSpec>& ops = model.paths[0].ops;
  ASSERT_EQ(ops.size(), 6u);
  std::vector<std::string> labels;
  for (const OpSpec& op : ops) labels.push_back(op.labels.at(0));
  EXPECT_EQ(labels, (std::vector<std::string>{"a", "relu[0]", "b", "relu[1]", "relu[2]", "c"}));
  EXPECT_EQ(ops[2].target.value, "relu");
  EXPECT_EQ(ops[3].in.size(), 2u);
  EXPECT_EQ(ops[5].attributes[0].key, "kernel");
}

TEST(ModelFileTest, OutputsOfNetworksAndBlocksHaveNames) {
  const ModelSpec model = MustParse(
      "cgrun: 1\ninputs: {x: {shape: [2, 3]}, h: {shape: [3]}}\n"
      "networks:\n  n: {in: [a, b], out: [c, d], ops: [c: {op: add, in: [a, b]}, d: relu]}\n"
      "blocks:\n  t: {params: {o: q}, in: a, ops: [{network: n, in: [a, a], out: [${o}, r]}]}\n"
      "paths:\n  p:\n    mode: forward\n    ops:\n"
      "      - {network: n, in: [x, h], unroll: 1, out: [y, last]}\n"
      "      - z: {network: n, in: [h, h], out: z}\n"
      "      - {network: n, in: [h, h]}\n"
      "      - {block: t, in: h}\n"
      "update: {last: h}\n");
  const std::vector<OpSpec>& ops = model.paths[0].ops;
  ASSERT_EQ(ops.size(), 4u);
  ASSERT_TRUE(ops[0].name && ops[0].unroll);
  EXPECT_EQ(ops[0].name->value, "y");
  EXPECT_EQ(ops[0].labels, std::vector<std::string>{"y"});
  EXPECT_EQ(ops[0].unroll->value, 1);
  EXPECT_EQ(OutputNames(ops[0])[1].value, "last");
  EXPECT_EQ(OutputNames(ops[1]).size(), 1u);
  EXPECT_TRUE(OutputNames(ops[2]).empty());
  EXPECT_FALSE(ops[2].unroll);
  EXPECT_EQ(ops[3].body.at(0).name->value, "q");
  EXPECT_TRUE(IsCarried(model, "h"));
  EXPECT_FALSE(IsCarried(model, "x"));
}

TEST(ModelFileTest, FilesThatCannotBeRead) {
  const auto error_of = [](const std::string& path) {
    Diagnostics diagnostics;
    EXPECT_FALSE(LoadModelFile(path, {}, diagnostics));
    return diagnostics.ToString();
  };
  EXPECT_EQ(error_of("models/nothing.yaml"),
            "error: cannot open 'models/nothing.yaml': No such file or directory\n");
  EXPECT_EQ(error_of("models"), "error: cannot open 'models': Is a directory\n");
}

TEST(ModelFileTest, PathsAreRelativeToTheModelFile) {
  EXPECT_EQ(ResolvePath("models/lenet.yaml", "../datasets/x.gz"), "datasets/x.gz");
  EXPECT_EQ(ResolvePath("lenet.yaml", "x.gz"), "x.gz");
  EXPECT_EQ(ResolvePath("/a/b/m.yaml", "../x.gz"), "/a/x.gz");
  EXPECT_EQ(ResolvePath("models/lenet.yaml", "/data/x.gz"), "/data/x.gz");
}

TEST(ModelFileTest, TheFileAsResolvedSaysTheSame) {
  const ModelSpec model = MustLoad("models/lenet.yaml");
  const std::string text = ToYaml(ResolvedTree(model));
  const ModelSpec again = MustParse(text);
  EXPECT_EQ(again.name.value, "lenet");
  EXPECT_EQ(again.paths[1].ops.size(), model.paths[1].ops.size());
  const TreeNode* train = &again.tree.Find("train")->value;
  EXPECT_EQ(train->Find("precision")->value.scalar, "f32");
  EXPECT_EQ(train->Find("accumulate")->value.scalar, "1");
  const std::string images = again.data->train->options[0].value.scalar;
  EXPECT_EQ(images[0], '/');
  EXPECT_NE(images.find("/datasets/digits/train-images"), std::string::npos);
  EXPECT_EQ(ToYaml(ResolvedTree(again)), text);
}

// This is the case of a program that is compiled into another folder, in which none of these files
// is.
TEST(ModelFileTest, RelativePathsCanStartAtAnotherFolder) {
  Diagnostics diagnostics;
  const std::string data =
      "data: {train: {format: csv, file: ../data/rows.csv}, test: {format: csv, file: "
      "/data/t.csv}}\n"
      "weights: start.safetensors\n";
  const auto model = ParseModel({"/nowhere/p/models/m.yaml", kSmall + data}, {}, diagnostics);
  ASSERT_TRUE(model.has_value()) << diagnostics.ToString();
  const auto paths_from = [&](const std::string& folder) {
    const TreeNode tree = ResolvedTree(*model, folder);
    const TreeNode& sets = tree.Find("data")->value;
    const auto file = [&](const char* set) {
      return sets.Find(set)->value.Find("file")->value.scalar;
    };
    return std::vector<std::string>{file("train"), file("test"),
                                    tree.Find("weights")->value.scalar};
  };
  using Paths = std::vector<std::string>;
  const Paths whole = {"/nowhere/p/data/rows.csv", "/data/t.csv",
                       "/nowhere/p/models/start.safetensors"};
  EXPECT_EQ(paths_from(""), whole);
  EXPECT_EQ(paths_from("/nowhere/p"),
            (Paths{"data/rows.csv", "/data/t.csv", "models/start.safetensors"}));
  EXPECT_EQ(paths_from("/nowhere/p/out/"),
            (Paths{"../data/rows.csv", "/data/t.csv", "../models/start.safetensors"}));
  EXPECT_EQ(paths_from("/elsewhere"), whole) << "nothing in common but the root";
}

// `host` is no folder, and `./host` is one.
TEST(ModelFileTest, SwapsToAFolderOrToTheHost) {
  const auto resolved = [](const std::string& swap) {
    Diagnostics diagnostics;
    const std::string train = "train: {optimizer: {op: sgd, lr: 0.1}, swap: " + swap + "}\n";
    const auto model = ParseModel({"/nowhere/m.yaml", kSmall + train}, {}, diagnostics);
    EXPECT_TRUE(model.has_value()) << diagnostics.ToString();
    if (!model) return std::string();
    return ResolvedTree(*model).Find("train")->value.Find("swap")->value.scalar;
  };
  EXPECT_EQ(resolved("disk"), "/nowhere/disk");
  EXPECT_EQ(resolved("./host"), "/nowhere/host");
  EXPECT_EQ(resolved("host"), "host");
}

// Defaults of the tables are valid values.
TEST(ModelFileTest, DefaultsOfTheTablesCanBeRead) {
  int defaults = 0;
  for (const MapDoc& map : FormatReference()) {
    for (const KeyDoc& key : map.keys) {
      EXPECT_FALSE(key.doc.empty()) << map.place << "." << key.name;
      EXPECT_TRUE(nlohmann::json::accept(key.type.json)) << key.type.json;
      if (key.fallback.empty() || key.fallback == kRequired || map.place != "train") continue;
      const std::string set = "train." + std::string(key.name) + "=" + std::string(key.fallback);
      EXPECT_EQ(ModelErrors(std::string(kSmall) + "train: {optimizer: sgd}\n", {set}), "");
      ++defaults;
    }
  }
  EXPECT_GE(defaults, 5);
}

}  // namespace
}  // namespace cgrun
