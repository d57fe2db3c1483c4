// Defines random_crop, which takes another part of each sample, and its gradient. The place of a
// part is a pure function of key, step and sample. The gradient therefore finds it again, and
// order, planner, mode and resume do not change it.
#include "src/ops/random_crop.h"

#include <optional>
#include <string>

#include "src/base/random.h"
#include "src/ops/image_input.h"
#include "src/ops/infer.h"
#include "src/ops/op_definitions.h"

namespace cgrun {
namespace {

template <class T>
SchemaBuilder<T> CropSchema() {
  SchemaBuilder<T> builder;
  builder.Add("size", &T::size, "height and width of what is kept; one value for both")
      .Required()
      .ExpandTo(2)
      .AtLeast(1)
      .Add("key", &T::key, "key of the random numbers")
      .Internal()
      .Add("varied", &T::varied, "whether parts begin anywhere, not in the middle")
      .Internal();
  return builder;
}

}  // namespace

const AttributeSchema& RandomCropAttributes::Schema() {
  static const AttributeSchema schema = CropSchema<RandomCropAttributes>().Build();
  return schema;
}

const AttributeSchema& RandomCropGradAttributes::Schema() {
  static const AttributeSchema schema =
      CropSchema<RandomCropGradAttributes>()
          .Add("shape", &RandomCropGradAttributes::shape, "shape of the input of random_crop")
          .Internal()
          .Build();
  return schema;
}

std::array<int64_t, 2> CropRoom::OffsetOf(uint64_t step, int64_t n) const {
  if (!varied) return {room[0] / 2, room[1] / 2};
  const auto draw = [&](size_t axis) {
    const uint64_t bits = RandomBits(key, step, 2 * static_cast<uint64_t>(n) + axis);
    return static_cast<int64_t>(bits * static_cast<uint64_t>(room[axis] + 1) >> 32);
  };
  return {draw(0), draw(1)};
}

namespace op_def {
namespace {

// Offsets are drawn with 32 bits.
constexpr int64_t kMostSide = int64_t{1} << 31;

// Returns the shape of what is left of images of shape `x`, and reports what is wrong.
std::optional<Shape> PartOf(InferContext& context, const IntList& size, const Shape& x) {
  if (!ExpectImages(context, "random_crop", x)) return std::nullopt;
  if (size.size() != 2) {
    context.Fail("`size` needs 2 numbers");
    return std::nullopt;
  }
  const int rows = x.rank() - 2;
  Shape part = x;
  for (int i : {0, 1}) {
    const int64_t wanted = size[static_cast<size_t>(i)], whole = x[rows + i].size;
    if (wanted > whole || whole > kMostSide) {
      context.Fail("a part " + std::to_string(size[0]) + "x" + std::to_string(size[1]) +
                       " does not lie in the images of " + x.ToString(),
                   "`pad` makes images larger");
      return std::nullopt;
    }
    part.dims()[static_cast<size_t>(rows + i)] = Dim(wanted);
  }
  return part;
}

std::vector<TensorType> InferRandomCrop(InferContext& context) {
  const auto part =
      PartOf(context, context.attributes<RandomCropAttributes>().size, context.shape(0));
  if (!part || !ExpectStep(context)) return {};
  return {{context.dtype(0), *part}};
}

void RandomCropGradient(GradientContext& context) {
  const auto& a = context.attributes<RandomCropAttributes>();
  const RandomCropGradAttributes attributes{a.size, a.key, a.varied, context.input_type(0).shape};
  context.SetInputGradient(0, context.Emit(OpId::random_crop_grad, Attributes::Of(attributes),
                                           {context.output_gradient(0), context.input(1)}, "grad"));
}

std::vector<TensorType> InferRandomCropGrad(InferContext& context) {
  const auto& a = context.attributes<RandomCropGradAttributes>();
  const auto part = PartOf(context, a.size, a.shape);
  if (!part) return {};
  if (!CountElements(a.shape)) return context.Fail(a.shape.ToString() + " is too large");
  if (context.shape(0) != *part) {
    return context.Fail("needs a gradient of shape " + part->ToString() + ", not " +
                        context.shape(0).ToString());
  }
  if (!ExpectStep(context)) return {};
  return {{context.dtype(0), a.shape}};
}

}  // namespace

OpDef random_crop() {
  OpDef def;
  def.name = "random_crop";
  def.summary = "Takes a random part of each image while training.";
  def.details =
      "While training, y[n, …, i, j] = x[n, …, top + i, left + j], where every top from 0 to the "
      "height of x - height is equally likely, and every left likewise; each sample draws its own "
      "at each step, one for all its channels, in paths of mode `forward` too. In evaluation the "
      "part is the one in the middle, as with `crop`. What is drawn depends on the run's seed, the "
      "operator's name, the step and the place in the batch alone (Philox4x32-10). With `pad` "
      "before it, the usual augmentation of small images.";
  def.usage = Usage::kOperator;
  def.inputs = {{"x", "images [N, …, height, width], of any type"},
                {"step", "step counter, which the compiler adds"}};
  def.outputs = {{"y", "[N, …, `size`]"}};
  def.schema = &RandomCropAttributes::Schema();
  def.infer = InferRandomCrop;
  def.gradient = RandomCropGradient;
  def.cost = NoOperations;
  def.needs_step = true;
  def.moves = Moves::kAnywhere;
  def.draws_places = true;
  return def;
}

OpDef random_crop_grad() {
  OpDef def;
  def.name = "random_crop_grad";
  def.summary = "Computes the gradient of random_crop.";
  def.details = "dx is dy where the part was taken, else 0.";
  def.inputs = {{"dy", "gradient of y"}, {"step", "step counter, which the compiler adds"}};
  def.outputs = {{"dx", "gradient of x"}};
  def.schema = &RandomCropGradAttributes::Schema();
  def.infer = InferRandomCropGrad;
  def.cost = NoOperations;
  def.needs_step = true;
  return def;
}

}  // namespace op_def
}  // namespace cgrun
