// The product of two matrices, which matmul and linear share.
#ifndef CGRUN_KERNELS_REFERENCE_GEMM_H_
#define CGRUN_KERNELS_REFERENCE_GEMM_H_

#include "src/kernels/reference/panel.h"

namespace cgrun::reference {

// C = A·B: C is row-major, A and B have any strides (in elements).
struct GemmParameters {
  LeftFactor a;
  int64_t columns = 0;
  int64_t b_depth_stride = 0;
  int64_t b_column_stride = 0;
};

inline int64_t GemmWorkspace(const GemmParameters& p) {
  return PanelWorkspace(p.a.depth, p.a.rows);
}

// Columns [first, first + count) of B; the missing ones of the panel are 0.
template <class T>
void PackColumns(const GemmParameters& p, const T* b, int64_t first, int64_t count,
                 Compute<T>* panel) {
  constexpr int kColumns = kPanelColumns<Compute<T>>;
  for (int64_t k = 0; k < p.a.depth; ++k) {
    const T* row = b + k * p.b_depth_stride + first * p.b_column_stride;
    for (int64_t j = 0; j < kColumns; ++j) {
      panel[k * kColumns + j] = j < count ? Load(row[j * p.b_column_stride]) : Compute<T>(0);
    }
  }
}

// `bias` has one number a column, or is null; `workspace` has GemmWorkspace bytes.
template <class T>
void Gemm(const GemmParameters& p, const T* a, const T* b, const T* bias, T* c,
          Compute<T>* workspace) {
  constexpr int64_t kColumns = kPanelColumns<Compute<T>>;
  Compute<T>* sums = workspace + p.a.depth * kColumns;
  for (int64_t first = 0; first < p.columns; first += kColumns) {
    const int64_t count = std::min(kColumns, p.columns - first);
    PackColumns(p, b, first, count, workspace);
    std::fill(sums, sums + p.a.rows * kColumns, Compute<T>(0));
    AddProduct(p.a, a, workspace, sums);
    if (bias != nullptr) AddToColumns(bias + first, p.a.rows, count, sums);
    StoreSums(sums, p.a.rows, count, c + first, p.columns);
  }
}

}  // namespace cgrun::reference

#endif  // CGRUN_KERNELS_REFERENCE_GEMM_H_
