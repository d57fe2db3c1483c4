// Imports layers with weights, pools, normalisation and softmax.
#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/import/adapters.h"
#include "src/onnx/wire.h"

namespace cgrun {
namespace {

constexpr int kImageAxes = 2;

std::vector<int64_t> Filled(std::optional<std::vector<int64_t>> values, int64_t count,
                            int64_t fallback, NodeContext& node, std::string_view name) {
  if (!values) return std::vector<int64_t>(static_cast<size_t>(count), fallback);
  if (static_cast<int64_t>(values->size()) != count) {
    node.FailAttribute(
        name, "has " + std::to_string(values->size()) + " numbers, not " + std::to_string(count));
  }
  return *values;
}

// Holds the attributes of a convolution's or a pool's window. A row of numbers [N, channels,
// length] is an image whose height is 1.
struct Window {
  std::vector<int64_t> kernel, stride, dilation, padding;
};

// Half of the padding of SAME_LOWER, and the larger half, stand in front.
std::vector<int64_t> SameLower(const Window& window, const Shape& image, NodeContext& node) {
  std::vector<int64_t> padding(2 * kImageAxes);
  for (int i = 0; i < kImageAxes; ++i) {
    const auto axis = static_cast<size_t>(i);
    const int64_t size = image[2 + i].size, stride = window.stride[axis];
    if (stride < 1) node.FailAttribute("strides", "must be at least 1");
    const int64_t outputs = (size + stride - 1) / stride;
    const int64_t span = (window.kernel[axis] - 1) * window.dilation[axis] + 1;
    const int64_t sum = std::max<int64_t>((outputs - 1) * stride + span - size, 0);
    padding[axis + kImageAxes] = sum / 2;
    padding[axis] = sum - sum / 2;
  }
  return padding;
}

// Returns whether input 0 is a stack of rows; fails unless it is one of images or rows.
bool ReadsRows(NodeContext& node) {
  const Shape& shape = node.ShapeOf(0);
  if (shape.rank() == 2 + kImageAxes) return false;
  if (shape.rank() == 1 + kImageAxes) return true;
  node.Fail("reads " + shape.ToString() +
            ", and only [N, channels, height, width] and [N, "
            "channels, length] are supported");
}

// A shape of rows as one of images.
Shape AsImage(const Shape& shape) { return {shape[0], shape[1], Dim(1), shape[2]}; }

// Attributes of windows. `weight_sides` are those of a filter.
class WindowReader {
 public:
  explicit WindowReader(NodeContext& node) : node_(node), rows_(ReadsRows(node)) {}

  bool rows() const { return rows_; }
  Shape Image() const { return rows_ ? AsImage(node_.ShapeOf(0)) : node_.ShapeOf(0); }

  // A number for the height and one for the width; for rows, the height is given.
  std::vector<int64_t> Sides(std::string_view name, int64_t fallback) {
    return Widened(Filled(node_.Ints(name), axes(), fallback, node_, name), fallback);
  }
  std::vector<int64_t> Widened(std::vector<int64_t> sides, int64_t height) const {
    if (rows_) sides.insert(sides.begin(), height);
    return sides;
  }

  Window Read(const std::optional<std::vector<int64_t>>& weight_sides,
              std::vector<TreeEntry>* keys) {
    Window window;
    if (!node_.Ints("kernel_shape") && !weight_sides) node_.Fail("has no attribute 'kernel_shape'");
    window.kernel =
        node_.Ints("kernel_shape") ? Sides("kernel_shape", 1) : Widened(*weight_sides, 1);
    if (weight_sides && window.kernel != Widened(*weight_sides, 1)) {
      node_.FailAttribute("kernel_shape", "is not that of the weight");
    }
    window.stride = Sides("strides", 1);
    window.dilation = Sides("dilations", 1);
    window.padding = Filled(node_.Ints("pads"), 2 * axes(), 0, node_, "pads");
    if (rows_) window.padding = {0, window.padding[0], 0, window.padding[1]};
    constexpr int64_t kMost = 1 << 20;  // so that nothing overflows
    for (const auto* list : {&window.kernel, &window.stride, &window.dilation, &window.padding}) {
      for (const int64_t value : *list) {
        if (value < 0 || value > kMost) node_.Fail("has a window out of range");
      }
    }
    keys->push_back(KeyOfSides("kernel", window.kernel));
    const std::string mode = node_.Text("auto_pad", "NOTSET");
    if (mode == "SAME_UPPER") {
      keys->push_back(KeyOf("padding", std::string("same")));
      return window;
    }
    if (mode == "SAME_LOWER") {
      window.padding = SameLower(window, Image(), node_);
    } else if (mode == "VALID") {
      window.padding.assign(2 * kImageAxes, 0);
    } else if (mode != "NOTSET") {
      node_.FailAttribute("auto_pad", "is '" + onnx::Shown(mode) + "', which is not known");
    }
    const bool pads = std::ranges::any_of(window.padding, [](int64_t side) { return side != 0; });
    if (pads) keys->push_back(KeyOfSides("padding", window.padding));
    return window;
  }

