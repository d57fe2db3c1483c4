// Defines resample, which gives one axis another size, and its gradient.
#include "src/ops/resample.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/ops/builders.h"
#include "src/ops/gather.h"
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {
namespace {

// Returns the place of element `i` of y among the elements of x. The intended size may be a
// fraction.
double PlaceIn(const ResampleAttributes& a, int64_t i, int64_t from) {
  const auto x = static_cast<double>(i), size = static_cast<double>(a.size);
  const auto whole = static_cast<double>(from);
  const double meant = a.scale > 0 ? a.scale * whole : size, scale = meant / whole;
  if (a.coordinates == "align_corners") return meant == 1 ? 0 : x * (whole - 1) / (meant - 1);
  if (a.coordinates == "asymmetric") return x / scale;
  if (a.coordinates == "part") {
    const double start = a.part[0] * (whole - 1), end = a.part[1] * (whole - 1);
    return meant == 1 ? (start + end) / 2 : start + x * (end - start) / (meant - 1);
  }
  if (a.coordinates == "pytorch_half_pixel" && meant == 1) return -0.5;
  const double place = (x + 0.5) / scale - 0.5;
  // The centres of both agree.
  return a.coordinates == "half_pixel_symmetric" ? whole / 2 * (1 - size / meant) + place : place;
}

// Returns Keys' piecewise cubic of a distance.
double Cubic(double a, double distance) {
  const double d = std::abs(distance);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  if (d < 2) return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return 0;
}

double Rounded(const std::string& rounding, double place) {
  if (rounding == "floor") return std::floor(place);
  if (rounding == "ceil") return std::ceil(place);
  return rounding == "up" ? std::floor(place + 0.5) : std::ceil(place - 0.5);
}

class TapWriter {
 public:
  TapWriter(const ResampleAttributes& a, int64_t from, ResampleTaps* taps)
      : a_(a), from_(from), taps_(*taps) {
    const double scale =
        a.scale > 0 ? a.scale : static_cast<double>(a.size) / static_cast<double>(from);
    stretch_ = a.antialias && scale < 1 ? 1 / scale : 1;
  }

  void Write(int64_t i) {
    const double place = PlaceIn(a_, i, from_);
    const bool beyond = place < 0 || place > static_cast<double>(from_ - 1);
    if (a_.coordinates != "part" || !beyond) WriteAt(place);
    taps_.ends.push_back(std::ssize(taps_.index));
  }

 private:
  void WriteAt(double place) {
    if (a_.mode == "nearest") return Add(Rounded(a_.rounding, place), 1);
    const double reach = (a_.mode == "linear" ? 1 : 2) * stretch_;
    const auto first = static_cast<size_t>(std::ssize(taps_.index));
    double sum = 0;
    for (double at = std::floor(place - reach) + 1; at < place + reach; ++at) {
      double weight = WeightAt((at - place) / stretch_);
      const bool is_outside = at < 0 || at > static_cast<double>(from_ - 1);
      if (a_.exclude_outside && is_outside) weight = 0;
      sum += weight;
      if (weight != 0) Add(at, weight);
    }
    for (size_t k = first; k < taps_.weight.size(); ++k) taps_.weight[k] /= sum;
  }

  double WeightAt(double distance) const {
    return a_.mode == "linear" ? std::max(1 - std::abs(distance), 0.0) : Cubic(a_.cubic, distance);
  }

  void Add(double at, double weight) {
    const auto last = static_cast<double>(from_ - 1);
    taps_.index.push_back(static_cast<int64_t>(std::clamp(at, 0.0, last)));
    taps_.weight.push_back(weight);
  }

  const ResampleAttributes& a_;
  int64_t from_;
  double stretch_ = 1;
  ResampleTaps& taps_;
};

}  // namespace

const AttributeSchema& ResampleAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<ResampleAttributes>()
          .Add("size", &ResampleAttributes::size, "size of the axis of y")
          .Required()
          .AtLeast(1)
          .AtMost(1 << 24)
          .Add("axis", &ResampleAttributes::axis,
               "axis that changes, the batch axis, 0, excepted; negative ones count from the last")
          .Add("mode", &ResampleAttributes::mode, "how elements between those of x are found")
          .Choices({"nearest", "linear", "cubic"})
          .Add("coordinates", &ResampleAttributes::coordinates,
               "where an element of y lies in x, as ONNX Resize has it; `part` is its "
               "tf_crop_and_resize")
          .Choices({"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                    "asymmetric", "part"})
          .Add("rounding", &ResampleAttributes::rounding,
               "of places in mode nearest: to the nearest, halves down or up, or all down or up")
          .Choices({"down", "up", "floor", "ceil"})
          .Add("scale", &ResampleAttributes::scale,
               "size of y divided by that of x, where it is not that ratio; 0: it is")
          .AtLeast(0)
          .Add("cubic", &ResampleAttributes::cubic, "coefficient a of mode cubic")
          .Add("exclude_outside", &ResampleAttributes::exclude_outside,
               "what lies outside of x has no weight, instead of that of the edge")
          .Add("antialias", &ResampleAttributes::antialias,
               "where y is smaller, every element of x has a weight, in modes linear and cubic")
          .Add("part", &ResampleAttributes::part,
               "start and end of coordinates `part`, where 0 and 1 are the ends of x")
          .Add("outside", &ResampleAttributes::outside, "elements of y whose place is not in x")
          .Add("from", &ResampleAttributes::from, "size of the axis of x, for the gradient")
          .Internal()
          .Build();
  return schema;
}

ResampleTaps TapsOf(const ResampleAttributes& attributes, int64_t from) {
  ResampleTaps taps;
  TapWriter writer(attributes, from, &taps);
  for (int64_t i = 0; i < attributes.size; ++i) writer.Write(i);
  return taps;
}

namespace op_def {
namespace {

// A scale that has little to do with the sizes would need taps without end.
bool ExpectScale(InferContext& context, const ResampleAttributes& a, int64_t from) {
  const double ratio = static_cast<double>(a.size) / static_cast<double>(from);
  if ((a.coordinates == "part") != (a.part.size() == 2)) {
    context.Fail("`part` has the start and the end of `coordinates: part`");
  } else if (std::ranges::any_of(a.part, [](double end) { return !(std::abs(end) < 1e6); })) {
    context.Fail("`part` is out of range");
  } else if (a.scale > 0 && !(a.scale <= 64 * ratio && 64 * a.scale >= ratio)) {
    context.Fail("`scale` " + ToString(AttributeValue(a.scale)) + " is far from " +
                 std::to_string(a.size) + "/" + std::to_string(from));
  }
  return !context.failed();
}

// Returns the type of x with another size of the axis.
std::vector<TensorType> InferResized(InferContext& context, int64_t from, int64_t to) {
  const auto& a = context.attributes<ResampleAttributes>();
  Shape shape = context.shape(0);
  const auto axis = IndexedAxis(context, a.axis, shape);
  if (!axis || !ExpectScale(context, a, from > 0 ? from : shape[*axis].size)) return {};
  if (from > 0 && shape[*axis] != Dim(a.size)) {
    return context.Fail("needs a gradient of " + std::to_string(a.size) + " on axis " +
                        std::to_string(*axis) + ", not " + shape.ToString());
  }
  shape[*axis] = Dim(to);
  if (!CountElements(shape))
    return context.Fail("the result " + shape.ToString() + " is too large");
  return {{context.dtype(0), shape}};
}

std::vector<TensorType> InferResample(InferContext& context) {
  if (!HasArithmetic(context.dtype(0))) return InferSameNumbers(context);
  return InferResized(context, 0, context.attributes<ResampleAttributes>().size);
}

std::vector<TensorType> InferResampleGrad(InferContext& context) {
  if (!IsFloat(context.dtype(0))) return InferSameAsInput(context);
  const int64_t from = context.attributes<ResampleAttributes>().from;
  if (from < 1) return context.Fail("has no size of x");
  return InferResized(context, from, from);
}

void ResampleGradient(GradientContext& context) {
  ResampleAttributes attributes = context.attributes<ResampleAttributes>();
  const Shape x = context.input_type(0).shape;
  attributes.from = x[*NormalizeAxis(attributes.axis, x.rank())].size;
  context.SetInputGradient(0, context.Emit(OpId::resample_grad, Attributes::Of(attributes),
                                           {context.output_gradient(0)}, "grad"));
}

OpCost ResampleCost(const NodeSignature& node) {
  return {4 * std::max(node.inputs[0].shape.Elements(), node.outputs[0].shape.Elements())};
}

}  // namespace

OpDef resample() {
  OpDef def = Described(
      {"resample", "Gives one axis another size.",
       "y[…, i, …] = Σ w·x[…, j, …], where the j lie around the place of i in x. Their weights w "
       "follow from `mode`, and their sum is 1: the nearest element, two that are next to it, or "
       "four. With `antialias`, the weights of a smaller y reach so much further. Computed in f64 "
       "and rounded once (integers: to nearest, halves to even). ONNX Resize is one `resample` an "
       "axis; `resize` is for images."});
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "floats or integers, any shape but []"}};
  def.outputs = {{"y", "shape of x with `size` on the axis"}};
  def.schema = &ResampleAttributes::Schema();
  def.infer = InferResample;
  def.gradient = ResampleGradient;
  def.cost = ResampleCost;
  def.narrow = Narrow::kFollows;
  return def;
}

OpDef resample_grad() {
  OpDef def = Described({"resample_grad", "Computes the gradient of resample.",
                         "Each element of dy is spread with the weights of resample, added in the "
                         "order of dy in f64 and rounded once."});
  def.inputs = {{"dy", "gradient of y"}};
  def.outputs = {{"dx", "gradient of x"}};
  def.schema = &ResampleAttributes::Schema();
  def.infer = InferResampleGrad;
  def.cost = ResampleCost;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
