// Transposing a stack of matrices, tile by tile, so that rows are read and written as rows.
#ifndef CGRUN_KERNELS_CUDA_TRANSPOSE_MATRICES_CUH_
#define CGRUN_KERNELS_CUDA_TRANSPOSE_MATRICES_CUH_

#include "src/kernels/cuda/launch.cuh"

namespace cgrun::cuda {

// `count` matrices of `rows` rows and `columns` columns, all row-major.
template <class Bits>
struct TransposeBody {
  int64_t rows, columns;
  int64_t tiles_down, tiles_across;  // of a matrix
  const Bits* from;
  Bits* to;

  static constexpr int kTile = 64;                                               // rows and columns
  static constexpr int kStep = static_cast<int>(kThreadsPerBlock) / kTile;       // rows at a time
  static constexpr int kPadding = sizeof(Bits) < 4 ? 4 / int{sizeof(Bits)} : 1;  // another bank

  __device__ void operator()(int64_t tile) const {
    __shared__ Bits held[kTile][kTile + kPadding];
    const int64_t across = tile % tiles_across, rest = tile / tiles_across;
    const int64_t first_row = rest % tiles_down * kTile, first_column = across * kTile;
    const int64_t matrix = rest / tiles_down * rows * columns;
    const int x = static_cast<int>(threadIdx.x) % kTile, y = static_cast<int>(threadIdx.x) / kTile;
    for (int r = y; r < kTile; r += kStep) {
      const int64_t row = first_row + r, column = first_column + x;
      if (row < rows && column < columns) held[r][x] = from[matrix + row * columns + column];
    }
    __syncthreads();
    for (int c = y; c < kTile; c += kStep) {
      const int64_t row = first_row + x, column = first_column + c;
      if (row < rows && column < columns) to[matrix + column * rows + row] = held[x][c];
    }
    __syncthreads();  // before the next tile is held
  }
};

template <class Bits>
void TransposeMatrices(const RunContext& context, int64_t count, int64_t rows, int64_t columns,
                       const Bits* from, Bits* to) noexcept {
  constexpr int64_t kTile = TransposeBody<Bits>::kTile;
  const int64_t down = (rows + kTile - 1) / kTile, across = (columns + kTile - 1) / kTile;
  ForEachGroup(context, count * down * across,
               TransposeBody<Bits>{rows, columns, down, across, from, to});
}

}  // namespace cgrun::cuda

#endif  // CGRUN_KERNELS_CUDA_TRANSPOSE_MATRICES_CUH_
