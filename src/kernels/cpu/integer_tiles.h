// Products of rows of 16-bit integers, whose sums are exact. Bytes are widened and their zero
// points are taken off first, so that factors lie in ±255: products of pairs fit int32, whatever
// the instruction set does with them. Each target of Highway includes this file once.
#if defined(CGRUN_KERNELS_CPU_INTEGER_TILES_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CGRUN_KERNELS_CPU_INTEGER_TILES_H_
#undef CGRUN_KERNELS_CPU_INTEGER_TILES_H_
#else
#define CGRUN_KERNELS_CPU_INTEGER_TILES_H_
#endif

#include <algorithm>
#include <cstdint>

#include "src/kernels/cpu/highway_target.h"
#include "src/kernels/cpu/integer_rows.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Adds the lanes as unsigned numbers: a sum beyond int32 wraps around, as ONNX has it.
inline int32_t SumOfIntegers(hn::Vec<hn::ScalableTag<int32_t>> sums) {
  const hn::ScalableTag<uint32_t> d;
  HWY_ALIGN uint32_t lanes[hn::MaxLanes(d)];
  hn::Store(hn::BitCast(d, sums), d, lanes);
  uint32_t sum = 0;
  for (size_t i = 0; i < hn::Lanes(d); ++i) sum += lanes[i];
  return static_cast<int32_t>(sum);
}

// y[r][c] = Σₖ rows[r][k]·columns[c][k] of kRows rows and kIntegerTile columns, which lie one after
// the other. Lanes are added in any order: integers do not mind.
template <int kRows>
void IntegerTile(const int16_t* rows, const int16_t* columns, int64_t width, int64_t count,
                 int32_t* y, int64_t y_stride) {
  const hn::ScalableTag<int16_t> d16;
  const hn::RepartitionToWide<decltype(d16)> d32;
  using Sums = hn::Vec<decltype(d32)>;
  Sums sums[kRows][kIntegerTile], others[kRows][kIntegerTile];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int c = 0; c < kIntegerTile; ++c) sums[r][c] = others[r][c] = hn::Zero(d32);
  }
  const auto lanes = static_cast<int64_t>(hn::Lanes(d16));
  for (int64_t k = 0; k < width; k += lanes) {
    hn::Vec<decltype(d16)> of_columns[kIntegerTile];
#pragma GCC unroll 4
    for (int c = 0; c < kIntegerTile; ++c) of_columns[c] = hn::LoadU(d16, columns + c * width + k);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const auto row = hn::LoadU(d16, rows + r * width + k);
#pragma GCC unroll 4
      for (int c = 0; c < kIntegerTile; ++c) {
        sums[r][c] =
            hn::ReorderWidenMulAccumulate(d32, row, of_columns[c], sums[r][c], others[r][c]);
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < static_cast<int>(count); ++c) {
      y[r * y_stride + c] = SumOfIntegers(hn::Add(sums[r][c], others[r][c]));
    }
  }
}

// Returns the most rows of a tile whose sums fit in the registers.
inline constexpr int64_t kIntegerTileRows = HWY_TARGET == HWY_AVX3 ? 4 : 2;

// y[r][c] for packed rows and packed columns.
inline void MultiplyIntegerRows(const int16_t* rows, int64_t row_count, const int16_t* columns,
                                int64_t column_count, int64_t width, int32_t* y, int64_t y_stride) {
  constexpr decltype(&IntegerTile<1>) kTiles[] = {&IntegerTile<1>, &IntegerTile<2>, &IntegerTile<3>,
                                                  &IntegerTile<4>};
  for (int64_t c = 0; c < column_count; c += kIntegerTile) {
    const int64_t count = std::min<int64_t>(kIntegerTile, column_count - c);
    for (int64_t r = 0; r < row_count; r += kIntegerTileRows) {
      const int64_t height = std::min(kIntegerTileRows, row_count - r);
      kTiles[height - 1](rows + r * width, columns + c * width, width, count, y + r * y_stride + c,
                         y_stride);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#endif  // CGRUN_KERNELS_CPU_INTEGER_TILES_H_
