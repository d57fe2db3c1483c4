// Transposing matrices in squares that fit in registers and cache lines. Included once for each
// target.
#if defined(CGRUN_KERNELS_CPU_TRANSPOSE_TILES_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CGRUN_KERNELS_CPU_TRANSPOSE_TILES_H_
#undef CGRUN_KERNELS_CPU_TRANSPOSE_TILES_H_
#else
#define CGRUN_KERNELS_CPU_TRANSPOSE_TILES_H_
#endif

#include <algorithm>
#include <cstdint>

#include "src/kernels/cpu/lanes.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {

inline constexpr int64_t kTransposeTile = 16;  // elements of a side: a cache line of f32

template <class Bits>
HWY_INLINE void TransposeTile(const Bits* x, int64_t x_stride, Bits* y, int64_t y_stride,
                              int64_t rows, int64_t columns) {
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t r = 0; r < rows; ++r) y[c * y_stride + r] = x[r * x_stride + c];
  }
}

// f32 as what is only moved.
inline const uint32_t* Bits(const float* floats) {
  return reinterpret_cast<const uint32_t*>(floats);
}
inline uint32_t* Bits(float* floats) { return reinterpret_cast<uint32_t*>(floats); }

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

// Transposes a whole tile by way of a buffer, so that each line of y is written once and as a
// whole. If the lines lie a power of two apart, the first-level cache holds only some of them.
HWY_INLINE void TransposeWhole(const uint32_t* x, int64_t x_stride, uint32_t* y, int64_t y_stride) {
  HWY_ALIGN uint32_t buffer[kTransposeTile * kTransposeTile];
  for (int64_t r = 0; r < kTransposeTile; r += 4) {
    for (int64_t c = 0; c < kTransposeTile; c += 4) {
      TransposeFour(x + r * x_stride + c, x_stride, buffer + c * kTransposeTile + r,
                    kTransposeTile);
    }
  }
  const hn::CappedTag<uint32_t, kTransposeTile> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < kTransposeTile; ++c) {
    for (int64_t r = 0; r < kTransposeTile; r += lanes) {
      hn::StoreU(hn::Load(d, buffer + c * kTransposeTile + r), d, y + c * y_stride + r);
    }
  }
}

// A part of a tile, in squares of four as far as they go.
HWY_INLINE void TransposePart(const uint32_t* x, int64_t x_stride, uint32_t* y, int64_t y_stride,
                              int64_t rows, int64_t columns) {
  const int64_t whole_rows = rows / 4 * 4, whole_columns = columns / 4 * 4;
  for (int64_t r = 0; r < whole_rows; r += 4) {
    for (int64_t c = 0; c < whole_columns; c += 4) {
      TransposeFour(x + r * x_stride + c, x_stride, y + c * y_stride + r, y_stride);
    }
  }
  TransposeTile(x + whole_columns, x_stride, y + whole_columns * y_stride, y_stride, whole_rows,
                columns - whole_columns);
  TransposeTile(x + whole_rows * x_stride, x_stride, y + whole_rows, y_stride, rows - whole_rows,
                columns);
}

// y[c][r] ← x[r][c].
template <class Bits>
HWY_INLINE void TransposeBand(const Bits* x, int64_t x_stride, Bits* y, int64_t y_stride,
                              int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; r += kTransposeTile) {
    for (int64_t c = 0; c < columns; c += kTransposeTile) {
      const Bits* from = x + r * x_stride + c;
      Bits* to = y + c * y_stride + r;
      const int64_t tile_rows = std::min(kTransposeTile, rows - r);
      const int64_t tile_columns = std::min(kTransposeTile, columns - c);
      if constexpr (sizeof(Bits) == 4) {
        if (tile_rows == kTransposeTile && tile_columns == kTransposeTile) {
          TransposeWhole(from, x_stride, to, y_stride);
        } else {
          TransposePart(from, x_stride, to, y_stride, tile_rows, tile_columns);
        }
      } else {
        TransposeTile(from, x_stride, to, y_stride, tile_rows, tile_columns);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#endif  // CGRUN_KERNELS_CPU_TRANSPOSE_TILES_H_
