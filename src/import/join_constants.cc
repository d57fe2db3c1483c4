// Follows values that are read once.
#include "src/import/join_constants.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "src/base/host_tensor.h"

namespace cgrun {
namespace {

using Doubles = std::vector<double>;

constexpr int64_t kMostChannels = 1 << 20;

void DropKey(Item& item, std::string_view key) {
  std::erase_if(item.keys, [&](const TreeEntry& entry) { return entry.key == key; });
}

bool HasKey(const Item& item, std::string_view key, std::string_view value) {
  const TreeNode* const node = KeyAt(item, key);
  return node != nullptr && node->scalar == value;
}

// The sizes of a constant as it is broadcast to a shape of `rank`; empty where it has more axes.
std::vector<int64_t> PaddedDims(const Constant& constant, int rank) {
  std::vector<int64_t> dims = constant.dims;
  if (std::ssize(dims) > rank) return {};
  dims.insert(dims.begin(), static_cast<size_t>(rank) - dims.size(), 1);
  return dims;
}

// Returns whether a constant has the sizes of `shape` from `axis` on, and 1 before.
bool FitsLastAxes(const Constant& constant, const Shape& shape, int64_t axis) {
  const std::vector<int64_t> dims = PaddedDims(constant, shape.rank());
  if (dims.empty()) return false;
  for (int i = 0; i < shape.rank(); ++i) {
    const int64_t size = dims[static_cast<size_t>(i)];
    if (i < axis ? size != 1 : Dim(size) != shape[i]) return false;
  }
  return true;
}

// Returns whether a constant has a number for each channel, which is axis 1.
bool FitsChannels(const Constant& constant, const Shape& shape) {
  if (shape.rank() < 2) return false;
  const std::vector<int64_t> dims = PaddedDims(constant, shape.rank());
  if (dims.empty() || shape[1].batch || ElementsOf(constant) != shape[1].size) return false;
  return dims[1] == shape[1].size;
}

Constant Filled(DType dtype, double value) {
  HostTensor one(dtype, Shape{1});
  one.Set(0, value);
  return ConstantOf(std::move(one));
}

// "encoder.norm1" of "encoder.norm1.weight", or else `fallback`.
std::string LayerName(const std::vector<Weight>& weights, const std::string& fallback) {
  constexpr std::string_view kEnding = ".weight";
  for (const Weight& weight : weights) {
    const std::string& name = weight.source.name;
    if (name.ends_with(kEnding)) return name.substr(0, name.size() - kEnding.size());
  }
  return fallback;
}

// A value times or plus a constant: x is at `x`, and the constant is a weight.
struct Affine {
  int x = -1;
  bool multiplies = false;
  bool inverts = false;  // x is divided by the constant
  Weight constant;
};

// Returns the constant of a sum, a product, or the like; nothing for others.
std::optional<Affine> AffineAt(const ItemGraph& graph, int place) {
  const ItemGraph::Node& node = graph.at(place);
  const std::string& op = node.item.op;
  if (op == "bias") return Affine{node.in[0].value, false, false, node.item.weights[0]};
  const bool commutes = op == "add" || op == "mul";
  if (!commutes && op != "sub" && op != "div") return std::nullopt;
  for (size_t i = 0; i < (commutes ? 2 : 1); ++i) {
    const ItemOperand &x = node.in[i], &other = node.in[1 - i];
    if (x.IsNumber() || other.IsNumber()) continue;
    if (const Constant* constant = graph.ConstantAt(other.value)) {
      Weight weight{"", *constant};
      if (op == "sub") weight.factor = -1;
      return Affine{x.value, op == "mul" || op == "div", op == "div", std::move(weight)};
    }
  }
  return std::nullopt;
}

class ConstantJoiner {
 public:
  ConstantJoiner(ItemGraph& graph, onnx::OnnxFile& file) : graph_(graph), file_(file) {}

  std::vector<std::string> Run() {
    for (int place = 0; place < graph_.size(); ++place) {
      if (graph_.at(place).is_dead) continue;
      if (graph_.Find(place, "layer_norm") != nullptr) JoinLayerNorm(place);
    }
    for (int place = 0; place < graph_.size(); ++place) {
      if (!graph_.at(place).is_dead && !JoinBias(place)) JoinBatchNorm(place);
    }
    return std::move(joined_);
  }

 private:
  // Scale and shift follow a layer_norm that has none, each as its only reader.
  void JoinLayerNorm(int place) {
    const Item item = graph_.at(place).item;
    if (!HasKey(item, "affine", "false")) return;
    const Shape shape = graph_.TypeOf(place).shape;
    const int64_t axis = std::stoll(KeyAt(item, "axis")->scalar);
    Weight parts[2] = {{"scale", Filled(graph_.TypeOf(place).dtype, 1), false, true},
                       {"shift", Filled(graph_.TypeOf(place).dtype, 0), false, true}};
    int last = place;
    for (const bool is_shift : {false, true}) {
      const int reader = graph_.OnlyReader(last);
      const std::optional<Affine> affine = reader < 0 ? std::nullopt : AffineAt(graph_, reader);
      if (!affine || affine->x != last || affine->multiplies == is_shift || affine->inverts) {
        continue;
      }
      const bool fits = graph_.at(reader).item.op == "bias"
                            ? shape.rank() == 2 && axis == 1
                            : FitsLastAxes(affine->constant.source, shape, axis);
      if (!fits) continue;
      Weight& part = parts[is_shift ? 1 : 0];
      part.source = affine->constant.source;
      part.factor = affine->constant.factor;
      part.fills = false;
      last = reader;
    }
    if (last == place) return;
    Item joined{"", "layer_norm", {}, item.keys, {parts[0], parts[1]}};
    const std::string whole = NameOfWhole(graph_.at(last).item.name, "layer_norm");
    joined.name = LayerName(joined.weights, whole);
    DropKey(joined, "affine");
    graph_.Replace(last, std::move(joined), graph_.at(place).in);
    joined_.emplace_back("scale and shift of a layer_norm");
  }

