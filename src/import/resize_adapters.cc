// Resize and Upsample. Images whose pixels count from their centres are resized at once, others
// axis by axis.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "src/import/adapters.h"
#include "src/import/item_writer.h"

namespace cgrun {
namespace {

struct AxisTarget {
  int64_t axis = 0;
  int64_t from = 1, size = 1;
  double scale = 0;  // 0: the ratio of the sizes
  double start = 0, end = 1;

  bool is_scaled() const { return scale != 0; }
};

std::string OwnName(NodeContext& node, const std::string& coordinates) {
  if (coordinates == "tf_crop_and_resize") return "part";
  for (const char* known : {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                            "align_corners", "asymmetric"}) {
    if (coordinates == known) return coordinates;
  }
  node.FailAttribute("coordinate_transformation_mode",
                     "is '" + coordinates + "', which is not supported");
}

// Reads what Resize has, of opset 11 and later.
class ResizeReader {
 public:
  explicit ResizeReader(NodeContext& node) : node_(node), shape_(node.ShapeOf(0)) {
    axes_ = node.Ints("axes").value_or(AxesFrom(0, shape_.rank()));
    for (int64_t& axis : axes_) axis = node.Axis(axis, shape_.rank());
  }

  std::vector<AxisTarget> Targets(bool in_part) {
    std::vector<AxisTarget> targets = node_.Has(3) ? BySizes() : ByScales();
    if (in_part) SetParts(targets);
    std::erase_if(targets, [&](const AxisTarget& target) {
      return target.size == target.from && !target.is_scaled() && !in_part;
    });
    for (const AxisTarget& target : targets) {
      const bool is_batch = shape_[static_cast<int>(target.axis)].batch;
      if (is_batch && target.size != target.from) node_.Fail("resizes the batch axis");
    }
    std::erase_if(targets, [&](const AxisTarget& target) {
      return shape_[static_cast<int>(target.axis)].batch;
    });
    return targets;
  }

 private:
  std::vector<AxisTarget> BySizes() {
    std::vector<double> sizes = NumbersOf(node_, 3);
    if (sizes.size() != axes_.size()) node_.Fail("has not a size for each axis");
    const std::string policy = node_.Text("keep_aspect_ratio_policy", "stretch");
    if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller") {
      node_.FailAttribute("keep_aspect_ratio_policy", "is '" + policy + "'");
    }
    std::vector<AxisTarget> targets;
    for (size_t i = 0; i < axes_.size(); ++i) Add(targets, i, sizes[i], 0);
    if (policy == "stretch") return targets;
    const auto ratio = [](const AxisTarget& t) {
      return static_cast<double>(t.size) / static_cast<double>(t.from);
    };
    const auto [least, most] = std::ranges::minmax(targets, {}, ratio);
    const double scale = policy == "not_larger" ? ratio(least) : ratio(most);
    for (AxisTarget& target : targets) {
      const double size = std::floor(scale * static_cast<double>(target.from) + 0.5);
      if (!(size >= 1 && size < (1 << 24))) node_.Fail("has a size out of range");
      target.size = static_cast<int64_t>(size);
      target.scale = OwnScale(target, scale);
    }
    return targets;
  }

  std::vector<AxisTarget> ByScales() {
    const std::vector<double> scales = NumbersOf(node_, 2);
    if (scales.size() != axes_.size()) node_.Fail("has not a scale for each axis");
    std::vector<AxisTarget> targets;
    for (size_t i = 0; i < axes_.size(); ++i) {
      const auto from = static_cast<double>(shape_[static_cast<int>(axes_[i])].size);
      Add(targets, i, std::floor(from * scales[i]), scales[i]);
      targets.back().scale = OwnScale(targets.back(), scales[i]);
    }
    return targets;
  }

  // 0 where the scale is the ratio of the sizes.
  static double OwnScale(const AxisTarget& target, double scale) {
    const double meant = scale * static_cast<double>(target.from);
    return std::abs(meant - static_cast<double>(target.size)) < 1e-5 * meant ? 0 : scale;
  }

  void Add(std::vector<AxisTarget>& targets, size_t i, double size, double scale) const {
    if (!(size >= 1 && size < (1 << 24)) || !(scale >= 0)) node_.Fail("has a size out of range");
    targets.push_back(
        {axes_[i], shape_[static_cast<int>(axes_[i])].size, static_cast<int64_t>(size), scale});
  }

  void SetParts(std::vector<AxisTarget>& targets) {
    const std::vector<double> part = NumbersOf(node_, 1);
    if (part.size() != 2 * targets.size()) node_.Fail("has not a part for each axis");
    for (size_t i = 0; i < targets.size(); ++i) {
      targets[i].start = part[i];
      targets[i].end = part[i + targets.size()];
    }
  }

  NodeContext& node_;
  Shape shape_;
  std::vector<int64_t> axes_;
};

// Says how elements are found, in the terms of `resample`.
struct ResizeMode {
  std::string mode, coordinates, rounding = "down";
  float cubic = -0.75f, outside = 0;
  bool exclude_outside = false, antialias = false;

