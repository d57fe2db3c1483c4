// Exports operators that compute pixels from the pixels around them.
#include <cmath>
#include <numbers>

#include "src/export/emitters.h"
#include "src/ops/random_resized_crop.h"
#include "src/ops/resample.h"
#include "src/ops/resize.h"
#include "src/ops/rotate.h"

namespace cgrun {
namespace {

// Pixels of uint8 are computed in f32, and rounded to nearest, halves up, within 0 and 255.
OnnxValue AsFloats(NodeEmitter& node, const OnnxValue& pixels) {
  return pixels.dtype == DType::kU8 ? node.Cast(pixels, DType::kF32) : pixels;
}

OnnxValue AsPixels(NodeEmitter& node, const OnnxValue& floats, DType dtype) {
  if (dtype != DType::kU8) return floats;
  const OnnxValue shifted = node.Emit("Add", {floats, node.Number(DType::kF32, 0.5)});
  return node.Cast(node.Emit("Floor", {shifted}), DType::kU8);
}

// Holds the sizes of images [N, channels, height, width], before and after.
struct Resizing {
  Shape from;
  int64_t height, width;
  bool nearest;
};

// Says whether the scales are floats, so that they give these sizes exactly.
bool HasExactScales(const Resizing& r) {
  const auto exact = [](int64_t from, int64_t to) {
    const double scale = static_cast<double>(to) / static_cast<double>(from);
    return static_cast<double>(static_cast<float>(scale)) * static_cast<double>(from) ==
           static_cast<double>(to);
  };
  return exact(r.from[2].size, r.height) && exact(r.from[3].size, r.width);
}

double ScaleOfAxis(const Resizing& r, int axis) {
  return static_cast<double>(axis == 2 ? r.height : r.width) /
         static_cast<double>(r.from[axis].size);
}

// Takes scales, or sizes of all axes, or from opset 18 on those of some. Before opset 13 inputs
// that are not used are empty, and later absent.
OnnxValue EmitResize(NodeEmitter& node, const OnnxValue& x, const Resizing& r) {
  node.Need(11);
  const OnnxValue unused =
      node.Has(13) ? NodeEmitter::Absent() : node.Numbers(DType::kF32, {}, {0});
  NodeEmitter::AttributeList attributes = {TextOf("coordinate_transformation_mode", "half_pixel"),
                                           TextOf("mode", r.nearest ? "nearest" : "linear")};
  if (r.nearest) attributes.push_back(TextOf("nearest_mode", "round_prefer_floor"));
  if (HasExactScales(r)) {
    const OnnxValue scales =
        node.Numbers(DType::kF32, {1, 1, ScaleOfAxis(r, 2), ScaleOfAxis(r, 3)}, {4});
    return node.Emit("Resize", {x, unused, scales}, attributes);
  }
  if (node.Has(18)) {
    attributes.push_back(IntsOf("axes", {2, 3}));
    return node.Emit("Resize", {x, unused, unused, node.Integers({r.height, r.width})}, attributes);
  }
  const OnnxValue sizes =
      node.Concat({node.Sizes(x, r.from, 0, 2), node.Integers({r.height, r.width})}, 0);
  return node.Emit("Resize", {x, unused, unused, sizes}, attributes);
}

OnnxValue Resized(NodeEmitter& node, const OnnxValue& x, const Resizing& r) {
  if (r.from[2] == Dim(r.height) && r.from[3] == Dim(r.width)) return x;
  if (r.nearest) return EmitResize(node, x, r);
  return AsPixels(node, EmitResize(node, AsFloats(node, x), r), x.dtype);
}

void Resize(NodeEmitter& node, const Emitter&) {
  const Shape& y = node.OutType().shape;
  const bool nearest = node.attributes<ResizeAttributes>().mode == "nearest";
  node.Set(Resized(node, node.In(0), {node.ShapeOf(0), y[2].size, y[3].size, nearest}));
}

// Counts images [N, …, height, width] as more images, of one channel.
Shape AsPlanes(const Shape& shape, int64_t height, int64_t width) {
  const Dim planes = Shape(std::vector<Dim>(shape.begin(), shape.end() - 2)).ElementsDim();
  return {planes, 1, height, width};
}

// In inference it takes the part in the middle that has the shape of y.
void RandomResizedCrop(NodeEmitter& node, const Emitter&) {
  const auto& a = node.attributes<RandomResizedCropAttributes>();
  const Shape& shape = node.ShapeOf(0);
  const int rows = shape.rank() - 2;
  const double ratio = static_cast<double>(a.size[1]) / static_cast<double>(a.size[0]);
  const Box box = MiddleBox(ratio, shape[rows].size, shape[rows + 1].size);
  std::vector<NodeEmitter::Cut> cuts;
  if (shape[rows] != Dim(box.height)) cuts.push_back({rows, box.top, box.top + box.height});
  if (shape[rows + 1] != Dim(box.width)) {
    cuts.push_back({rows + 1, box.left, box.left + box.width});
  }
  const OnnxValue part = node.Slice(node.In(0), cuts);
  const Shape planes = AsPlanes(shape, box.height, box.width);
  const OnnxValue resized =
      Resized(node, node.Reshape(part, planes), {planes, a.size[0], a.size[1], false});
  node.Set(node.Reshape(resized, node.OutType().shape));
}

// These return the names that ONNX has for values of attributes of resample.
std::string_view CoordinatesOf(std::string_view name) {
  return name == "part" ? "tf_crop_and_resize" : name;
}

std::string_view RoundingOf(std::string_view name) {
  if (name == "down") return "round_prefer_floor";
  return name == "up" ? "round_prefer_ceil" : name;
}

NodeEmitter::AttributeList ResampleAttributesOf(const ResampleAttributes& a, int64_t axis) {
  NodeEmitter::AttributeList attributes = {
      IntsOf("axes", {axis}), TextOf("mode", a.mode),
      TextOf("coordinate_transformation_mode", std::string(CoordinatesOf(a.coordinates)))};
  if (a.mode == "nearest") {
    attributes.push_back(TextOf("nearest_mode", std::string(RoundingOf(a.rounding))));
  }
  if (a.mode == "cubic") attributes.push_back(RealOf("cubic_coeff_a", a.cubic));
  if (a.exclude_outside) attributes.push_back(IntOf("exclude_outside", 1));
  if (a.antialias) attributes.push_back(IntOf("antialias", 1));
  if (a.outside != 0) attributes.push_back(RealOf("extrapolation_value", a.outside));
  return attributes;
}

// Opset 18 resizes one axis alone.
void Resample(NodeEmitter& node, const Emitter&) {
  const auto& a = node.attributes<ResampleAttributes>();
  const int rank = node.ShapeOf(0).rank();
  const int64_t axis = a.axis < 0 ? a.axis + rank : a.axis;
  node.Need(a.coordinates == "half_pixel_symmetric" ? 19 : 18);
  const OnnxValue x = node.In(0), unused = NodeEmitter::Absent();
  if (!IsFloat(x.dtype) && a.mode != "nearest") {
    node.Fail("integers are rounded in another way", "convert them with `cast` first");
  }
  const OnnxValue part =
      a.part.empty() ? unused : node.Numbers(DType::kF32, a.part, {std::ssize(a.part)});
  NodeEmitter::Values inputs = {x, part};
  if (a.scale > 0) {
    inputs.push_back(node.Numbers(DType::kF32, {a.scale}, {1}));
  } else {
    inputs.insert(inputs.end(), {unused, node.Integers({a.size})});
  }
  node.Set(node.Emit("Resize", inputs, ResampleAttributesOf(a, axis)));
}

struct Direction {
  double cosine, sine;
};

// Multiples of 90 degrees are exact.
Direction DirectionOf(double degrees) {
  const double quarters = degrees / 90, whole = std::nearbyint(quarters);
  constexpr Direction kQuarters[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  if (quarters == whole) return kQuarters[static_cast<int64_t>(whole) & 3];
  const double angle = degrees * (std::numbers::pi / 180);
  return {std::cos(angle), std::sin(angle)};
}

// Returns where each pixel comes from: column and row, from -1 to 1 at the edges of the image.
std::vector<double> GridOf(double degrees, int64_t height, int64_t width) {
  const Direction d = DirectionOf(degrees);
  const double rows = static_cast<double>(height), columns = static_cast<double>(width);
  std::vector<double> grid;
  for (int64_t i = 0; i < height; ++i) {
    for (int64_t j = 0; j < width; ++j) {
      const double y = static_cast<double>(i) - (rows - 1) / 2;
      const double x = static_cast<double>(j) - (columns - 1) / 2;
      grid.push_back(2 * (x * d.cosine - y * d.sine) / columns);
      grid.push_back(2 * (x * d.sine + y * d.cosine) / rows);
    }
  }
  return grid;
}

// All images turn alike, so they are channels of one. Outside of it GridSample has zeros, so `fill`
// is taken from the pixels before, and added behind.
void Rotate(NodeEmitter& node, const Emitter&) {
  const auto& a = node.attributes<RotateAttributes>();
  const Shape& shape = node.ShapeOf(0);
  const int64_t height = shape[shape.rank() - 2].size, width = shape[shape.rank() - 1].size;
  const Shape planes = AsPlanes(shape, height, width);
  node.Need(16);
  OnnxValue x = AsFloats(node, node.In(0));
  if (a.fill != 0) x = node.Emit("Sub", {x, node.Number(x.dtype, a.fill)});
  x = node.Reshape(x, {1, planes[0], height, width});
  const OnnxValue grid =
      node.Numbers(x.dtype, GridOf(a.degrees, height, width), {1, height, width, 2});
  x = node.Emit("GridSample", {x, grid},
                {IntOf("align_corners", 0), TextOf("mode", node.Has(20) ? "linear" : "bilinear"),
                 TextOf("padding_mode", "zeros")});
  x = node.Reshape(x, shape);
  if (a.fill != 0) x = node.Emit("Add", {x, node.Number(x.dtype, a.fill)});
  node.Set(AsPixels(node, x, node.In(0).dtype));
}

constexpr Emitter kImages[] = {
    {OpId::random_resized_crop, RandomResizedCrop, "", "size scale ratio"},
    {OpId::resample, Resample, "",
     "size axis mode coordinates rounding scale cubic exclude_outside antialias part outside"},
    {OpId::resize, Resize, "", "size mode scale"},
    {OpId::rotate, Rotate, "", "degrees fill"},
};

}  // namespace

std::span<const Emitter> ImageEmitters() { return kImages; }

}  // namespace cgrun
