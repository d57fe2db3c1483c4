// Computes rotate, random_rotate and their gradients, sample by sample.
#include "src/ops/rotate.h"

#include <cmath>
#include <numbers>

#include "src/kernels/reference/bilinear.h"
#include "src/kernels/reference/image_sizes.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

struct RotateParameters : ImageSizes {
  Turn turn = {};
  bool has_step = false;
  double fill = 0;
};

struct Direction {
  double cosine = 1;
  double sine = 0;
};

// Exact for multiples of 90 degrees.
Direction DirectionOf(double degrees) {
  const double quarters = degrees / 90, whole = std::nearbyint(quarters);
  if (quarters == whole) {
    constexpr Direction kQuarters[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    return kQuarters[static_cast<int64_t>(whole) & 3];
  }
  const double angle = degrees * (std::numbers::pi / 180);
  return {std::cos(angle), std::sin(angle)};
}

// Calls f(pixel, taps) for each pixel of y. The taps say where in a plane of x it comes from.
template <class F>
void ForEachPixel(const RotateParameters& p, double degrees, F f) {
  const Direction d = DirectionOf(degrees);
  const double middle_y = static_cast<double>(p.height - 1) / 2;
  const double middle_x = static_cast<double>(p.width - 1) / 2;
  for (int64_t pixel = 0, i = 0; i < p.height; ++i) {
    for (int64_t j = 0; j < p.width; ++j, ++pixel) {
      const double y = static_cast<double>(i) - middle_y, x = static_cast<double>(j) - middle_x;
      f(pixel, TapsAt(x * d.sine + y * d.cosine + middle_y, x * d.cosine - y * d.sine + middle_x,
                      p.height, p.width));
    }
  }
}

uint64_t StepOf(const RunContext& context, const Instruction& i, const RotateParameters& p) {
  return p.has_step ? static_cast<uint64_t>(*Data<const int64_t>(context, i, 1)) : 0;
}

template <class T>
struct Rotate {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const RotateParameters*>(i.parameters);
    const uint64_t step = StepOf(context, i, p);
    const T* x = Data<const T>(context, i, 0);
    T* y = Data<T>(context, i, p.has_step ? 2 : 1);
    for (int64_t n = 0; n < p.samples; ++n) {
      ForEachPixel(p, p.turn.DegreesOf(step, n), [=, &p](int64_t pixel, const FourTaps& taps) {
        for (int64_t plane = 0; plane < p.planes; ++plane) {
          y[plane * p.plane() + pixel] =
              RoundPixel<T>(ReadTaps(taps, x + plane * p.plane(), p.fill));
        }
      });
      x += p.sample();
      y += p.sample();
    }
  }
};

// The workspace holds the sums of a sample.
template <class T>
struct RotateGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const RotateParameters*>(i.parameters);
    const uint64_t step = StepOf(context, i, p);
    const T* dy = Data<const T>(context, i, 0);
    T* dx = Data<T>(context, i, p.has_step ? 2 : 1);
    double* sums = Data<double>(context, i, p.has_step ? 3 : 2);
    const int64_t elements = p.sample();
    for (int64_t n = 0; n < p.samples; ++n, dy += elements, dx += elements) {
      std::fill_n(sums, elements, 0.0);
      ForEachPixel(p, p.turn.DegreesOf(step, n), [=, &p](int64_t pixel, const FourTaps& taps) {
        for (int64_t plane = 0; plane < elements; plane += p.plane()) {
          SpreadTaps(taps, LoadF64(dy[plane + pixel]), sums + plane);
        }
      });
      for (int64_t e = 0; e < elements; ++e) dx[e] = StoreF64<T>(sums[e]);
    }
  }
};

template <class A>
RotateParameters PackRotate(const NodeSignature& node) {
  const Shape& x = node.inputs[0].shape;
  const auto& attributes = node.attributes.As<A>();
  RotateParameters p{ImageSizes::Of(x)};
  p.turn = Turn::Of(attributes);
  p.has_step = node.inputs.size() > 1;
  p.fill = attributes.fill;
  return p;
}

template <class A>
PreparedKernel PrepareRotate(const KernelRequest& request) {
  return PreparedKernel::Of(ForPixels<Rotate>(request.node.inputs[0].dtype),
                            PackRotate<A>(request.node));
}

template <class A>
PreparedKernel PrepareRotateGrad(const KernelRequest& request) {
  return PreparedKernel::Of(ForFloat<RotateGrad>(request.node.inputs[0].dtype),
                            PackRotate<A>(request.node));
}

}  // namespace

KernelDef rotate() {
  return {.name = "reference.rotate",
          .supports = HasReferencePixels,
          .prepare = PrepareRotate<RotateAttributes>};
}
KernelDef rotate_grad() {
  return {.name = "reference.rotate_grad",
          .supports = FirstInputIsFloat,
          .workspace_bytes = SampleSumsBytes,
          .prepare = PrepareRotateGrad<RotateAttributes>};
}
KernelDef random_rotate() {
  return {.name = "reference.random_rotate",
          .supports = HasReferencePixels,
          .prepare = PrepareRotate<RandomRotateAttributes>};
}
KernelDef random_rotate_grad() {
  return {.name = "reference.random_rotate_grad",
          .supports = FirstInputIsFloat,
          .workspace_bytes = SampleSumsBytes,
          .prepare = PrepareRotateGrad<RandomRotateAttributes>};
}

}  // namespace cgrun::reference
