// Defines color_jitter, which changes brightness, contrast, saturation and hue of each sample at
// random.
#include "src/ops/color_jitter.h"

#include <algorithm>
#include <string>

#include "src/base/random.h"
#include "src/ops/image_input.h"
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {
namespace {

constexpr char kFactorDoc[] =
    "what it is multiplied by: one number d for [1 - d, 1 + d], or `[from, to]`; none: 1";

// `middle` is what changes nothing.
ColorRange::Range RangeOf(const RealList& list, double middle) {
  if (list.empty()) return {middle, middle};
  if (list.size() == 2) return {list[0], list[1]};
  return {middle == 0 ? -list[0] : std::max(0.0, middle - list[0]), middle + list[0]};
}

}  // namespace

const AttributeSchema& ColorJitterAttributes::Schema() {
  static const AttributeSchema schema =
      SchemaBuilder<ColorJitterAttributes>()
          .Add("brightness", &ColorJitterAttributes::brightness, kFactorDoc)
          .AtLeast(0)
          .Add("contrast", &ColorJitterAttributes::contrast, kFactorDoc)
          .AtLeast(0)
          .Add("saturation", &ColorJitterAttributes::saturation, kFactorDoc)
          .AtLeast(0)
          .Add("hue", &ColorJitterAttributes::hue,
               "how far colours move around the colour circle, of which 1 is all: one number d for "
               "[-d, d], or `[from, to]`; none: 0")
          .AtLeast(-0.5)
          .AtMost(0.5)
          .Add("key", &ColorJitterAttributes::key, "key of the random numbers")
          .Internal()
          .Add("varied", &ColorJitterAttributes::varied, "whether any sample changes")
          .Internal()
          .Build();
  return schema;
}

ColorRange ColorRange::Of(const ColorJitterAttributes& attributes) {
  ColorRange range;
  range.key = static_cast<uint64_t>(attributes.key);
  if (!attributes.varied) return range;
  range.ranges = {RangeOf(attributes.brightness, 1), RangeOf(attributes.contrast, 1),
                  RangeOf(attributes.saturation, 1), RangeOf(attributes.hue, 0)};
  return range;
}

ColorChange ColorRange::ChangeOf(uint64_t step, int64_t n) const {
  const std::array<uint32_t, 4> words = Philox(key, step, static_cast<uint64_t>(n));
  const auto draw = [&](size_t i) {
    return ranges[i].from + (ranges[i].to - ranges[i].from) * UniformFloat(words[i]);
  };
  return {draw(0), draw(1), draw(2), draw(3)};
}

namespace op_def {
namespace {

// The result is empty where nothing is wrong.
std::string FaultOfRanges(const ColorJitterAttributes& a) {
  for (const RealList* list : {&a.brightness, &a.contrast, &a.saturation, &a.hue}) {
    if (list->size() > 2) return "a range has 1 or 2 numbers";
    if (list->size() == 2 && (*list)[0] > (*list)[1]) {
      return "a range must go from the smaller to the larger number";
    }
  }
  if (a.hue.size() == 1 && a.hue[0] < 0) return "one number for `hue` must be at least 0";
  return "";
}

std::vector<TensorType> InferColorJitter(InferContext& context) {
  const Shape& x = context.shape(0);
  if (x.rank() != 4 || (x[1] != Dim(3) && x[1] != Dim(1)) || x[2].batch || x[3].batch) {
    return context.Fail(
        RankMessage("color_jitter", "[N, 3, height, width] or [N, 1, height, width]", x));
  }
  if (!ExpectPixels(context)) return {};
  const std::string fault = FaultOfRanges(context.attributes<ColorJitterAttributes>());
  if (!fault.empty()) return context.Fail(fault);
  if (!ExpectStep(context)) return {};
  return {context.input(0)};
}

OpCost ColorJitterCost(const NodeSignature& node) { return {20 * node.inputs[0].shape.Elements()}; }

}  // namespace

OpDef color_jitter() {
  OpDef def;
  def.name = "color_jitter";
  def.summary = "Changes brightness, contrast, saturation and hue at random while training.";
  def.details =
      "While training each sample draws its own four numbers at each step, equally likely from "
      "their ranges, in paths of mode `forward` too; in evaluation y = x. Always in this order, "
      "each result kept within 0 and 1 (uint8 counts as x / 255, and is rounded once, at the end): "
      "brightness·x; then contrast·x + (1 - contrast)·(mean grey of the sample); then "
      "saturation·x + (1 - saturation)·(grey of the pixel); then the hue of the pixel, in HSV, "
      "moved by `hue`. Grey is 0.2989·R + 0.587·G + 0.114·B. Images of one channel are grey: "
      "saturation and hue do not change them. Floating-point images must lie within 0 and 1 "
      "(`normalize` with `scale: 1/255` before it, mean and deviation after it). No gradient flows "
      "through it. What is drawn depends on the run's seed, the operator's name, the step and the "
      "place in the batch alone (Philox4x32-10). torchvision ColorJitter, which draws the order "
      "too.";
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "RGB or grey images, [N, 3 or 1, height, width], uint8 or floating-point"},
                {"step", "step counter, which the compiler adds"}};
  def.outputs = {{"y", "shape and type of x"}};
  def.schema = &ColorJitterAttributes::Schema();
  def.infer = InferColorJitter;
  def.cost = ColorJitterCost;
  def.in_place = {{0, 0}};
  def.needs_step = true;
  def.moves = Moves::kWithin;
  def.bounded = true;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
