// Emits operators of images: cut, turned, resized, of other colours, and convolutions that enlarge
// them.
#include "src/autodiff/autodiff.h"
#include "src/ir/op_def.h"
#include "src/ops/color_jitter.h"
#include "src/ops/conv_transpose.h"
#include "src/ops/crop.h"
#include "src/ops/flip.h"
#include "src/ops/random_crop.h"
#include "src/ops/random_erasing.h"
#include "src/ops/random_flip.h"
#include "src/ops/random_resized_crop.h"
#include "src/ops/reshape.h"
#include "src/ops/resize.h"
#include "src/ops/rotate.h"
#include "tests/support/random_operators.h"

namespace cgrun {

bool RandomOperators::EmitResize() {
  const ValueId x = AnyValueWhere([&](ValueId id) { return ShapeOf(id).rank() == 4; });
  return x.valid() &&
         TryEmit(OpId::resize, Attributes::Of(ResizeAttributes{{2, 3}, "bilinear"}), {x});
}

bool RandomOperators::EmitCrop() {
  const ValueId x = AnyMatrix();
  if (!x.valid()) return false;
  CropAttributes crop;
  for (int axis : {-2, -1}) {
    const int64_t size = ShapeOf(x)[ShapeOf(x).rank() + axis].size;
    crop.size.push_back(dice_.Between(1, size));
    crop.offset.push_back(dice_.Between(0, size - crop.size.back()));
  }
  if (dice_.OneIn(2)) crop.offset.clear();
  return TryEmit(OpId::crop, Attributes::Of(crop), {x});
}

bool RandomOperators::EmitFlip() {
  const ValueId x = AnyValue();
  const int axis = AnyPlainAxis(x);
  return axis >= 0 && TryEmit(OpId::flip, Attributes::Of(FlipAttributes{{axis}}), {x});
}

bool RandomOperators::EmitAugmented() {
  const ValueId x = AnyValueWhere([&](ValueId id) { return ShapeOf(id).rank() >= 3; });
  if (!x.valid()) return false;
  const int64_t key = dice_.Between(1, 3);
  const bool varied = !dice_.OneIn(4);
  if (dice_.OneIn(2)) {
    const RandomFlipAttributes flip{{-1}, dice_.Of<double>({0.25, 0.5, 1}), key, varied};
    return TryEmit(OpId::random_flip, Attributes::Of(flip), {x, StepCounter(builder_)});
  }
  if (dice_.OneIn(2)) return EmitResampled(x, key, varied);
  RandomCropAttributes crop{{}, key, varied};
  for (int axis : {-2, -1}) {
    crop.size.push_back(dice_.Between(1, ShapeOf(x)[ShapeOf(x).rank() + axis].size));
  }
  return TryEmit(OpId::random_crop, Attributes::Of(crop), {x, StepCounter(builder_)});
}

bool RandomOperators::EmitResampled(ValueId x, int64_t key, bool varied) {
  const ValueId step = StepCounter(builder_);
  const bool gradient = dice_.OneIn(2);
  const RotateAttributes turn{30, gradient ? 0.0 : 1.0};
  const RandomRotateAttributes turns{{50}, turn.fill, key, varied};
  switch (dice_.Between(0, 4)) {
    case 0:
      return TryEmit(gradient ? OpId::rotate_grad : OpId::rotate, Attributes::Of(turn), {x});
    case 1:
      return TryEmit(gradient ? OpId::random_rotate_grad : OpId::random_rotate,
                     Attributes::Of(turns), {x, step});
    case 2:
      return TryEmit(
          OpId::random_erasing,
          Attributes::Of(RandomErasingAttributes{0.7, {0.1, 1}, {0.5, 2}, 1, key, varied}),
          {x, step});
    case 3:
      if (gradient) return EmitCropGradient(x, key, varied);
      return TryEmit(
          OpId::random_resized_crop,
          Attributes::Of(RandomResizedCropAttributes{{2, 3}, {0.2, 1}, {0.5, 2}, key, varied}),
          {x, step});
    default:
      return EmitColorJitter(x, key, varied);
  }
}

bool RandomOperators::EmitCropGradient(ValueId x, int64_t key, bool varied) {
  const ValueId step = StepCounter(builder_);
  Shape shape = ShapeOf(x);
  IntList size;
  for (int axis : {shape.rank() - 2, shape.rank() - 1}) {
    if (shape[axis].batch) return false;
    size.push_back(shape[axis].size);
    ++shape[axis].size;
  }
  switch (dice_.Between(0, 2)) {
    case 0:
      return TryEmit(OpId::random_crop_grad,
                     Attributes::Of(RandomCropGradAttributes{size, key, varied, shape}), {x, step});
    case 1:
      return TryEmit(OpId::random_resized_crop_grad,
                     Attributes::Of(RandomResizedCropGradAttributes{
                         size, {0.2, 1}, {0.5, 2}, key, varied, shape}),
                     {x, step});
    default:
      x = AsImages(x);
      return x.valid() && TryEmit(OpId::resize_grad, Attributes::Of(ResizeAttributes{{3, 2}}), {x});
  }
}

ValueId RandomOperators::AsImages(ValueId x) {
  const Shape shape = ShapeOf(x);
  if (shape.rank() != 3) return x;
  const Shape grey{shape[0], 1, shape[1], shape[2]};
  if (!TryEmit(OpId::reshape, Attributes::Of(ReshapeAttributes{grey}), {x})) return ValueId();
  return AnyValueOfShape(grey);
}

bool RandomOperators::EmitColorJitter(ValueId x, int64_t key, bool varied) {
  x = AsImages(x);
  return x.valid() &&
         TryEmit(OpId::color_jitter,
                 Attributes::Of(ColorJitterAttributes{{0.4}, {0.4}, {0.4}, {0.2}, key, varied}),
                 {x, StepCounter(builder_)});
}

bool RandomOperators::EmitConvTranspose() {
  const ValueId x = AnyValueWhere([&](ValueId id) { return ShapeOf(id).rank() == 4; });
  if (!x.valid() || ShapeOf(x)[1].batch) return false;
  ConvTransposeAttributes up;
  up.filters = dice_.Between(1, 2);
  up.kernel = {dice_.Between(1, 2), dice_.Between(1, 3)};
  up.stride = {dice_.Between(1, 2), dice_.Between(1, 2)};
  up.output_padding = {dice_.Between(0, up.stride[0] - 1), 0};
  up.bias = dice_.OneIn(2);
  std::vector<ValueId> inputs = {x,
                                 AddState({ShapeOf(x)[1], up.filters, up.kernel[0], up.kernel[1]})};
  if (up.bias) inputs.push_back(AddState({up.filters}));
  return TryEmit(OpId::conv_transpose, Attributes::Of(up), inputs);
}

}  // namespace cgrun
