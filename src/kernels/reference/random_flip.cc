// Computes random_flip. Each sample gets a plain copy, or a strided one that walks some axes from
// the end.
#include "src/ops/random_flip.h"

#include <algorithm>
#include <utility>

#include "src/base/check.h"
#include "src/base/random.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"
#include "src/kernels/strided.h"
#include "src/ops/infer.h"

namespace cgrun::reference {
namespace {

struct RandomFlipParameters {
  StridedSpace<2> flipped;  // of a sample: where an element comes from, and where it goes
  int64_t base = 0;         // the source of the first one
  int64_t samples = 0;
  int64_t elements = 0;  // of a sample
  uint64_t key = 0;
  double probability = 0;  // 0 where nothing varies
};

template <class Bits>
struct RandomFlip {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const RandomFlipParameters*>(i.parameters);
    const Bits* x = Data<const Bits>(context, i, 0);
    const auto step = static_cast<uint64_t>(*Data<const int64_t>(context, i, 1));
    Bits* y = Data<Bits>(context, i, 2);
    for (int64_t n = 0; n < p.samples; ++n, x += p.elements, y += p.elements) {
      const float drawn = UniformFloat(RandomBits(p.key, step, static_cast<uint64_t>(n)));
      if (static_cast<double>(drawn) >= p.probability) {
        std::copy_n(x, p.elements, y);
      } else {
        ForEachIndex(p.flipped, {p.base, 0}, [=](const auto& at) { y[at[1]] = x[at[0]]; });
      }
    }
  }
};

PreparedKernel PrepareRandomFlip(const KernelRequest& request) {
  const TensorType& x = request.node.inputs[0];
  const auto& attributes = request.node.attributes.As<RandomFlipAttributes>();
  const auto axes = NormalizeAxes(attributes.axes, x.shape.rank());
  CGRUN_CHECK(axes.has_value());
  const Shape sample(std::vector<Dim>(x.shape.begin() + 1, x.shape.end()));
  const std::vector<int64_t> to = RowMajorStrides(sample);
  std::vector<int64_t> from = to;
  RandomFlipParameters p;
  for (int axis : *axes) {
    int64_t& stride = from[static_cast<size_t>(axis - 1)];
    p.base += (x.shape[axis].size - 1) * stride;
    stride = -stride;
  }
  p.flipped = MakeSpace<2>(sample.Sizes(), {from, to});
  p.samples = x.shape[0].size;
  p.elements = sample.Elements();
  p.key = static_cast<uint64_t>(attributes.key);
  p.probability = attributes.varied ? attributes.probability : 0;
  return PreparedKernel::Of(ForBytes<RandomFlip>(SizeOf(x.dtype)), std::move(p));
}

}  // namespace

KernelDef random_flip() { return {.name = "reference.random_flip", .prepare = PrepareRandomFlip}; }

}  // namespace cgrun::reference
