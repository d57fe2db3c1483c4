// Computes random_crop and its gradient: rows are moved as they are, from or to where each sample's
// part is.
#include "src/ops/random_crop.h"

#include <algorithm>

#include "src/kernels/reference/image_sizes.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"

namespace cgrun::reference {
namespace {

struct RandomCropParameters : ImageSizes {
  CropRoom room = {};
  int64_t part_height = 0;
  int64_t part_width = 0;

  // Calls f(image, part) for each row of the part, with where the row begins in the images and in
  // the parts.
  template <class F>
  void ForEachRow(uint64_t step, F f) const {
    int64_t part = 0;
    for (int64_t n = 0; n < samples; ++n) {
      const auto [top, left] = room.OffsetOf(step, n);
      for (int64_t plane = n * planes; plane < (n + 1) * planes; ++plane) {
        for (int64_t row = 0; row < part_height; ++row, part += part_width) {
          f((plane * height + top + row) * width + left, part);
        }
      }
    }
  }
};

template <class Bits>
struct RandomCrop {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const RandomCropParameters*>(i.parameters);
    const Bits* x = Data<const Bits>(context, i, 0);
    const auto step = static_cast<uint64_t>(*Data<const int64_t>(context, i, 1));
    Bits* y = Data<Bits>(context, i, 2);
    p.ForEachRow(
        step, [&](int64_t image, int64_t part) { std::copy_n(x + image, p.part_width, y + part); });
  }
};

// Zero bits are the number 0.
template <class Bits>
struct RandomCropGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const RandomCropParameters*>(i.parameters);
    const Bits* dy = Data<const Bits>(context, i, 0);
    const auto step = static_cast<uint64_t>(*Data<const int64_t>(context, i, 1));
    Bits* dx = Data<Bits>(context, i, 2);
    std::fill_n(dx, p.samples * p.sample(), Bits(0));
    p.ForEachRow(step, [&](int64_t image, int64_t part) {
      std::copy_n(dy + part, p.part_width, dx + image);
    });
  }
};

RandomCropParameters PackRandomCrop(const Shape& images, const Shape& parts, int64_t key,
                                    bool varied) {
  const int rows = images.rank() - 2;
  RandomCropParameters p{ImageSizes::Of(images)};
  p.part_height = parts[rows].size;
  p.part_width = parts[rows + 1].size;
  p.room = {static_cast<uint64_t>(key), varied, {p.height - p.part_height, p.width - p.part_width}};
  return p;
}

PreparedKernel PrepareRandomCrop(const KernelRequest& request) {
  const TensorType &x = request.node.inputs[0], &y = request.node.outputs[0];
  const auto& a = request.node.attributes.As<RandomCropAttributes>();
  return PreparedKernel::Of(ForBytes<RandomCrop>(SizeOf(x.dtype)),
                            PackRandomCrop(x.shape, y.shape, a.key, a.varied));
}

PreparedKernel PrepareRandomCropGrad(const KernelRequest& request) {
  const TensorType &dy = request.node.inputs[0], &dx = request.node.outputs[0];
  const auto& a = request.node.attributes.As<RandomCropGradAttributes>();
  return PreparedKernel::Of(ForBytes<RandomCropGrad>(SizeOf(dx.dtype)),
                            PackRandomCrop(dx.shape, dy.shape, a.key, a.varied));
}

}  // namespace

KernelDef random_crop() { return {.name = "reference.random_crop", .prepare = PrepareRandomCrop}; }
KernelDef random_crop_grad() {
  return {.name = "reference.random_crop_grad", .prepare = PrepareRandomCropGrad};
}

}  // namespace cgrun::reference
