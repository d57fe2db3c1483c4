// Keys that are not carried out: each is in the format, and is refused where a file gives it.
#include "src/frontend/supported.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "src/frontend/frontend.h"
#include "src/model/model_file.h"
#include "src/model/schema.h"

namespace cgrun {
namespace {

const std::string kModel =
    "cgrun: 1\n"
    "data: {train: {format: synthetic, samples: 10}}\n"
    "inputs: {x: {shape: [4]}, y: {type: int32, shape: []}}\n"
    "paths: {p: {ops: [{op: linear, in: x, units: 3}], "
    "loss: {op: softmax_cross_entropy, in: [linear, y]}}}\n"
    "train: {optimizer: sgd}\n";

std::string ErrorsWith(const std::vector<std::string>& overrides) {
  Diagnostics diagnostics;
  const auto model = ParseModel({"model.yaml", kModel}, overrides, diagnostics);
  if (!model) return "not read: " + diagnostics.ToString();
  CheckSupported(*model, diagnostics);
  return diagnostics.ToString();
}

std::string NameOf(const UnsupportedKey& key) {
  return (key.place.empty() ? "" : std::string(key.place) + ".") + std::string(key.key);
}

TEST(Supported, EveryKeyIsOfTheFormat) {
  for (const UnsupportedKey& key : UnsupportedKeys()) {
    bool found = false;
    for (const MapDoc& map : FormatReference()) {
      found |= map.place == key.place &&
               std::any_of(map.keys.begin(), map.keys.end(),
                           [&](const KeyDoc& doc) { return doc.name == key.key; });
    }
    EXPECT_TRUE(found) << NameOf(key);
  }
}

TEST(Supported, EveryKeyIsRefused) {
  const std::map<std::string, std::string> values = {
      {"gan", "{}"},
      {"plugins", "p.so"},
      {"update", "{x: x}"},
      {"train.eval_every", "3"},
      {"train.checkpoint_every", "3"},
      {"train.keep_last", "3"},
      {"train.early_stop", "{metric: loss, patience: 1}"},
      {"train.keep_best", "loss"},
      {"train.sequence", "[p]"},
  };
  for (const UnsupportedKey& key : UnsupportedKeys()) {
    const std::string name = NameOf(key);
    if (key.values.empty()) {
      ASSERT_TRUE(values.contains(name)) << "add an example of " << name;
      EXPECT_NE(ErrorsWith({name + "=" + values.at(name)})
                    .find("does not carry out '" + std::string(key.key) + "' yet"),
                std::string::npos)
          << name << ": " << ErrorsWith({name + "=" + values.at(name)});
    }
    for (const std::string& value : Choices({key.values, ""})) {
      EXPECT_NE(ErrorsWith({name + "=" + value}).find("'" + std::string(key.key) + ": " + value),
                std::string::npos);
    }
    if (!key.fine.empty()) {
      EXPECT_EQ(ErrorsWith({name + "=" + std::string(key.fine)}), "");
    }
  }
}

TEST(Supported, TF32IsForGpusAlone) {
  for (const char* device : {"auto", "reference", "blas", "cpu"}) {
    const std::string errors =
        ErrorsWith({"train.precision=tf32", "device=" + std::string(device)});
    EXPECT_NE(errors.find("'precision: tf32' is for device cuda alone, not '" +
                          std::string(device) + "'"),
              std::string::npos)
        << errors;
    EXPECT_NE(errors.find("write `precision: f32`, or `bf16`"), std::string::npos) << errors;
  }
  for (const char* device : {"cuda", "cuda:1"}) {
    EXPECT_EQ(ErrorsWith({"train.precision=tf32", "device=" + std::string(device)}), "");
  }
  Diagnostics diagnostics;
  const std::vector<std::string> overrides = {"train.precision=tf32"};
  const auto model = ParseModel({"model.yaml", kModel}, overrides, diagnostics);
  ASSERT_TRUE(model) << diagnostics.ToString();
  EXPECT_EQ(PrecisionOf(*model), DType::kF32);
}

// A run's own model.yaml has every default in it.
TEST(Supported, DefaultsAreCarriedOut) {
  Diagnostics diagnostics;
  const auto model = ParseModel({"model.yaml", kModel}, {}, diagnostics);
  ASSERT_TRUE(model);
  const auto resolved = ParseModel({"model.yaml", ToYaml(ResolvedTree(*model))}, {}, diagnostics);
  ASSERT_TRUE(resolved) << diagnostics.ToString();
  CheckSupported(*resolved, diagnostics);
  EXPECT_EQ(diagnostics.ToString(), "");
}

}  // namespace
}  // namespace cgrun
