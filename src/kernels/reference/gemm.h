// The matrix product that matmul and linear share. It goes through the columns in panels: a panel
// of B is packed so that its columns lie side by side, then each group of rows of A runs along it.
// Every element of C is Σ over k in order, whatever the panels are.
#ifndef CGRUN_KERNELS_REFERENCE_GEMM_H_
#define CGRUN_KERNELS_REFERENCE_GEMM_H_

#include <algorithm>

#include "src/kernels/reference/number.h"

namespace cgrun::reference {

// C[i, j] = Σₖ A[i, k]·B[k, j]; C is row-major, A and B have any strides (in elements).
struct GemmParameters {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t depth = 0;
  int64_t a_row_stride = 0;
  int64_t a_depth_stride = 0;
  int64_t b_depth_stride = 0;
  int64_t b_column_stride = 0;
};

inline constexpr int kRowGroup = 4;
template <class C>
inline constexpr int kPanelColumns = 32 / static_cast<int>(sizeof(C));

// Bytes of a panel for elements of `dtype`.
inline int64_t PanelBytes(int64_t depth, DType dtype) {
  return depth * (dtype == DType::kF64 ? kPanelColumns<double> * 8 : kPanelColumns<float> * 4);
}

// Packs columns [first, first + count) of B; the missing ones of the panel are 0.
template <class T>
void PackPanel(const GemmParameters& p, const T* b, int64_t first, int64_t count,
               Compute<T>* panel) {
  constexpr int kColumns = kPanelColumns<Compute<T>>;
  for (int64_t k = 0; k < p.depth; ++k) {
    const T* row = b + k * p.b_depth_stride + first * p.b_column_stride;
    for (int64_t j = 0; j < kColumns; ++j) {
      panel[k * kColumns + j] = j < count ? Load(row[j * p.b_column_stride]) : Compute<T>(0);
    }
  }
}

// kRows rows of C over one panel.
template <int kRows, class T, class C = Compute<T>>
void MultiplyRows(const GemmParameters& p, const T* a, const C* panel, int64_t count, const T* bias,
                  T* c) {
  constexpr int kColumns = kPanelColumns<C>;
  C sums[kRows][kColumns] = {};
  for (int64_t k = 0; k < p.depth; ++k) {
    for (int i = 0; i < kRows; ++i) {
      const C factor = Load(a[i * p.a_row_stride + k * p.a_depth_stride]);
      for (int j = 0; j < kColumns; ++j) sums[i][j] += factor * panel[k * kColumns + j];
    }
  }
  for (int i = 0; i < kRows; ++i) {
    for (int64_t j = 0; j < count; ++j) {
      const C sum = bias == nullptr ? sums[i][j] : sums[i][j] + Load(bias[j]);
      c[i * p.columns + j] = Store<T>(sum);
    }
  }
}

// `bias` (one number a column) may be null; `panel` has PanelBytes.
template <class T>
void Gemm(const GemmParameters& p, const T* a, const T* b, const T* bias, T* c, Compute<T>* panel) {
  constexpr int64_t kColumns = kPanelColumns<Compute<T>>;
  for (int64_t first = 0; first < p.columns; first += kColumns) {
    const int64_t count = std::min(kColumns, p.columns - first);
    const T* panel_bias = bias == nullptr ? nullptr : bias + first;
    PackPanel(p, b, first, count, panel);
    int64_t row = 0;
    for (; row + kRowGroup <= p.rows; row += kRowGroup) {
      MultiplyRows<kRowGroup>(p, a + row * p.a_row_stride, panel, count, panel_bias,
                              c + row * p.columns + first);
    }
    for (; row < p.rows; ++row) {
      MultiplyRows<1>(p, a + row * p.a_row_stride, panel, count, panel_bias,
                      c + row * p.columns + first);
    }
  }
}

}  // namespace cgrun::reference

#endif  // CGRUN_KERNELS_REFERENCE_GEMM_H_
