// Computes random_erasing: a copy, and then a part of it painted over.
#include "src/ops/random_erasing.h"

#include <algorithm>

#include "src/base/random.h"
#include "src/kernels/reference/bilinear.h"
#include "src/kernels/reference/image_sizes.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

struct RandomErasingParameters : ImageSizes {
  BoxRange range = {};
  uint64_t key = 0;
  double probability = 0;  // 0 where nothing varies
  double value = 0;

  // Returns the part of sample `n` that is erased. If there is none, it is empty.
  Box BoxOf(uint64_t step, int64_t n) const {
    const uint64_t block = static_cast<uint64_t>(n) * kBoxBlocks + kSpareBlock;
    const double drawn = UniformFloat(Philox(key, step, block)[0]);
    if (drawn >= probability) return {};
    return DrawBox(range, key, step, n, height, width).value_or(Box());
  }
};

template <class T>
void Paint(const Box& box, int64_t width, T value, T* plane) {
  for (int64_t row = box.top; row < box.top + box.height; ++row) {
    std::fill_n(plane + row * width + box.left, box.width, value);
  }
}

template <class T>
struct RandomErasing {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const RandomErasingParameters*>(i.parameters);
    const T* x = Data<const T>(context, i, 0);
    const auto step = static_cast<uint64_t>(*Data<const int64_t>(context, i, 1));
    T* y = Data<T>(context, i, 2);
    const T value = RoundPixel<T>(p.value);
    if (x != y) std::copy_n(x, p.samples * p.sample(), y);
    for (int64_t n = 0; n < p.samples; ++n) {
      const Box box = p.BoxOf(step, n);
      for (int64_t c = n * p.planes; c < (n + 1) * p.planes; ++c) {
        Paint(box, p.width, value, y + c * p.plane());
      }
    }
  }
};

PreparedKernel PrepareRandomErasing(const KernelRequest& request) {
  const TensorType& x = request.node.inputs[0];
  const auto& a = request.node.attributes.As<RandomErasingAttributes>();
  RandomErasingParameters p{ImageSizes::Of(x.shape)};
  p.range = BoxRange::Of(a.scale, a.ratio);
  p.key = static_cast<uint64_t>(a.key);
  p.probability = a.varied ? a.probability : 0;
  p.value = a.value;
  return PreparedKernel::Of(ForPixels<RandomErasing>(x.dtype), p);
}

}  // namespace

KernelDef random_erasing() {
  return {.name = "reference.random_erasing",
          .supports = HasReferencePixels,
          .prepare = PrepareRandomErasing};
}

}  // namespace cgrun::reference
