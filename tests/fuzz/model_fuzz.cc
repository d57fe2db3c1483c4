// Reads model files, from the text to the graphs of the front end. An accepted model is written out
// as a run writes it, and must read back as the same model.
#include "src/base/check.h"
#include "src/frontend/frontend.h"
#include "src/model/model_file.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

constexpr char kName[] = "model.yaml";

// Nothing is fed into it.
constexpr char kWithoutInputs[] = R"(cgrun: 1
model: pair
data: {train: {format: synthetic, samples: 24}}
networks:
  artist: {in: z, ops: [{op: linear, units: 16}]}
  critic: {in: x, ops: [{op: linear, units: 1}]}
gan:
  generator: artist
  discriminator: critic
  latent: {op: random_normal, shape: [5]}
  real: x
  loss: wasserstein
  gradient_penalty: 10
  optimizer: {op: sgd, lr: 0.01}
train: {epochs: 9, batch: 8}
)";

// A block with a condition, many times over: its gradients are very steep.
constexpr char kSteep[] = R"(cgrun: 1
model: steep
data: {train: {format: synthetic, samples: 64, classes: 4}}
inputs:
  image: {type: uint8, shape: [3, 8, 8]}
  label: {type: int32, shape: []}
blocks:
  bottle:
    params: {project: false}
    in: x
    ops:
      - {op: conv, in: x, filters: 2, kernel: 1, activation: relu}
      - y: {op: conv, filters: 4, kernel: 1}
      - side: {op: conv, in: x, filters: 4, kernel: 1, if: "${project}"}
      - side: {op: reduce_sum, in: x, if: "${!project}"}
      - {op: add, in: [y, side]}
paths:
  classify:
    ops:
      - x: {op: normalize, in: image, scale: 1/255}
      - {block: bottle, with: {project: true}}
      - {block: bottle, repeat: 4}
      - {op: batch_norm, activation: relu, init: {scale: ones, shift: {constant: 0.1}}}
      - {op: global_avg_pool}
      - {op: flatten}
      - logits: {op: linear, units: 4}
    loss: {op: softmax_cross_entropy, in: [logits, label]}
train: {epochs: 1, batch: 4, optimizer: {op: sgd, lr: 0.01}}
)";

// The front end takes what is left of a broken file too.
void TryGraphs(const ModelSpec& model, bool whole, Diagnostics diagnostics) {
  for (const EntryKind kind : {EntryKind::kTrain, EntryKind::kEval, EntryKind::kPredict}) {
    Diagnostics found = diagnostics;
    Kept kept;
    const auto graph = BuildForward(model, {kind}, found, &kept);
    if (found.has_errors()) CheckErrors(found, kName);
    CGRUN_CHECK(!whole || graph.has_value() == !found.has_errors());
    if (!graph || !whole) continue;
    for (const std::string& fault : VerifyGraph(*graph)) CGRUN_CHECK(false) << fault;
  }
}

void CheckRoundTrip(const ModelSpec& model) {
  const TreeNode resolved = ResolvedTree(model);
  const std::string text = ToYaml(resolved);
  Diagnostics diagnostics;
  const auto again = ParseModel({kName, text}, {}, diagnostics);
  CGRUN_CHECK(again.has_value()) << text << diagnostics.ToString();
  CGRUN_CHECK(ToYaml(ResolvedTree(*again)) == text) << text << ToYaml(ResolvedTree(*again));
}

}  // namespace

bool TryInput(std::span<const std::byte> input) {
  Diagnostics diagnostics;
  ModelSpec partial;
  const auto model = ParseModel({kName, TextOf(input)}, {}, diagnostics, {}, &partial);
  CGRUN_CHECK(model.has_value() == !diagnostics.has_errors());
  if (!model) {
    CheckErrors(diagnostics, kName);
    if (partial.tree.IsMap()) TryGraphs(partial, false, diagnostics);
    return false;
  }
  CheckRoundTrip(*model);
  TryGraphs(*model, true, diagnostics);
  return true;
}

std::vector<std::string> GoodInputs() {
  std::vector<std::string> inputs = {kWithoutInputs, kSteep};
  for (const char* file :
       {"models/lenet-mnist.yaml", "models/resnet18-cifar.yaml", "models/lsgan.yaml",
        "models/autoencoder.yaml", "models/regression.yaml", "tests/golden/tiny_paths.yaml"}) {
    inputs.push_back(ReadBytes(file));
  }
  return inputs;
}

}  // namespace cgrun