  // Returns whether the operator `resize` does the same for these targets.
  bool IsOfImages(const std::vector<AxisTarget>& targets) const {
    const bool is_whole = std::ranges::all_of(
        targets, [](const AxisTarget& target) { return target.size % target.from == 0; });
    const bool from_corner = coordinates == "asymmetric" && rounding == "floor" && is_whole;
    if (mode == "nearest")
      return (coordinates == "half_pixel" && rounding == "down") || from_corner;
    return mode == "linear" && coordinates == "half_pixel" && !antialias && !exclude_outside;
  }
  ItemWriter::Keys KeysFor(const AxisTarget& target) const {
    ItemWriter::Keys keys = {KeyOf("size", target.size), KeyOf("axis", target.axis)};
    if (mode != "linear") keys.push_back(KeyOf("mode", mode));
    if (coordinates != "half_pixel") keys.push_back(KeyOf("coordinates", coordinates));
    if (rounding != "down") keys.push_back(KeyOf("rounding", rounding));
    if (target.is_scaled()) keys.push_back(KeyOf("scale", NumberText(target.scale)));
    if (mode == "cubic" && cubic != -0.75f) keys.push_back(KeyOf("cubic", NumberText(cubic)));
    if (exclude_outside) keys.push_back(KeyOf("exclude_outside", true));
    if (antialias) keys.push_back(KeyOf("antialias", true));
    if (coordinates == "part") {
      keys.push_back({"part",
                      {},
                      TreeNode::Sequence({TreeNode::Scalar(NumberText(target.start)),
                                          TreeNode::Scalar(NumberText(target.end))})});
      if (outside != 0) keys.push_back(KeyOf("outside", NumberText(outside)));
    }
    return keys;
  }
};

void FinishResize(NodeContext& node, const std::vector<AxisTarget>& targets,
                  const ResizeMode& mode) {
  ItemWriter write(node);
  NetworkValue x = node.Value(0);
  const Shape shape = write.ShapeOf(x);
  if (targets.empty()) return node.Set(x);
  const bool of_images = shape.rank() == 4 && std::ranges::all_of(targets, [](const AxisTarget& t) {
                           return t.axis >= 2 && !t.is_scaled();
                         });
  if (of_images && IsFloat(node.TypeOf(x).dtype) && mode.IsOfImages(targets)) {
    std::vector<int64_t> size = {shape[2].size, shape[3].size};
    for (const AxisTarget& target : targets)
      size[static_cast<size_t>(target.axis - 2)] = target.size;
    ItemWriter::Keys keys = {KeyOfList("size", size)};
    if (mode.mode == "nearest") keys.push_back(KeyOf("mode", mode.mode));
    return write.Finish("resize", {x}, std::move(keys));
  }
  for (size_t i = 0; i + 1 < targets.size(); ++i) {
    x = write.Part("resample", {x}, mode.KeysFor(targets[i]));
  }
  write.Finish("resample", {x}, mode.KeysFor(targets.back()));
}

std::string ModeOf(NodeContext& node) {
  const std::string mode = node.Text("mode", "nearest");
  if (mode != "nearest" && mode != "linear" && mode != "cubic") {
    node.FailAttribute("mode", "is '" + mode + "', which is not supported");
  }
  return mode;
}

void ImportResize(NodeContext& node, const Adapter&) {
  ResizeMode mode;
  mode.mode = ModeOf(node);
  mode.coordinates = OwnName(node, node.Text("coordinate_transformation_mode", "half_pixel"));
  const std::string rounding = node.Text("nearest_mode", "round_prefer_floor");
  mode.cubic = node.Real("cubic_coeff_a", -0.75f);
  mode.outside = node.Real("extrapolation_value", 0);
  mode.exclude_outside = node.Int("exclude_outside", 0) != 0;
  mode.antialias = node.Int("antialias", 0) != 0 && mode.mode != "nearest";
  node.Ignore("keep_aspect_ratio_policy");
  if (mode.mode == "nearest") {
    mode.exclude_outside = false;
    mode.rounding = rounding == "round_prefer_floor"  ? "down"
                    : rounding == "round_prefer_ceil" ? "up"
                                                      : rounding;
  }
  FinishResize(node, ResizeReader(node).Targets(mode.coordinates == "part"), mode);
}

// Elements counted from the first one's corner. Opset 10 had Resize without other ways.
void Upsample(NodeContext& node, const Adapter& row) {
  const Shape shape = node.ShapeOf(0);
  ResizeMode mode;
  mode.mode = ModeOf(node);
  mode.coordinates = "asymmetric";
  if (mode.mode == "nearest") mode.rounding = "floor";
  std::vector<double> scales;
  if (row.since < 9) {
    for (const float scale : node.Reals("scales")) scales.push_back(static_cast<double>(scale));
  } else {
    scales = NumbersOf(node, 1);
  }
  if (static_cast<int>(scales.size()) != shape.rank()) node.Fail("has not a scale for each axis");
  std::vector<AxisTarget> targets;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const double scale = scales[static_cast<size_t>(axis)];
    if (scale == 1) continue;
    if (shape[axis].batch) node.Fail("resizes the batch axis");
    const double size = std::floor(static_cast<double>(shape[axis].size) * scale);
    if (!(size >= 1 && size < (1 << 24))) node.Fail("has a size out of range");
    const auto whole = static_cast<int64_t>(size);
    const bool is_ratio = size == static_cast<double>(shape[axis].size) * scale;
    targets.push_back({axis, shape[axis].size, whole, is_ratio ? 0 : scale});
  }
  FinishResize(node, targets, mode);
}

constexpr Adapter kResizes[] = {
    {"Resize", Upsample, "", 2, 10},
    {"Resize", ImportResize, "", 4, 11},
    {"Upsample", Upsample},
    {"Upsample", Upsample, "", 2, 9},
};

}  // namespace

std::span<const Adapter> ResizeAdapters() { return kResizes; }

}  // namespace cgrun
