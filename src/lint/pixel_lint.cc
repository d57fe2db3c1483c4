// Pixels are followed from the layer or operator that reads them back to their input.
#include "src/lint/pixel_lint.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "src/base/host_tensor.h"
#include "src/ir/op_def.h"
#include "src/model_data/model_data.h"
#include "src/ops/normalize.h"

namespace cgrun {
namespace {

constexpr int64_t kSamplesRead = 8;

// Returns whether pixels from 0 to 1 are none any more behind it.
bool LeavesTheUnit(const Node& node) {
  if (node.op != OpId::normalize) return false;
  const auto& attributes = node.attributes.As<NormalizeAttributes>();
  return std::ranges::any_of(attributes.mean, [](double mean) { return mean != 0; }) ||
         std::ranges::any_of(attributes.std, [](double deviation) { return deviation != 1; });
}

struct Pixels {
  double low = 0, high = 0;
  const Node* maker = nullptr;  // the node that gave them this size; null of an input

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

// Returns nothing where it is not known which numbers a node makes of pixels.
std::optional<Pixels> PixelsBehind(const Graph& graph, const Node& node, const Pixels& pixels) {
  if (node.op == OpId::normalize) return Normalized(node, pixels);
  const OpDef& def = GetOpDef(node.op);
  const DType from = graph.values[node.inputs[0]].type.dtype;
  const DType to = graph.values[node.outputs[0]].type.dtype;
  if (def.moves == Moves::kNone || (def.bounded && IsFloat(to))) return std::nullopt;
  return from == to ? pixels : Pixels{pixels.low, pixels.high, &node};
}

// The largest number of a field in some samples. Samples that cannot be read are told elsewhere.
double LargestNumber(const Dataset& dataset, size_t field) {
  std::vector<HostTensor> tensors;
  for (const DataField& each : dataset.fields()) tensors.emplace_back(each.dtype, each.shape);
  std::vector<std::span<std::byte>> spans;
  for (HostTensor& tensor : tensors) spans.push_back(tensor.bytes());
  const int64_t count = std::min(dataset.size(), kSamplesRead);
  double largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    try {
      dataset.Read(i * dataset.size() / count, spans);
    } catch (const UserError&) {
      continue;
    }
    for (int64_t e = 0; e < tensors[field].elements(); ++e) {
      largest = std::max(largest, tensors[field].At(e));
    }
  }
  return largest;
}

// The images of uint8 that the data feed, with the range of some of their pixels.
std::map<ValueId, Pixels> PixelsOfImages(const ModelSpec& model, const Graph& graph,
                                         const Dataset& train) {
  std::map<ValueId, Pixels> images;
  Diagnostics reported;
  const std::vector<std::string> inputs = MatchInputs(model, train, {}, reported);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const DataField& field = train.fields()[i];
    const ValueId input = graph.FindValue(inputs[i]);
    if (!input.valid() || field.dtype != DType::kU8 || field.shape.rank() < 2) continue;
    images[input].high = LargestNumber(train, i);
  }
  return images;
}

void Warn(const SourceMark& mark, const Node& layer, const Pixels& pixels,
          Diagnostics& diagnostics) {
  char text[64];
  std::snprintf(text, sizeof(text), "from %.3g to %.3g", pixels.low, pixels.high);
  diagnostics.Warning(mark,
                      "pixels reach '" + std::string(NameOf(layer.op)) + "' as numbers " + text +
                          ": a model learns slowly from such numbers, or not at all",
                      "`{op: normalize, scale: 1/255}` makes them 0 to 1; its `mean` and `std` are "
                      "of what `scale` has made of the pixels");
}

// Returns whether only normalisations read what a layer gives, which take its scale out again.
bool IsNormalised(const Graph& graph, const Node& layer) {
  bool found = false;
  for (const Node& node : graph.nodes) {
    if (std::ranges::find(node.inputs, layer.outputs[0]) == node.inputs.end()) continue;
    if (node.phase != Phase::kForward) continue;
    if (!GetOpDef(node.op).normalises) return false;
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
    while (before != nullptr && GetOpDef(before->op).moves != Moves::kNone) {
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
  if (model.weights) return;
  std::map<ValueId, Pixels> known = PixelsOfImages(model, training, train);
  std::set<std::string> told;  // by place
  for (const NodeId id : TopologicalOrder(training)) {
    const Node& node = training.nodes[id];
    const auto found = node.inputs.empty() ? known.end() : known.find(node.inputs[0]);
    if (found == known.end()) continue;
    const Pixels& pixels = found->second;
    if (GetOpDef(node.op).units.empty()) {
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
