// Applies assignments of --set to a model file. If one is accepted, the new file reads back.
#include "src/base/check.h"
#include "src/model/model_file.h"
#include "tests/fuzz/fuzz_target.h"

namespace cgrun {
namespace {

constexpr char kModel[] = R"(cgrun: 1
model: small
data:
  train: {format: synthetic, samples: 65, classes: 3}
inputs:
  image: {type: uint8, shape: [1, 4, 4]}
  label: {type: int32, shape: []}
paths:
  classify:
    ops:
      - pixels: {op: normalize, in: image, scale: 1/255}
      - {op: flatten}
      - logits: {op: linear, units: 3}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
    metrics: {accuracy: {in: [logits, label]}}
train:
  epochs: 2
  batch: 20
  optimizer: {op: sgd, lr: 0.05, momentum: 0.9}
)";

}  // namespace

bool TryInput(std::span<const std::byte> input) {
  const std::vector<std::string> overrides = {TextOf(input)};
  Diagnostics diagnostics;
  const auto model = ParseModel({"model.yaml", kModel}, overrides, diagnostics);
  CGRUN_CHECK(model.has_value() == !diagnostics.has_errors());
  if (!model) {
    const std::string places[] = {"--set ", "model.yaml:"};  // of what the assignment left amiss
    CheckErrors(diagnostics, places);
    return false;
  }
  const std::string text = ToYaml(ResolvedTree(*model));
  Diagnostics again;
  CGRUN_CHECK(ParseModel({"model.yaml", text}, {}, again).has_value()) << text << again.ToString();
  return true;
}

std::vector<std::string> GoodInputs() {
  return {"train.epochs=2",
          "paths.classify.ops[0].scale=1/127.5",
          "paths.classify.ops.logits.units=3",
          "train.optimizer={op: adam, lr: 1e-3}",
          "keep=[logits, grad(logits)]",
          "data.train.samples=\"64\""};
}

}  // namespace cgrun
