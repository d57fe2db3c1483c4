// Computes products by panels, which matmul, linear and the convolutions share. A panel is a few
// columns of the right factor, side by side: panel[k][j]. Each group of rows of the left factor
// runs along it. A result is Σ over k in order, so that it does not depend on the groups.
#ifndef CGRUN_KERNELS_REFERENCE_PANEL_H_
#define CGRUN_KERNELS_REFERENCE_PANEL_H_

#include <algorithm>

#include "src/kernels/reference/number.h"

namespace cgrun::reference {

// Columns of a panel of computed numbers C: 32 bytes of them.
inline constexpr int64_t kPanelRowBytes = 32;
template <class C>
inline constexpr int kPanelColumns = static_cast<int>(kPanelRowBytes / sizeof(C));

// The workspace holds a panel of `depth`, and then the sums of `rows`. Returns its bytes.
inline int64_t PanelWorkspace(int64_t depth, int64_t rows) {
  return (depth + rows) * kPanelRowBytes;
}

// The left factor: element (i, k) lies at i·row_stride + k·depth_stride.
struct LeftFactor {
  int64_t rows = 0;
  int64_t depth = 0;
  int64_t row_stride = 0;
  int64_t depth_stride = 0;
};

template <int kRows, class T, class C = Compute<T>>
void AddRows(const LeftFactor& left, const T* a, const C* panel, C* sums) {
  constexpr int kColumns = kPanelColumns<C>;
  C local[kRows][kColumns];
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) local[i][j] = sums[i * kColumns + j];
  }
  for (int64_t k = 0; k < left.depth; ++k) {
    for (int i = 0; i < kRows; ++i) {
      const C factor = Load(a[i * left.row_stride + k * left.depth_stride]);
      for (int j = 0; j < kColumns; ++j) local[i][j] += factor * panel[k * kColumns + j];
    }
  }
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) sums[i * kColumns + j] = local[i][j];
  }
}

// sums[i][j] += Σₖ a(i, k)·panel[k][j] for every row i.
template <class T>
void AddProduct(const LeftFactor& left, const T* a, const Compute<T>* panel, Compute<T>* sums) {
  constexpr int kGroup = 4;
  constexpr int kColumns = kPanelColumns<Compute<T>>;
  int64_t row = 0;
  for (; row + kGroup <= left.rows; row += kGroup) {
    AddRows<kGroup>(left, a + row * left.row_stride, panel, sums + row * kColumns);
  }
  for (; row < left.rows; ++row) {
    AddRows<1>(left, a + row * left.row_stride, panel, sums + row * kColumns);
  }
}

// The first `columns` columns of the sums, rounded, to rows of c that lie `stride` apart.
template <class T>
void StoreSums(const Compute<T>* sums, int64_t rows, int64_t columns, T* c, int64_t stride) {
  constexpr int kColumns = kPanelColumns<Compute<T>>;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) c[i * stride + j] = Store<T>(sums[i * kColumns + j]);
  }
}

// Says what is added to the sums before they are rounded: one number a row, or one a column.
template <class T>
void AddToRows(const T* bias, int64_t rows, Compute<T>* sums) {
  constexpr int kColumns = kPanelColumns<Compute<T>>;
  for (int64_t i = 0; i < rows; ++i) {
    for (int j = 0; j < kColumns; ++j) sums[i * kColumns + j] += Load(bias[i]);
  }
}
template <class T>
void AddToColumns(const T* bias, int64_t rows, int64_t columns, Compute<T>* sums) {
  constexpr int kColumns = kPanelColumns<Compute<T>>;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) sums[i * kColumns + j] += Load(bias[j]);
  }
}

}  // namespace cgrun::reference

#endif  // CGRUN_KERNELS_REFERENCE_PANEL_H_