  // Adds the item, a `part` of what the node emits; for rows with a reshape before and behind.
  NetworkValue Emit(std::string_view op, std::vector<TreeEntry> keys, std::vector<Weight> weights,
                    const std::string& part) {
    return Emit(op, node_.Value(0), std::move(keys), std::move(weights), part);
  }
  // The same, where it reads `x`, which has the shape of input 0.
  NetworkValue Emit(std::string_view op, NetworkValue x, std::vector<TreeEntry> keys,
                    std::vector<Weight> weights, const std::string& part) {
    if (!rows_) {
      return node_.Emit(std::string(op), {{x, ""}}, std::move(keys), std::move(weights), part);
    }
    const Shape image = Image();
    x = node_.EmitReshape(x, {image.begin(), image.end()}, "image");
    x = node_.Emit(std::string(op), {{x, ""}}, std::move(keys), std::move(weights), "rows");
    const Shape& made = node_.TypeOf(x).shape;
    return node_.EmitReshape(x, {made[0], made[1], made[3]}, part);
  }

 private:
  int64_t axes() const { return rows_ ? 1 : kImageAxes; }

  NodeContext& node_;
  bool rows_;
};

bool AllAre(const std::vector<int64_t>& values, int64_t value) {
  return std::ranges::all_of(values, [&](int64_t v) { return v == value; });
}

}  // namespace

NetworkValue ConvResult(NodeContext& node, const Adapter& row, const std::string& part) {
  const bool transposed = row.op == "conv_transpose";
  WindowReader reader(node);
  const Constant& weight = node.ConstantInput(1);
  if (static_cast<int>(weight.dims.size()) != node.ShapeOf(0).rank()) {
    node.Fail("its weight has " + CountText(std::ssize(weight.dims), "axis", "axes") +
              ", and its input " + node.ShapeOf(0).ToString());
  }
  const std::vector<int64_t> sides(weight.dims.begin() + 2, weight.dims.end());
  const int64_t groups = node.Int("group", 1);
  if (weight.dims[1] > (1 << 30)) node.Fail("its weight is too large");
  if (groups < 1 || groups > (1 << 20)) node.FailAttribute("group", "is out of range");
  std::vector<TreeEntry> keys = {
      KeyOf("filters", transposed ? weight.dims[1] * groups : weight.dims[0])};
  if (transposed) {
    if (node.Ints("output_shape")) node.FailAttribute("output_shape", "is not supported");
    const std::string mode = node.Text("auto_pad", "NOTSET");
    if (mode != "NOTSET" && mode != "VALID") {
      node.FailAttribute("auto_pad", "is '" + onnx::Shown(mode) + "', which is not supported");
    }
    const auto extra = reader.Sides("output_padding", 0);
    if (!AllAre(extra, 0)) keys.push_back(KeyOfSides("output_padding", extra));
  }
  const Window window = reader.Read(sides, &keys);
  if (!AllAre(window.stride, 1)) keys.push_back(KeyOfSides("stride", window.stride));
  if (!AllAre(window.dilation, 1)) keys.push_back(KeyOfSides("dilation", window.dilation));
  if (groups != 1) keys.push_back(KeyOf("groups", groups));
  std::vector<Weight> weights = {{"weight", weight}};
  if (node.Has(2)) {
    weights.push_back({"bias", node.ConstantInput(2)});
  } else {
    keys.push_back(KeyOf("bias", false));
  }
  return reader.Emit(row.op, std::move(keys), std::move(weights), part);
}

NetworkValue ConvIntegerResult(NodeContext& node, int x, int weight, const NetworkValue& x_zero,
                               const NetworkValue& weight_zero) {
  WindowReader reader(node);
  NetworkValue images = node.Value(x), filters = node.Value(weight);
  const Shape of_filters = node.TypeOf(filters).shape;
  if (of_filters.rank() != node.ShapeOf(x).rank() || !of_filters.IsBound()) {
    node.Fail("its weight " + of_filters.ToString() + " does not fit " +
              node.ShapeOf(x).ToString());
  }
  std::vector<int64_t> sides;
  for (int axis = 2; axis < of_filters.rank(); ++axis) sides.push_back(of_filters[axis].size);
  std::vector<TreeEntry> keys;
  const Window window = reader.Read(sides, &keys);
  std::erase_if(keys, [](const TreeEntry& key) { return key.key == "kernel"; });
  if (!AllAre(window.stride, 1)) keys.push_back(KeyOfSides("stride", window.stride));
  if (!AllAre(window.dilation, 1)) keys.push_back(KeyOfSides("dilation", window.dilation));
  const int64_t groups = node.Int("group", 1);
  if (groups != 1) keys.push_back(KeyOf("groups", groups));
  if (reader.rows()) {
    const Shape image = reader.Image(), filter = AsImage(of_filters);
    images = node.EmitReshape(images, {image.begin(), image.end()}, "image");
    filters = node.EmitReshape(filters, {filter.begin(), filter.end()}, "filters");
  }
  const NetworkValue sums =
      node.Emit("conv_integer", {{images, ""}, {filters, ""}, {x_zero, ""}, {weight_zero, ""}},
                std::move(keys), {}, "sums");
  if (!reader.rows()) return sums;
  const Shape y = node.TypeOf(sums).shape;
  return node.EmitReshape(sums, {y[0], y[1], y[3]}, "rows");
}

namespace {

void Conv(NodeContext& node, const Adapter& row) { node.Set(ConvResult(node, row, "")); }

void Pool(NodeContext& node, const Adapter& row) {
  const bool is_max = row.op == "max_pool";
  WindowReader reader(node);
  std::vector<TreeEntry> keys;
  const Window window = reader.Read(std::nullopt, &keys);
  // cgrun's default is the kernel.
  keys.push_back(KeyOfSides("stride", window.stride));
  if (!AllAre(window.dilation, 1)) {
    if (!is_max) node.FailAttribute("dilations", "is not supported");
    keys.push_back(KeyOfSides("dilation", window.dilation));
  }
  if (node.Int("ceil_mode", 0) != 0) keys.push_back(KeyOf("ceil_mode", true));
  if (is_max) {
    node.Only("storage_order", 0);
  } else if (node.Int("count_include_pad", 0) == 0) {
    keys.push_back(KeyOf("count_include_pad", false));
  }
  node.Set(reader.Emit(row.op, std::move(keys), {}, ""));
}

// The filter of a sum: a one fills the weight when it is written.
Weight SumFilter(DType dtype) {
  HostTensor one(dtype, Shape{1});
  one.Set(0, 1);
  return {"weight", ConstantOf(std::move(one)), false, true};
}

// Gives the norm (sum of |x|^p)^(1/p) of each window.
void LpPool(NodeContext& node, const Adapter&) {
  WindowReader reader(node);
  const int64_t p = node.Int("p", 2), channels = node.ShapeOf(0)[1].size;
  if (p < 1) node.FailAttribute("p", "must be at least 1");
  node.Only("ceil_mode", 0);
  std::vector<TreeEntry> keys = {KeyOf("filters", channels), KeyOf("groups", channels),
                                 KeyOf("bias", false), KeyOf("frozen", true)};
  const Window window = reader.Read(std::nullopt, &keys);
  keys.push_back(KeyOfSides("stride", window.stride));
  if (!AllAre(window.dilation, 1)) keys.push_back(KeyOfSides("dilation", window.dilation));
  const auto power = static_cast<float>(p);
  NetworkValue x = node.Emit("abs", {{node.Value(0), ""}}, {}, {}, "abs");
  if (p > 1) x = node.Emit("pow", {{x, ""}, {{}, NumberText(power)}}, {}, {}, "powers");
  std::vector<Weight> weights = {SumFilter(node.TypeOf(0).dtype)};
  x = reader.Emit("conv", x, std::move(keys), std::move(weights), p > 1 ? "sums" : "");
  if (p > 1) x = node.Emit("pow", {{x, ""}, {{}, NumberText(1 / power)}});
  node.Set(x);
}

void GlobalPool(NodeContext& node, const Adapter& row) {
  const int rank = node.ShapeOf(0).rank();
  if (row.op == "global_avg_pool" && rank == 4) {
    return node.Set(node.Emit("global_avg_pool", {{node.Value(0), ""}}));
  }
  if (rank < 3) node.Fail("reads " + node.ShapeOf(0).ToString() + ", which is no stack of images");
  std::vector<int64_t> axes;
  for (int axis = 2; axis < rank; ++axis) axes.push_back(axis);
  node.Set(node.Emit(row.op == "global_avg_pool" ? "reduce_mean" : "reduce_max",
                     {{node.Value(0), ""}}, {KeyOfList("axes", axes), KeyOf("keep_dims", true)}));
}

void BatchNormalization(NodeContext& node, const Adapter&) {
  node.Only("training_mode", 0);
  node.Only("spatial", 1);
  node.Ignore("momentum");
  const float epsilon = node.Real("epsilon", 1e-5f);
  std::vector<TreeEntry> keys;
  if (epsilon != 1e-5f) keys.push_back(KeyOf("epsilon", NumberText(epsilon)));
  keys.push_back(KeyOf("frozen", true));
  node.Set(node.Emit("batch_norm", {{node.Value(0), ""}}, std::move(keys),
                     {{"scale", node.ConstantInput(1)},
                      {"shift", node.ConstantInput(2)},
                      {"running_mean", node.ConstantInput(3)},
                      {"running_var", node.ConstantInput(4)}}));
}

void LayerNormalization(NodeContext& node, const Adapter&) {
  node.Only("stash_type", 1);
  SetNormStatistics(node);
  const int64_t axis = node.Axis(node.Int("axis", -1), node.ShapeOf(0).rank());
  const float epsilon = node.Real("epsilon", 1e-5f);
  std::vector<TreeEntry> keys = {KeyOf("axis", axis)};
  if (epsilon != 1e-5f) keys.push_back(KeyOf("epsilon", NumberText(epsilon)));
  const Shape x = node.ShapeOf(0);
  const std::vector<Dim> normalised(x.begin() + axis, x.end());
  const auto is_whole = [&](int i) {
    return node.IsConstant(i) && Shape::Of(node.ConstantInput(i).dims) == Shape(normalised);
  };
  if (is_whole(1) && is_whole(2)) {
    return node.Set(
        node.Emit("layer_norm", {{node.Value(0), ""}}, std::move(keys),
                  {{"scale", node.ConstantInput(1)}, {"shift", node.ConstantInput(2)}}));
  }
  keys.push_back(KeyOf("affine", false));
  NetworkValue y =
      node.Emit("layer_norm", {{node.Value(0), ""}}, std::move(keys), {}, "normalised");
  const bool shifts = node.Has(2);
  y = node.Emit("mul", {{y, ""}, {node.Value(1), ""}}, {}, {}, shifts ? "scaled" : "");
  if (shifts) y = node.Emit("add", {{y, ""}, {node.Value(2), ""}});
  node.Set(y);
}

// A product by a constant matrix is a layer.
bool IsLayer(const NodeContext& node) {
  return !node.IsConstant(0) && node.ShapeOf(0).rank() >= 2 && node.IsConstant(1) &&
         node.ConstantInput(1).dims.size() == 2;
}

Network::Input NumberInput(float number) { return {{}, NumberText(number)}; }

// alpha·A·B + beta·C, where A and B may be transposed.
NetworkValue GeneralGemm(NodeContext& node, const std::string& part) {
  std::vector<TreeEntry> keys;
  if (node.Int("transA", 0) != 0) keys.push_back(KeyOf("transpose_a", true));
  if (node.Int("transB", 0) != 0) keys.push_back(KeyOf("transpose_b", true));
  const float alpha = node.Real("alpha", 1), beta = node.Real("beta", 1);
  const bool adds = node.Has(2) && beta != 0, scales = alpha != 1;
  NetworkValue y = node.Emit("matmul", {{node.Value(0), ""}, {node.Value(1), ""}}, std::move(keys),
                             {}, scales || adds ? "product" : part);
  if (scales) y = node.Emit("mul", {{y, ""}, NumberInput(alpha)}, {}, {}, adds ? "scaled" : part);
  if (!adds) return y;
  NetworkValue c = node.Value(2);
  if (beta != 1) c = node.Emit("mul", {{c, ""}, NumberInput(beta)}, {}, {}, "term");
  return node.Emit("add", {{y, ""}, {c, ""}}, {}, {}, part);
}

}  // namespace

NetworkValue GemmResult(NodeContext& node, const std::string& part) {
  const bool has_bias = node.Has(2);
  const bool transposed = node.Int("transB", 0) == 0;
  const float alpha = node.Real("alpha", 1), beta = node.Real("beta", 1);
  const bool is_layer =
      IsLayer(node) && node.Int("transA", 0) == 0 && (!has_bias || node.IsConstant(2));
  if (!is_layer) return GeneralGemm(node, part);
  const Constant& weight = node.ConstantInput(1);
  const int64_t units = weight.dims[transposed ? 1 : 0];
  const int64_t terms = has_bias ? ElementsOf(node.ConstantInput(2)) : 1;
  const bool is_row = has_bias && terms != 1 && node.ConstantInput(2).dims.back() != terms;
  if (is_row || (terms != 1 && terms != units)) return GeneralGemm(node, part);
  std::vector<TreeEntry> keys = {KeyOf("units", units)};
  std::vector<Weight> weights = {{"weight", weight, transposed, false, alpha}};
  if (has_bias) {
    weights.push_back({"bias", node.ConstantInput(2), false, true, beta});
  } else {
    keys.push_back(KeyOf("bias", false));
  }
  return node.Emit("linear", {{node.Value(0), ""}}, std::move(keys), std::move(weights), part);
}

namespace {

void Gemm(NodeContext& node, const Adapter&) { node.Set(GemmResult(node, "")); }

void MatMul(NodeContext& node, const Adapter&) {
  if (!IsLayer(node)) return EmitProduct(node);
  const Constant& weight = node.ConstantInput(1);
  node.Set(node.Emit("linear", {{node.Value(0), ""}},
                     {KeyOf("units", weight.dims[1]), KeyOf("bias", false)},
                     {{"weight", weight, true}}));
}

// Before opset 13 all axes from `axis` on were one.
void OldSoftmax(NodeContext& node, const Adapter& row) {
  const Shape shape = node.ShapeOf(0);
  const int64_t axis = node.Axis(node.Int("axis", 1), shape.rank());
  if (axis == shape.rank() - 1) {
    return node.Set(node.Emit(std::string(row.op), {{node.Value(0), ""}}));
  }
  if (axis == 0) node.RefuseBatch(0, axis, "normalises along");
  const NetworkValue flat =
      node.Emit("flatten", {{node.Value(0), ""}}, {KeyOf("axis", axis)}, {}, "flat");
  const NetworkValue result = node.Emit(std::string(row.op), {{flat, ""}}, {}, {}, "flat");
  node.Set(node.EmitReshape(result, {shape.begin(), shape.end()}));
}

void Softmax(NodeContext& node, const Adapter& row) {
  const int rank = node.ShapeOf(0).rank();
  const int64_t axis = node.Axis(node.Int("axis", -1), rank);
  node.RefuseBatch(0, axis, "normalises along");
  std::vector<TreeEntry> keys;
  if (axis != rank - 1) keys.push_back(KeyOf("axis", axis));
  node.Set(node.Emit(std::string(row.op), {{node.Value(0), ""}}, std::move(keys)));
}

constexpr Adapter kLayers[] = {
    {"AveragePool", Pool, "avg_pool"},
    {"BatchNormalization", BatchNormalization, "", 5},
    {"Conv", Conv, "conv", 3},
    {"ConvTranspose", Conv, "conv_transpose", 3},
    {"Gemm", Gemm, "", 3},
    {"GlobalAveragePool", GlobalPool, "global_avg_pool"},
    {"GlobalMaxPool", GlobalPool, "global_max_pool"},
    {"LayerNormalization", LayerNormalization, "", 3},
    {"LogSoftmax", OldSoftmax, "log_softmax"},
    {"LogSoftmax", Softmax, "log_softmax", 1, 13},
    {"LpPool", LpPool, "", 1, 2},
    {"MatMul", MatMul, "", 2},
    {"MaxPool", Pool, "max_pool"},
    {"Softmax", OldSoftmax, "softmax"},
    {"Softmax", Softmax, "softmax", 1, 13},
};

}  // namespace

std::span<const Adapter> LayerAdapters() { return kLayers; }

}  // namespace cgrun
