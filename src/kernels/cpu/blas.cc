// Calls OpenBLAS.
#include "src/kernels/cpu/blas.h"

#include <omp.h>

#include <algorithm>
#include <vector>

#include "src/kernels/cpu/openblas.h"

namespace cgrun::cpu {
namespace {

CBLAS_TRANSPOSE Transposition(bool transposed) { return transposed ? CblasTrans : CblasNoTrans; }

constexpr int64_t kMostDeep = 448;     // OpenBLAS's blocks are no deeper
constexpr int64_t kMostWide = 32'768;  // a warm-up may take as much itself
constexpr int64_t kPageBytes = 4096;

// The largest block that it copies of products that kernels were prepared for.
int64_t widest = 512;  // rows or columns
int64_t deepest = 256;
// The bytes of OpenBLAS's first buffer that products on one thread touch.
int64_t most_copied = 0;

// On one thread, OpenBLAS copies a block of B to the buffer, and rows of A behind that block. If B
// has no more columns than the block, OpenBLAS copies the same few rows over and over. Otherwise
// all rows lie there.
int64_t CopiedBytes(int64_t m, int64_t n, int64_t k, int64_t item_bytes) {
  const int64_t least_columns = item_bytes == 4 ? 320 : 192;  // of a block, over all processors
  constexpr int64_t kMostBlock = 1 << 20;                     // bytes
  if (n <= least_columns) return 0;
  return std::min(kMostBlock + m * std::min(k, kMostDeep) * item_bytes, kBlasBufferBytes);
}

}  // namespace

template <>
void Multiply(int64_t m, int64_t n, int64_t k, const MatrixOf<float>& a, const MatrixOf<float>& b,
              float beta, float* c, int64_t c_stride) noexcept {
  LoadedOpenBlas().sgemm(CblasRowMajor, Transposition(a.transposed), Transposition(b.transposed),
                         static_cast<blasint>(m), static_cast<blasint>(n), static_cast<blasint>(k),
                         1, a.data, static_cast<blasint>(a.stride), b.data,
                         static_cast<blasint>(b.stride), beta, c, static_cast<blasint>(c_stride));
}

template <>
void Multiply(int64_t m, int64_t n, int64_t k, const MatrixOf<double>& a, const MatrixOf<double>& b,
              double beta, double* c, int64_t c_stride) noexcept {
  LoadedOpenBlas().dgemm(CblasRowMajor, Transposition(a.transposed), Transposition(b.transposed),
                         static_cast<blasint>(m), static_cast<blasint>(n), static_cast<blasint>(k),
                         1, a.data, static_cast<blasint>(a.stride), b.data,
                         static_cast<blasint>(b.stride), beta, c, static_cast<blasint>(c_stride));
}

void PrepareBlas(int threads, DType dtype, int64_t m, int64_t n, int64_t k) {
  SetBlasThreads(threads, /*products=*/1);
  if (threads == 1) most_copied = std::max(most_copied, CopiedBytes(m, n, k, SizeOf(dtype)));
  const int64_t width = std::min(std::max(m, n), kMostWide), depth = std::min(k, kMostDeep);
  if (width * depth <= widest * deepest) return;
  widest = width;
  deepest = depth;
}

namespace {

// Multiplies matrices that fill as much of a buffer as any that was prepared, either way round.
// OpenBLAS cuts a depth beyond its blocks in halves, which fill less. The products therefore have
// several depths.
class WidestProducts {
 public:
  WidestProducts()
      : zeros_(static_cast<size_t>(std::max(width_, kNarrow) * deepest_)),
        product_(static_cast<size_t>(width_ * kNarrow)) {}

  void Multiply() {
    Multiply(deepest_);
    for (const int64_t depth : {384, 320, 256}) {
      if (depth < deepest_) Multiply(depth);
    }
  }

 private:
  static constexpr int64_t kNarrow = 32;  // wider products fill buffers

  void Multiply(int64_t depth) {
    const MatrixOf<float> rows{zeros_.data(), depth, false}, columns{zeros_.data(), depth, true};
    cpu::Multiply<float>(width_, kNarrow, depth, rows, columns, 0, product_.data(), kNarrow);
    cpu::Multiply<float>(kNarrow, width_, depth, rows, columns, 0, product_.data(), width_);
  }

  int64_t width_ = widest, deepest_ = deepest;
  std::vector<float> zeros_, product_;
};

// Products that fill it by themselves would take as long as a step.
void TouchFirstBuffer(int64_t bytes) {
  constexpr int kForProducts = 0;
  auto* const buffer = static_cast<volatile char*>(LoadedOpenBlas().memory_alloc(kForProducts));
  for (int64_t at = 0; at < bytes; at += kPageBytes) buffer[at] = 0;
  LoadedOpenBlas().memory_free(const_cast<char*>(buffer));
}

// OpenBLAS takes the first of its buffers that is free. If a product runs beside another one, it
// takes the second buffer. This function therefore takes the first buffer, as that other product
// would, however busy the machine is. The product runs in a thread team, as products in parallel
// streams do, and so on one thread.
void MultiplyInSecondBuffer(int threads, WidestProducts& product) {
  constexpr int kForProducts = 0;
  void* first = LoadedOpenBlas().memory_alloc(kForProducts);
#pragma omp parallel num_threads(threads)
  {
    if (omp_get_thread_num() == 0) product.Multiply();
  }
  LoadedOpenBlas().memory_free(first);
}

}  // namespace

void WarmUpBlas(int threads, bool streams) {
  SetBlasThreads(threads, /*products=*/streams ? threads : 1);
  WidestProducts product;
  product.Multiply();
  TouchFirstBuffer(most_copied);
  if (streams && threads > 1) MultiplyInSecondBuffer(threads, product);
}

std::string BlasVersion() {
  const OpenBlas& blas = LoadedOpenBlas();
  const std::string config = blas.get_config();  // "OpenBLAS 0.3.21 NO_LAPACKE …"
  return config.substr(0, config.find(' ', config.find(' ') + 1)) + " OpenMP " +
         blas.get_corename();
}

}  // namespace cgrun::cpu
