// Model files: from the text to the graphs of the front end. What is accepted is written out as a
// run writes it, and must read back as the same model.
#include "src/base/check.h"
#include "src/frontend/frontend.h"
#include "src/model/model_file.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/io/test_files.h"

namespace cgrun {
namespace {

constexpr char kName[] = "model.yaml";

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
  std::vector<std::string> inputs;
  for (const char* file :
       {"models/lenet-mnist.yaml", "models/resnet18-cifar.yaml", "models/lsgan.yaml",
        "models/autoencoder.yaml", "models/regression.yaml", "tests/golden/tiny_paths.yaml"}) {
    inputs.push_back(ReadBytes(file));
  }
  return inputs;
}

}  // namespace cgrun
