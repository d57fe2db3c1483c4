// Packs bytes as rows of 16-bit integers, which integer_tiles.h multiplies.
#ifndef CGRUN_KERNELS_CPU_INTEGER_ROWS_H_
#define CGRUN_KERNELS_CPU_INTEGER_ROWS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace cgrun::cpu {

inline constexpr int64_t kIntegerTile = 4;  // rows and columns of a tile

// Rows are as long as whole vectors of every instruction set, with zeros at their ends.
constexpr int64_t IntegerRowWidth(int64_t depth) { return (depth + 31) / 32 * 32; }

// A tile reads whole groups of columns. Those behind the last one are never stored.
constexpr int64_t WholeIntegerTiles(int64_t columns) {
  return (columns + kIntegerTile - 1) / kIntegerTile * kIntegerTile;
}

// Copies `depth` bytes, `stride` apart, less their zero point, and the zeros behind them.
template <class Byte>
void PackBytes(const Byte* from, int64_t stride, int64_t depth, int32_t zero, int16_t* to) {
  if (stride == 1) {
#pragma omp simd
    for (int64_t k = 0; k < depth; ++k) to[k] = static_cast<int16_t>(from[k] - zero);
  } else {
    for (int64_t k = 0; k < depth; ++k) to[k] = static_cast<int16_t>(from[k * stride] - zero);
  }
  std::fill(to + depth, to + IntegerRowWidth(depth), int16_t{0});
}

inline void PackIntegerRow(const std::byte* from, bool is_signed, int64_t stride, int64_t depth,
                           int32_t zero, int16_t* to) {
  if (is_signed) return PackBytes(reinterpret_cast<const int8_t*>(from), stride, depth, zero, to);
  PackBytes(reinterpret_cast<const uint8_t*>(from), stride, depth, zero, to);
}

}  // namespace cgrun::cpu

#endif  // CGRUN_KERNELS_CPU_INTEGER_ROWS_H_
