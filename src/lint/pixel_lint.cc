// Pixels are followed from the layer or operator that reads them back to their input.
#include "src/lint/pixel_lint.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/lint/size_lint.h"
#include "src/lint/some_numbers.h"
#include "src/model_data/model_data.h"
#include "src/ops/normalize.h"

namespace cgrun {
namespace {

// Whether an image is as it was, for its pixels' values.
bool MovesPixels(OpId op) {
  constexpr OpId kMoves[] = {OpId::identity, OpId::flip,           OpId::random_flip,
                             OpId::crop,     OpId::random_crop,    OpId::random_resized_crop,
                             OpId::rotate,   OpId::random_rotate,  OpId::pad,
                             OpId::resize,   OpId::random_erasing, OpId::color_jitter,
                             OpId::cast};
  return std::ranges::find(kMoves, op) != std::end(kMoves);
}

// Whether pixels from 0 to 1 are none any more behind it.
bool LeavesTheUnit(const Node& node) {
  if (node.op != OpId::normalize) return false;
  const auto& attributes = node.attributes.As<NormalizeAttributes>();
  return std::ranges::any_of(attributes.mean, [](double mean) { return mean != 0; }) ||
         std::ranges::any_of(attributes.std, [](double deviation) { return deviation != 1; });
}

struct Pixels {
  double low = 0, high = 0;
  const Node* maker = nullptr;  // what made them of this size; null of an input

  bool AreFar() const {
    constexpr double kFar = 20;  // from 0; what is normalized as is usual lies within 3
    return std::max(std::abs(low), std::abs(high)) > kFar;
  }
};

Pixels Normalized(const Node& node, const Pixels& pixels) {
  const auto& attributes = node.attributes.As<NormalizeAttributes>();
  const RealList &means = attributes.mean, &deviations = attributes.std;
  std::vector<double> ends;
  for (size_t i = 0; i < std::max(means.size(), deviations.size()); ++i) {
    for (double pixel : {pixels.low, pixels.high}) {
      ends.push_back((attributes.scale * pixel - means[means.size() == 1 ? 0 : i]) /
                     deviations[deviations.size() == 1 ? 0 : i]);
    }
  }
  const auto [low, high] = std::ranges::minmax(ends);
  return {low, high, &node};
}

// What a node makes of pixels; nothing where that is not known. Of floats `color_jitter` makes
// numbers from 0 to 1.
std::optional<Pixels> PixelsBehind(const Graph& graph, const Node& node, const Pixels& pixels) {
  if (node.op == OpId::normalize) return Normalized(node, pixels);
  if (node.op == OpId::cast) return Pixels{pixels.low, pixels.high, &node};
  const bool on_floats =
      node.op == OpId::color_jitter && IsFloat(graph.values[node.outputs[0]].type.dtype);
  const bool moves = MovesPixels(node.op) || node.op == OpId::flatten || node.op == OpId::reshape;
  return moves && !on_floats ? std::optional<Pixels>(pixels) : std::nullopt;
}

// The images of uint8 that the data feed, with the range of some of their pixels.
std::map<ValueId, Pixels> PixelsOfImages(const ModelSpec& model, const Graph& graph,
                                         const Dataset& train) {
  constexpr int64_t kSamples = 8;
  std::map<ValueId, Pixels> images;
  Diagnostics reported;
  const std::vector<std::string> inputs = MatchInputs(model, train, {}, reported);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const DataField& field = train.fields()[i];
    const ValueId input = graph.FindValue(inputs[i]);
    if (!input.valid() || field.dtype != DType::kU8 || field.shape.rank() < 2) continue;
    Pixels& pixels = images[input];
    VisitSomeNumbers(train, i, kSamples,
                     [&](double pixel) { pixels.high = std::max(pixels.high, pixel); });
  }
  return images;
}

void Warn(const SourceMark& mark, const Node& layer, const Pixels& pixels,
          Diagnostics& diagnostics) {
  char text[64];
  std::snprintf(text, sizeof(text), "from %.3g to %.3g", pixels.low, pixels.high);
  diagnostics.Warning(
      mark,
      "pixels reach '" + std::string(NameOf(layer.op)) + "' as numbers " + text + kLearnsSlowly,
      "`{op: normalize, scale: 1/255}` makes them 0 to 1; its `mean` and `std` are "
      "of what `scale` has made of the pixels");
}

// Whether only normalisations read what a layer gives, which take its scale out again.
bool IsNormalised(const Graph& graph, const Node& layer) {
  constexpr OpId kNorms[] = {OpId::batch_norm, OpId::layer_norm};
  bool found = false;
  for (const Node& node : graph.nodes) {
    if (std::ranges::find(node.inputs, layer.outputs[0]) == node.inputs.end()) continue;
    if (node.phase != Phase::kForward) continue;
    if (std::ranges::find(kNorms, node.op) == std::end(kNorms)) return false;
    found = true;
  }
  return found;
}

}  // namespace

void WarnOfColours(const Graph& training, Diagnostics& diagnostics) {
  std::set<std::string> told;  // by place: a step may run a path several times
  for (const Node& node : training.nodes) {
    if (node.op != OpId::color_jitter) continue;
    const Node* before = &node;
    while (before != nullptr && MovesPixels(before->op)) {
      const NodeId producer = training.values[before->inputs[0]].producer;
      before = producer.valid() ? &training.nodes[producer] : nullptr;
    }
    if (before == nullptr || !LeavesTheUnit(*before)) continue;
    if (!told.insert(node.mark.ToString()).second) continue;
    diagnostics.Warning(
        node.mark,
        "'color_jitter' is for pixels of uint8 or from 0 to 1, and here 'normalize' "
        "has taken their mean away or divided them by their deviation",
        "put it before that 'normalize'");
  }
}

void WarnOfPixels(const ModelSpec& model, const Graph& training, const Dataset& train,
                  Diagnostics& diagnostics) {
  constexpr OpId kLayers[] = {OpId::linear, OpId::conv, OpId::conv_transpose};
  if (model.weights) return;
  std::map<ValueId, Pixels> known = PixelsOfImages(model, training, train);
  std::set<std::string> told;  // by place
  for (const NodeId id : TopologicalOrder(training)) {
    const Node& node = training.nodes[id];
    const auto found = node.inputs.empty() ? known.end() : known.find(node.inputs[0]);
    if (found == known.end()) continue;
    const Pixels& pixels = found->second;
    if (std::ranges::find(kLayers, node.op) == std::end(kLayers)) {
      const auto behind = PixelsBehind(training, node, pixels);
      if (behind) known[node.outputs[0]] = *behind;
      continue;
    }
    const SourceMark& mark = pixels.maker == nullptr ? node.mark : pixels.maker->mark;
    if (!pixels.AreFar() || IsNormalised(training, node)) continue;
    if (told.insert(mark.ToString()).second) Warn(mark, node, pixels, diagnostics);
  }
}

}  // namespace cgrun