  bool JoinBias(int place) {
    const ItemGraph::Node& node = graph_.at(place);
    if (node.item.op != "bias") return false;
    const int before = node.in[0].value;
    const bool is_conv = graph_.Find(before, "conv") || graph_.Find(before, "conv_transpose");
    if (!is_conv || !graph_.IsUsedOnce(before)) return false;
    Item conv = graph_.at(before).item;
    if (!HasKey(conv, "bias", "false")) return false;
    DropKey(conv, "bias");
    conv.weights.push_back(node.item.weights[0]);
    graph_.Replace(place, std::move(conv), graph_.at(before).in);
    joined_.emplace_back("bias of a conv");
    return true;
  }

  std::optional<Doubles> NumbersOfChannels(const Affine& affine) {
    std::optional<HostTensor> tensor = HostOf(affine.constant.source, file_);
    if (!tensor) return std::nullopt;
    Doubles numbers;
    for (int64_t i = 0; i < tensor->elements(); ++i) {
      const double number = tensor->At(i) * affine.constant.factor;
      numbers.push_back(affine.inverts ? 1 / number : number);
    }
    return numbers;
  }

  // The chain of constants for each channel that begins at `place`.
  void JoinBatchNorm(int place) {
    const TensorType type = graph_.TypeOf(place);
    if (!IsFloat(type.dtype) || type.shape.rank() < 2 || type.shape[1].size > kMostChannels) return;
    std::optional<Affine> link = AffineAt(graph_, place);
    // Behind a reshape it is the end of another normalisation, such as that of groups.
    if (!link || graph_.Find(link->x, "reshape") != nullptr) return;
    const int x = link->x;
    const auto channels = static_cast<size_t>(type.shape[1].size);
    Doubles scale(channels, 1), shift(channels, 0);
    bool scales = false, shifts = false;
    int last = -1;
    std::vector<Weight> sources;
    for (int next = place; next >= 0; next = graph_.OnlyReader(last)) {
      link = AffineAt(graph_, next);
      const bool goes_on =
          link && (last < 0 || link->x == last) && FitsChannels(link->constant.source, type.shape);
      const std::optional<Doubles> numbers = goes_on ? NumbersOfChannels(*link) : std::nullopt;
      if (!numbers) break;
      (link->multiplies ? scales : shifts) = true;
      for (size_t i = 0; i < channels; ++i) {
        if (link->multiplies) scale[i] *= (*numbers)[i];
        shift[i] = link->multiplies ? shift[i] * (*numbers)[i] : shift[i] + (*numbers)[i];
      }
      sources.push_back(link->constant);
      last = next;
    }
    if (!scales || !shifts) return;
    Item item{LayerName(sources, NameOfWhole(graph_.at(last).item.name, "batch_norm")),
              "batch_norm",
              {},
              {},
              {}};
    item.keys = {KeyOf("epsilon", std::string("0")), KeyOf("frozen", true)};
    item.weights = {{"scale", ConstantOfChannels(scale, type.dtype)},
                    {"shift", ConstantOfChannels(shift, type.dtype)},
                    {"running_mean", Filled(type.dtype, 0), false, true},
                    {"running_var", Filled(type.dtype, 1), false, true}};
    graph_.Replace(last, std::move(item), {{x, 0, ""}});
    joined_.emplace_back("batch_norm");
  }

  static Constant ConstantOfChannels(const Doubles& numbers, DType dtype) {
    HostTensor tensor(dtype, Shape{std::ssize(numbers)});
    for (size_t i = 0; i < numbers.size(); ++i) tensor.Set(static_cast<int64_t>(i), numbers[i]);
    return ConstantOf(std::move(tensor));
  }

  ItemGraph& graph_;
  onnx::OnnxFile& file_;
  std::vector<std::string> joined_;
};

}  // namespace

bool AddAffine(const ItemGraph& graph, Item& layer_norm, int scale, int shift, int x) {
  const Shape& shape = graph.TypeOf(x).shape;
  const int64_t axis = std::stoll(KeyAt(layer_norm, "axis")->scalar);
  for (const int value : {scale, shift}) {
    if (!FitsLastAxes(*graph.ConstantAt(value), shape, axis)) return false;
  }
  layer_norm.weights = {{"scale", *graph.ConstantAt(scale)}, {"shift", *graph.ConstantAt(shift)}};
  DropKey(layer_norm, "affine");
  return true;
}

std::vector<std::string> JoinConstants(ItemGraph& graph, onnx::OnnxFile& file) {
  return ConstantJoiner(graph, file).Run();
}

}  // namespace cgrun
