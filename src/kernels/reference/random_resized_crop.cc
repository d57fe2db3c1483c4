// Computes random_resized_crop and its gradient, sample by sample.
#include "src/ops/random_resized_crop.h"

#include <algorithm>

#include "src/kernels/reference/bilinear.h"
#include "src/kernels/reference/image_sizes.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

struct RandomResizedCropParameters : ImageSizes {  // of x
  CropChoice choice = {};
  int64_t new_height = 0;  // of y
  int64_t new_width = 0;

  int64_t new_plane() const { return new_height * new_width; }
};

// Returns where pixel `i` of `to` lies on `from` pixels that begin at `first`.
double PlaceOf(int64_t i, int64_t first, int64_t from, int64_t to) {
  const double place =
      (static_cast<double>(i) + 0.5) * static_cast<double>(from) / static_cast<double>(to) - 0.5;
  return static_cast<double>(first) + std::clamp(place, 0.0, static_cast<double>(from - 1));
}

// Calls f(pixel, taps) for each pixel of y. The taps say where in a plane of x it comes from.
template <class F>
void ForEachPixel(const RandomResizedCropParameters& p, const Box& box, F f) {
  for (int64_t pixel = 0, i = 0; i < p.new_height; ++i) {
    const double y = PlaceOf(i, box.top, box.height, p.new_height);
    for (int64_t j = 0; j < p.new_width; ++j, ++pixel) {
      f(pixel, TapsAt(y, PlaceOf(j, box.left, box.width, p.new_width), p.height, p.width));
    }
  }
}

template <class T>
struct Crop {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const RandomResizedCropParameters*>(i.parameters);
    const T* x = Data<const T>(context, i, 0);
    const auto step = static_cast<uint64_t>(*Data<const int64_t>(context, i, 1));
    T* y = Data<T>(context, i, 2);
    for (int64_t n = 0; n < p.samples; ++n) {
      const Box box = p.choice.BoxOf(step, n, p.height, p.width);
      ForEachPixel(p, box, [=, &p](int64_t pixel, const FourTaps& taps) {
        for (int64_t plane = 0; plane < p.planes; ++plane) {
          y[plane * p.new_plane() + pixel] =
              RoundPixel<T>(ReadTaps(taps, x + plane * p.plane(), 0));
        }
      });
      x += p.sample();
      y += p.planes * p.new_plane();
    }
  }
};

// The workspace holds the sums of a sample.
template <class T>
struct CropGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const RandomResizedCropParameters*>(i.parameters);
    const T* dy = Data<const T>(context, i, 0);
    const auto step = static_cast<uint64_t>(*Data<const int64_t>(context, i, 1));
    T* dx = Data<T>(context, i, 2);
    double* sums = Data<double>(context, i, 3);
    const int64_t elements = p.sample();
    for (int64_t n = 0; n < p.samples; ++n) {
      std::fill_n(sums, elements, 0.0);
      const Box box = p.choice.BoxOf(step, n, p.height, p.width);
      ForEachPixel(p, box, [=, &p](int64_t pixel, const FourTaps& taps) {
        for (int64_t plane = 0; plane < p.planes; ++plane) {
          SpreadTaps(taps, LoadF64(dy[plane * p.new_plane() + pixel]), sums + plane * p.plane());
        }
      });
      for (int64_t e = 0; e < elements; ++e) dx[e] = StoreF64<T>(sums[e]);
      dy += p.planes * p.new_plane();
      dx += elements;
    }
  }
};

template <class A>
RandomResizedCropParameters PackRandomResizedCrop(const A& a, const Shape& x) {
  RandomResizedCropParameters p{ImageSizes::Of(x)};
  p.choice = {BoxRange::Of(a.scale, a.ratio), static_cast<uint64_t>(a.key), a.varied,
              static_cast<double>(a.size[1]) / static_cast<double>(a.size[0])};
  p.new_height = a.size[0];
  p.new_width = a.size[1];
  return p;
}

PreparedKernel PrepareRandomResizedCrop(const KernelRequest& request) {
  const TensorType& x = request.node.inputs[0];
  return PreparedKernel::Of(
      ForPixels<Crop>(x.dtype),
      PackRandomResizedCrop(request.node.attributes.As<RandomResizedCropAttributes>(), x.shape));
}

PreparedKernel PrepareRandomResizedCropGrad(const KernelRequest& request) {
  const TensorType& dx = request.node.outputs[0];
  return PreparedKernel::Of(
      ForFloat<CropGrad>(dx.dtype),
      PackRandomResizedCrop(request.node.attributes.As<RandomResizedCropGradAttributes>(),
                            dx.shape));
}

}  // namespace

KernelDef random_resized_crop() {
  return {.name = "reference.random_resized_crop",
          .supports = HasReferencePixels,
          .prepare = PrepareRandomResizedCrop};
}
KernelDef random_resized_crop_grad() {
  return {.name = "reference.random_resized_crop_grad",
          .supports = FirstInputIsFloat,
          .workspace_bytes = SampleSumsBytes,
          .prepare = PrepareRandomResizedCropGrad};
}

}  // namespace cgrun::reference
