// Sizes are told by what was read; where large targets go, by the graph.
#include "src/lint/size_lint.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

#include "src/data/column_moments.h"
#include "src/data/column_sizes.h"
#include "src/lint/label_uses.h"
#include "src/lint/some_numbers.h"
#include "src/model_data/model_data.h"

namespace cgrun {
namespace {

constexpr size_t kPrediction = 0, kTarget = 1;  // operands of a loss

bool ComparesNumbers(const Node& node) {
  constexpr OpId kLosses[] = {OpId::squared_error, OpId::absolute_error, OpId::huber,
                              OpId::smooth_l1};
  return std::ranges::find(kLosses, node.op) != std::end(kLosses);
}

// Whether a value is what a layer gives, whose weights begin near 0 and whose bias with it: an
// operator behind the layer may bring it to any size.
bool IsOfLayer(const Graph& graph, ValueId id) {
  constexpr OpId kKeepSize[] = {OpId::identity, OpId::reshape, OpId::flatten, OpId::transpose,
                                OpId::relu,     OpId::sigmoid, OpId::tanh};
  constexpr OpId kLayers[] = {OpId::linear, OpId::conv, OpId::conv_transpose};
  while (graph.values[id].producer.valid()) {
    const Node& node = graph.nodes[graph.values[id].producer];
    if (std::ranges::find(kLayers, node.op) != std::end(kLayers)) {
      const auto bias = graph.parameters.find(node.inputs.back());
      return node.inputs.size() < 3 || bias == graph.parameters.end() ||
             bias->second.init == "zeros";
    }
    if (std::ranges::find(kKeepSize, node.op) == std::end(kKeepSize)) return false;
    id = node.inputs[0];
  }
  return false;
}

struct LargeTarget {
  std::string input;
  double mean = 0, deviation = 0;
};

// The targets that `model` may have, in a data set that is at hand.
std::vector<LargeTarget> LargeFields(const ModelSpec& model, const Dataset& train) {
  constexpr int64_t kMostSamples = 4096, kMostNumbers = 1 << 20;
  std::vector<LargeTarget> large;
  if (!train.AtHand()) return large;
  Diagnostics reported;
  const std::vector<std::string> inputs = MatchInputs(model, train, {}, reported);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const DataField& field = train.fields()[i];
    if (!IsFloat(field.dtype) || !train.DoubtOfSizes(i).empty()) continue;
    const int64_t most = kMostNumbers / std::max<int64_t>(1, field.shape.Elements());
    ColumnMoments moments(1);
    VisitSomeNumbers(train, i, std::clamp<int64_t>(most, 1, kMostSamples),
                     [&](double number) { moments.Add(0, number); });
    const LargeTarget target = {inputs[i], moments.Means()[0], moments.Spreads()[0]};
    if (IsLargeSize(target.mean, target.deviation)) large.push_back(target);
  }
  return large;
}

void Warn(const LargeTarget& target, const Node& loss, Diagnostics& diagnostics) {
  const double size = std::max(std::abs(target.mean), target.deviation);
  char factor[32];
  std::snprintf(factor, sizeof(factor), "%.0f", std::pow(10, std::floor(std::log10(size))));
  diagnostics.Warning(
      loss.mark,
      "the targets of '" + target.input + "' are large numbers (" +
          SizeText(target.mean, target.deviation) +
          "): what a layer gives begins near 0, and comes to them slowly, or not at all",
      std::string("end the network with `- scaled: {op: linear, …}` and `- y: {op: mul, in: "
                  "[scaled, ") +
          factor + "]}`, so that the layer gives numbers near 1; docs/guide.md has an example");
}

}  // namespace

void WarnOfFeatureSizes(const ModelSpec& model, const DataSpec& spec, const Dataset& train,
                        Diagnostics& diagnostics) {
  const auto file = std::ranges::find(spec.options, "file", &Attribute::key);
  Diagnostics reported;
  const std::vector<std::string> inputs = MatchInputs(model, train, {}, reported);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string doubt = train.DoubtOfSizes(i);
    const auto reads = [&](const OpSpec& op) {
      const bool with_weights = op.target.value == "linear" || op.target.value == "concat";
      return with_weights && op.kind == OpSpec::Kind::kOperator &&
             std::ranges::find(op.in, inputs[i], &MarkedText::value) != op.in.end();
    };
    const bool is_read = std::ranges::any_of(
        model.paths, [&](const PathSpec& path) { return std::ranges::any_of(path.ops, reads); });
    if (doubt.empty() || !is_read || file == spec.options.end()) continue;
    diagnostics.Warning(file->value.mark, doubt + kLearnsSlowly,
                        "`standardize: true` makes each column (x - mean) / deviation");
  }
}

void WarnOfTargetSizes(const ModelSpec& model, const Graph& training, const Dataset& train,
                       Diagnostics& diagnostics) {
  if (model.weights) return;
  for (const LargeTarget& target : LargeFields(model, train)) {
    const auto loss = std::ranges::find_if(training.nodes, [&](const Node& node) {
      if (!ComparesNumbers(node)) return false;
      const Value& source = LabelSource(training, node.inputs[kTarget]);
      return source.role == Role::kPlaceholder && source.name == target.input &&
             IsOfLayer(training, node.inputs[kPrediction]);
    });
    if (loss != training.nodes.end()) Warn(target, *loss, diagnostics);
  }
}

}  // namespace cgrun
