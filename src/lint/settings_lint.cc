// Each is looked at where the file has it, and told once.
#include "src/lint/settings_lint.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/frontend/unused_parts.h"
#include "src/ir/op_def.h"
#include "src/lint/pixel_lint.h"
#include "src/model/model_file.h"
#include "src/model/values.h"
#include "src/ops/softmax.h"
#include "src/run/path_optimizer.h"

namespace cgrun {
namespace {

// Above it no rate is one of any use: what an update adds is as large as the rate, or is the rate
// times a gradient.
constexpr double kLargestRate = 1000;

void WarnOfRate(const OpSpec& optimizer, Diagnostics& diagnostics) {
  const auto given = std::ranges::find(optimizer.attributes, "lr", &Attribute::key);
  if (given == optimizer.attributes.end()) return;
  Diagnostics ignored;  // it was read before
  const std::optional<double> rate = ReadReal(given->value, "lr", ignored);
  if (rate == 0.0) {
    diagnostics.Warning(given->value.mark, "with `lr: 0` nothing is learned",
                        "a rate of 0.001 to 0.1 is usual; to measure weights, `cgrun eval`");
  }
  if (rate > kLargestRate) {
    diagnostics.Warning(given->value.mark,
                        "a learning rate of " + given->value.scalar +
                            " makes numbers of any size of the parameters in its first steps",
                        "a rate of 0.001 to 0.1 is usual");
  }
}

void WarnOfRates(const ModelSpec& model, Diagnostics& diagnostics) {
  std::set<std::string> told;  // by place: a pair of paths may share one
  for (const PathSpec& path : model.paths) {
    const auto optimizer = OptimizerOf(model, path);
    if (!optimizer || !told.insert(optimizer->op->mark.ToString()).second) continue;
    WarnOfRate(*optimizer->op, diagnostics);
  }
}

// The files of a set and what else says which samples it has.
std::vector<std::string> SourcesOf(const ModelSpec& model, const DataSpec& spec) {
  std::vector<std::string> sources = {spec.format->value};
  for (const Attribute& option : spec.options) {
    if (option.key == "part") sources.push_back("part " + option.value.scalar);
    if (!IsPathOption(spec.format->value, option.key)) continue;
    const auto add = [&](const TreeNode& node) {
      if (node.IsScalar()) sources.push_back(ResolvePath(model.file_name, node.scalar));
    };
    add(option.value);
    for (const TreeNode& item : option.value.items) add(item);
  }
  std::ranges::sort(sources);
  return sources;
}

void WarnOfSameData(const ModelSpec& model, Diagnostics& diagnostics) {
  if (!model.data || !model.data->train || !model.data->train->format) return;
  const std::vector<std::string> train = SourcesOf(model, *model.data->train);
  const auto compare = [&](const std::string& name, const std::optional<DataSpec>& spec) {
    if (!spec || !spec->format || train.size() < 2 || SourcesOf(model, *spec) != train) return;
    diagnostics.Warning(spec->format->mark,
                        "`" + name +
                            "` has the samples of `train`: what it measures says nothing "
                            "of others",
                        "name data of its own, or let `" + name +
                            ": {split: 0.1}` keep a tenth of those of `train`");
  };
  compare("valid", model.data->valid);
  compare("test", model.data->test);
}

// A softmax makes 1 of one number, whatever that number is.
void WarnOfOnes(const Graph& training, Diagnostics& diagnostics) {
  std::set<std::string> told;  // by place
  for (const Node& node : training.nodes) {
    if (node.op != OpId::softmax || node.phase != Phase::kForward) continue;
    const Shape& shape = training.values[node.inputs[0]].type.shape;
    const int64_t given = node.attributes.As<SoftmaxAttributes>().axis;
    const int64_t axis = given < 0 ? given + shape.rank() : given;
    if (shape[static_cast<int>(axis)] != Dim(1) || !told.insert(node.mark.ToString()).second) {
      continue;
    }
    diagnostics.Warning(node.mark,
                        "'softmax' along an axis of one number is always 1: nothing is learned "
                        "through it",
                        "`sigmoid` makes a probability of one number; a softmax takes a unit a "
                        "class");
  }
}

// The operator that bounds what a network gives: its last one, or the activation of that; "".
std::string BoundOf(const NetworkSpec& network) {
  if (network.ops.empty()) return "";
  const OpSpec& last = network.ops.back();
  const auto activation = std::ranges::find(last.attributes, "activation", &Attribute::key);
  const std::string name =
      activation == last.attributes.end() ? last.target.value : activation->value.scalar;
  const std::optional<OpId> op = FindOp(name);
  return op && GetOpDef(*op).bounded ? name : "";
}

// A critic says how far apart what is real and what is made are: any number.
void WarnOfCritic(const ModelSpec& model, Diagnostics& diagnostics) {
  if (!model.gan || model.gan->loss.value != "wasserstein") return;
  const std::string& name = model.gan->discriminator.value;
  for (const NetworkSpec& network : model.networks) {
    const std::string bound = BoundOf(network);
    if (network.name.value != name || bound.empty()) continue;
    diagnostics.Warning(network.ops.back().target.mark,
                        "with `loss: wasserstein` '" + name + "' is to give any number, and '" +
                            bound + "' gives none beyond 1",
                        "take the " + bound +
                            " out; what tells real from made by a probability is "
                            "`loss: non_saturating`, without a sigmoid, too");
  }
}

}  // namespace

void WarnOfSettings(const ModelSpec& model, const Graph& training, Diagnostics& diagnostics) {
  WarnOfRates(model, diagnostics);
  WarnOfSameData(model, diagnostics);
  WarnOfColours(training, diagnostics);
  WarnOfOnes(training, diagnostics);
  WarnOfCritic(model, diagnostics);
  WarnOfUnusedParts(model, diagnostics);
}

}  // namespace cgrun
