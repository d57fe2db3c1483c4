// Computes resize, plane by plane: bilinear f32 (rows first, into the workspace, then columns), and
// nearest of any number type.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/resize.cc"
#include <hwy/foreach_target.h>
//
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/map.h"
#include "src/kernels/cpu/resize_taps.h"
#include "src/kernels/cpu/sums.h"
#include "src/kernels/reference/number.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

struct Parameters : ResizePlanes {
  std::vector<float> column_weights;
  int threads = 1;
};

template <class Bits>
struct Nearest {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const Parameters*>(i.parameters);
    const Bits* x = Data<const Bits>(context, i, 0);
    Bits* y = Data<Bits>(context, i, 1);
    const size_t width = p.columns.size();
    Split(p.threads, p.planes, 1, [&, x, y, width](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) {
        Bits* to = y + n * p.outputs();
        for (size_t row = 0; row < p.rows.size(); ++row, to += width) {
          if (row > 0 && p.rows.low[row] == p.rows.low[row - 1]) {
            std::copy_n(to - width, width, to);
            continue;
          }
          const Bits* from = x + n * p.inputs() + p.rows.low[row] * p.columns.original;
          for (size_t c = 0; c < width; ++c) to[c] = from[p.columns.low[c]];
        }
      }
    });
  }
};

// Returns the row that lies between two rows of the image. If the two are the same row, it returns
// that row. Otherwise it fills `between`.
const float* BetweenRows(const Parameters& p, const float* image, size_t row, float* between) {
  const int64_t width = p.columns.original;
  const float* low = image + p.rows.low[row] * width;
  const float* high = image + p.rows.high[row] * width;
  if (low == high) return low;
  const auto weight = static_cast<float>(p.rows.weight[row]);
  Sweep(F32(), std::array{low, high}, std::array{between}, 0, width,
        [weight](F32 d, const VF32* x, VF32* y) {
          y[0] = hn::MulAdd(hn::Sub(x[1], x[0]), hn::Set(d, weight), x[0]);
        });
  return between;
}

// Equal ends give the very same value.
void BetweenColumns(const Parameters& p, const float* line, float* y) {
  const F32 d;
  const hn::Rebind<int32_t, F32> di;
  const size_t width = p.columns.size();
  size_t c = 0;
  for (; c + kF32Lanes <= width; c += kF32Lanes) {
    const VF32 low = hn::GatherIndex(d, line, hn::LoadU(di, p.columns.low.data() + c));
    const VF32 high = hn::GatherIndex(d, line, hn::LoadU(di, p.columns.high.data() + c));
    const VF32 weight = hn::LoadU(d, p.column_weights.data() + c);
    hn::StoreU(hn::MulAdd(hn::Sub(high, low), weight, low), d, y + c);
  }
  for (; c < width; ++c) {
    const float low = line[p.columns.low[c]], high = line[p.columns.high[c]];
    y[c] = low + (high - low) * p.column_weights[c];
  }
}

void Bilinear(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const float* x = Data<const float>(context, i, 0);
  float* y = Data<float>(context, i, 1);
  float* workspace = Data<float>(context, i, 2);
  SplitParts(p.threads, p.planes, 1, [&, x, y, workspace](int part, int64_t begin, int64_t end) {
    float* between = workspace + part * p.columns.original;
    for (int64_t n = begin; n < end; ++n) {
      float* to = y + n * p.outputs();
      for (size_t row = 0; row < p.rows.size(); ++row, to += p.columns.size()) {
        BetweenColumns(p, BetweenRows(p, x + n * p.inputs(), row, between), to);
      }
    }
  });
}

bool Supports(const NodeSignature& node) {
  return IsNearest(node) || node.inputs[0].dtype == DType::kF32;
}

PreparedKernel Prepare(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const bool nearest = IsNearest(node);
  Parameters p{ResizePlanesOf(node.inputs[0].shape, node.outputs[0].shape, nearest),
               {},
               ThreadsFor(request, Work::kComputes)};
  p.column_weights.assign(p.columns.weight.begin(), p.columns.weight.end());
  const int64_t bytes = SizeOf(node.inputs[0].dtype);
  return PreparedKernel::Of(nearest ? reference::ForBytes<Nearest>(bytes) : &Bilinear,
                            std::move(p));
}

// A row a thread.
int64_t WorkspaceBytes(const NodeSignature& node, int threads) {
  const int64_t width = node.inputs[0].shape[3].size;
  return IsNearest(node) ? 0 : threads * width * static_cast<int64_t>(sizeof(float));
}

KernelDef resize() {
  return PerElement({.name = "cpu.resize",
                     .supports = Supports,
                     .workspace_bytes = WorkspaceBytes,
                     .prepare = Prepare});
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(resize)

}  // namespace cgrun::cpu
#endif
