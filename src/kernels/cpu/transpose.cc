// transpose: rows as they are where the last axis stays, else squares of two axes: the one along
// which x is contiguous and the one along which y is.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/transpose.cc"
#include <hwy/foreach_target.h>
//
#include "src/base/check.h"
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/lanes.h"
#include "src/kernels/cpu/strided_copy.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kTile = 16;  // elements of a side: a cache line of f32
constexpr int64_t kBand = 64;  // columns that a task goes down: some lines side by side

// Matrices [rows, columns] that become [columns, rows], in a space of other axes.
struct Parameters {
  StridedSpace<2> matrices;
  int64_t rows = 0, columns = 0;
  int64_t x_stride = 0;  // elements from row to row
  int64_t y_stride = 0;  // elements from column to column
  int threads = 1;
};

template <class Bits>
HWY_INLINE void TransposeTile(const Bits* x, int64_t x_stride, Bits* y, int64_t y_stride,
                              int64_t rows, int64_t columns) {
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t r = 0; r < rows; ++r) y[c * y_stride + r] = x[r * x_stride + c];
  }
}

// 4 × 4 elements of 32 bits.
HWY_INLINE void TransposeFour(const uint32_t* x, int64_t x_stride, uint32_t* y, int64_t y_stride) {
  const hn::FixedTag<uint32_t, 4> d;
  const hn::FixedTag<uint64_t, 2> wide;
  const auto row = [&](int64_t r) { return hn::LoadU(d, x + r * x_stride); };
  const auto a = row(0), b = row(1), c = row(2), e = row(3);
  const auto ab_low = hn::BitCast(wide, hn::InterleaveLower(d, a, b));
  const auto ab_high = hn::BitCast(wide, hn::InterleaveUpper(d, a, b));
  const auto ce_low = hn::BitCast(wide, hn::InterleaveLower(d, c, e));
  const auto ce_high = hn::BitCast(wide, hn::InterleaveUpper(d, c, e));
  const auto store = [&](int64_t column, auto v) {
    hn::StoreU(hn::BitCast(d, v), d, y + column * y_stride);
  };
  store(0, hn::InterleaveLower(wide, ab_low, ce_low));
  store(1, hn::InterleaveUpper(wide, ab_low, ce_low));
  store(2, hn::InterleaveLower(wide, ab_high, ce_high));
  store(3, hn::InterleaveUpper(wide, ab_high, ce_high));
}

// A whole tile by way of a buffer, so that each line of y is written once and as a whole: where
// they lie a power of two apart, the first-level cache holds only some of them.
HWY_INLINE void TransposeWhole(const uint32_t* x, int64_t x_stride, uint32_t* y, int64_t y_stride) {
  HWY_ALIGN uint32_t buffer[kTile * kTile];
  for (int64_t r = 0; r < kTile; r += 4) {
    for (int64_t c = 0; c < kTile; c += 4) {
      TransposeFour(x + r * x_stride + c, x_stride, buffer + c * kTile + r, kTile);
    }
  }
  const hn::CappedTag<uint32_t, kTile> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < kTile; ++c) {
    for (int64_t r = 0; r < kTile; r += lanes) {
      hn::StoreU(hn::Load(d, buffer + c * kTile + r), d, y + c * y_stride + r);
    }
  }
}

template <class Bits>
HWY_INLINE void TransposeBand(const Bits* x, int64_t x_stride, Bits* y, int64_t y_stride,
                              int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; r += kTile) {
    for (int64_t c = 0; c < columns; c += kTile) {
      const Bits* from = x + r * x_stride + c;
      Bits* to = y + c * y_stride + r;
      const int64_t tile_rows = std::min(kTile, rows - r);
      const int64_t tile_columns = std::min(kTile, columns - c);
      if constexpr (sizeof(Bits) == 4) {
        if (tile_rows == kTile && tile_columns == kTile) {
          TransposeWhole(from, x_stride, to, y_stride);
          continue;
        }
      }
      TransposeTile(from, x_stride, to, y_stride, tile_rows, tile_columns);
    }
  }
}

// A task is a band of columns of one matrix.
template <class Bits>
void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const Bits* x = Data<const Bits>(context, i, 0);
  Bits* y = Data<Bits>(context, i, 1);
  const int64_t bands = (p.columns + kBand - 1) / kBand;
  const auto& [matrices, strides] = p.matrices.inner;
  const int64_t tasks = p.matrices.outer_count * matrices * bands;
  Split(p.threads, tasks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t matrix = task / bands, c = task % bands * kBand;
      const auto at = RowOffsets(p.matrices, {0, 0}, matrix / matrices);
      const Bits* from = x + at[0] + matrix % matrices * strides[0] + c;
      Bits* to = y + at[1] + matrix % matrices * strides[1] + c * p.y_stride;
      TransposeBand(from, p.x_stride, to, p.y_stride, p.rows, std::min(kBand, p.columns - c));
    }
  });
}

// The axes of a plan but for two become the space of the matrices.
Parameters Pack(const StridedSpace<2>& space, int threads) {
  Parameters p;
  p.threads = threads;
  p.rows = space.inner.size;
  p.x_stride = space.inner.strides[0];
  std::vector<int64_t> sizes;
  std::array<std::vector<int64_t>, 2> strides;
  for (const auto& axis : space.outer) {
    if (axis.strides[0] == 1) {
      p.columns = axis.size;
      p.y_stride = axis.strides[1];
      continue;
    }
    sizes.push_back(axis.size);
    strides[0].push_back(axis.strides[0]);
    strides[1].push_back(axis.strides[1]);
  }
  CGRUN_CHECK(p.columns > 0) << "no axis along which x is contiguous";
  p.matrices = reference::MakeSpace<2>(sizes, strides);
  return p;
}

PreparedKernel Prepare(const KernelRequest& request) {
  reference::CopyPlan plan = reference::PlanTranspose(request.node);
  if (plan.space.inner.size == 1 || plan.space.inner.strides[0] == 1) {
    return PrepareCopy(request, std::move(plan));
  }
  const Parameters p = Pack(plan.space, ThreadsFor(request));
  switch (SizeOf(request.node.inputs[0].dtype)) {
    case 1:
      return PreparedKernel::Of(&Run<uint8_t>, p);
    case 2:
      return PreparedKernel::Of(&Run<uint16_t>, p);
    case 4:
      return PreparedKernel::Of(&Run<uint32_t>, p);
    default:
      return PreparedKernel::Of(&Run<uint64_t>, p);
  }
}

KernelDef transpose() { return {.name = "cpu.transpose", .prepare = Prepare}; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(transpose)

}  // namespace cgrun::cpu
#endif
