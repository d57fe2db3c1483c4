// Defines the micro-kernel of products of matrices: a tile of rows times vectors of columns that
// stays in registers while it goes down the depth. Goto and van de Geijn, Anatomy of
// High-Performance Matrix Multiplication (2008); Van Zee and van de Geijn, BLIS (2015). Each target
// of Highway includes this file once.
#if defined(CGRUN_KERNELS_CPU_PRODUCT_TILE_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CGRUN_KERNELS_CPU_PRODUCT_TILE_H_
#undef CGRUN_KERNELS_CPU_PRODUCT_TILE_H_
#else
#define CGRUN_KERNELS_CPU_PRODUCT_TILE_H_
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "src/kernels/cpu/sums.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {

inline constexpr auto kTileLanes = static_cast<int64_t>(kF32Lanes);
inline constexpr bool kManyRegisters = HWY_TARGET == HWY_AVX3;
inline constexpr int kMostTileVectors = kManyRegisters ? 4 : 3;

// Returns the most rows of a tile that is `vectors` wide. Its sums, a vector of B for each of
// `vectors` and an element of A must fit in the registers.
inline constexpr int MostTileRows(int vectors) {
  return std::min(14, ((kManyRegisters ? 32 : 16) - vectors - 1) / vectors);
}

// `count` things in `parts` parts as even as can be: the first of part `part`.
inline constexpr int64_t EvenPart(int64_t count, int64_t parts, int64_t part) {
  return count * part / parts;
}
inline constexpr int64_t DivideUp(int64_t n, int64_t by) { return (n + by - 1) / by; }

// A of [rows, depth] as a panel: the rows' elements side by side, step after step.
struct PackedRows {
  const float* panel = nullptr;
  template <int kRows>
  HWY_INLINE float At(int64_t step, int row) const {
    return panel[step * kRows + row];
  }
};

// A as it lies in a matrix, row after row. More rows than kMost want more registers for their
// addresses than there are.
struct StridedRows {
  static constexpr int64_t kMost = 8;

  const float* matrix = nullptr;
  int64_t stride = 0;
  template <int kRows>
  HWY_INLINE float At(int64_t step, int row) const {
    return matrix[row * stride + step];
  }
};

// A as it lies in an image: row and step are offsets.
struct OffsetRows {
  const float* image = nullptr;
  const int64_t* rows = nullptr;
  const int64_t* steps = nullptr;
  template <int kRows>
  HWY_INLINE float At(int64_t step, int row) const {
    return image[steps[step] + rows[row]];
  }
};

// Holds B with the vectors of a step `stride` elements behind those of the step before.
struct StridedColumns {
  const float* b = nullptr;
  int64_t stride = 0;
  HWY_INLINE const float* At(int64_t step) const { return b + step * stride; }
};

// Holds B as it lies in an image: a step is an offset.
struct OffsetColumns {
  const float* image = nullptr;
  const int64_t* steps = nullptr;
  HWY_INLINE const float* At(int64_t step) const { return image + steps[step]; }
};

// results ← A·B, a row of whole vectors for each row of A; B of [depth, vectors].
template <class Rows, class Columns = StridedColumns>
struct TileProduct {
  Rows a;
  Columns columns;
  int64_t depth = 0;
  float* results = nullptr;
  int64_t results_stride = 0;  // elements from row to row; 0: as many as a row has
};

// The most results that a tile has.
inline constexpr int64_t kMostResults = 32 * kTileLanes;

template <class Rows, class Columns, int kRows, int kVectors>
HWY_NOINLINE void RunTile(const TileProduct<Rows, Columns>& p) {
  const F32 d;
  const Rows a = p.a;
  const Columns columns = p.columns;
  VF32 sums[kRows][kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::Zero(d);
  }
  for (int64_t step = 0; step < p.depth; ++step) {
    const float* b = columns.At(step);
    VF32 row_of_b[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) row_of_b[v] = hn::LoadU(d, b + v * kTileLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const VF32 element = hn::Set(d, a.template At<kRows>(step, r));
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        sums[r][v] = hn::MulAdd(element, row_of_b[v], sums[r][v]);
      }
    }
  }
  const int64_t stride = p.results_stride == 0 ? kVectors * kTileLanes : p.results_stride;
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      hn::StoreU(sums[r][v], d, p.results + r * stride + v * kTileLanes);
    }
  }
}

// The instances of RunTile by rows and vectors.
template <class Rows, class Columns = StridedColumns>
class TileTable {
 public:
  static void Run(const TileProduct<Rows, Columns>& product, int64_t rows, int64_t vectors) {
    kFunctions[static_cast<size_t>(vectors) - 1][static_cast<size_t>(rows) - 1](product);
  }

 private:
  using Function = void (*)(const TileProduct<Rows, Columns>&);
  using OfVectors = std::array<Function, 14>;

  template <int kVectors, size_t... kRow>
  static constexpr OfVectors Instances(std::index_sequence<kRow...>) {
    return {&RunTile<Rows, Columns, static_cast<int>(kRow) + 1, kVectors>...};
  }
  template <int kVectors>
  static constexpr OfVectors Instances() {
    return Instances<kVectors>(std::make_index_sequence<MostTileRows(kVectors)>());
  }
  template <size_t... kVector>
  static constexpr std::array<OfVectors, sizeof...(kVector)> All(std::index_sequence<kVector...>) {
    return {Instances<static_cast<int>(kVector) + 1>()...};
  }

  static constexpr auto kFunctions = All(std::make_index_sequence<kMostTileVectors>());
};

}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#endif  // CGRUN_KERNELS_CPU_PRODUCT_TILE_H_
