// Computes matmul. For a linear layer's gradients, our own kernels do. Otherwise OpenBLAS makes one
// product for each pair of matrices.
#include "src/ops/matmul.h"

#include "src/kernels/cpu/blas.h"
#include "src/kernels/cpu/input_product.h"
#include "src/kernels/cpu/is_weight_product.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/number.h"
#include "src/kernels/one_thread.h"

namespace cgrun::cpu {
namespace {

struct Parameters {
  int64_t rows = 0, columns = 0, depth = 0;
  int64_t a_row = 0, b_row = 0;  // elements of a row as it lies in memory
  bool transpose_a = false, transpose_b = false;
  int64_t matrices = 1;
  int64_t a_step = 0, b_step = 0;  // elements from matrix to matrix; 0: the same one
  bool single_threaded = false;

  int64_t multiplications() const { return matrices * rows * columns * depth; }
};

template <class T>
struct Kernel {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const Parameters*>(i.parameters);
    const T* a = Data<const T>(context, i, 0);
    const T* b = Data<const T>(context, i, 1);
    T* y = Data<T>(context, i, 2);
    const OneThread one(p.single_threaded);
    for (int64_t m = 0; m < p.matrices; ++m) {
      Multiply<T>(p.rows, p.columns, p.depth, {a + m * p.a_step, p.a_row, p.transpose_a},
                  {b + m * p.b_step, p.b_row, p.transpose_b}, T(0), y, p.columns);
      y += p.rows * p.columns;
    }
  }
};

// A stack of matrices times one matrix is one product of all rows.
void JoinRows(Parameters& p) {
  if (p.b_step != 0 || p.transpose_a || p.a_step != p.rows * p.depth) return;
  p.rows *= p.matrices;
  p.matrices = 1;
}

Parameters Pack(const NodeSignature& node) {
  const auto& attributes = node.attributes.As<MatmulAttributes>();
  const Shape &a = node.inputs[0].shape, &b = node.inputs[1].shape, &y = node.outputs[0].shape;
  Parameters p;
  p.rows = y[y.rank() - 2].size;
  p.columns = y[y.rank() - 1].size;
  p.a_row = a[a.rank() - 1].size;
  p.b_row = b[b.rank() - 1].size;
  p.transpose_a = attributes.transpose_a;
  p.transpose_b = attributes.transpose_b;
  p.depth = attributes.transpose_a ? a[a.rank() - 2].size : p.a_row;
  p.matrices = y.Elements() / (p.rows * p.columns);
  p.a_step = a.rank() == 2 ? 0 : p.rows * p.depth;
  p.b_step = b.rank() == 2 ? 0 : p.depth * p.columns;
  JoinRows(p);
  return p;
}

bool Supports(const NodeSignature& node) {
  if (!AllF32OrF64(node) || node.outputs[0].shape.Elements() == 0) return false;
  if (IsWeightProduct(node)) return false;
  const Parameters p = Pack(node);
  return std::max({p.rows, p.columns, p.depth, p.a_row, p.b_row}) <= kMostBlasSize;
}

bool ByTeam(const NodeSignature& node, int threads) {
  return threads > 1 && !RunsSingleThreaded(Pack(node).multiplications(), threads);
}

PreparedKernel Prepare(const KernelRequest& request) {
  Parameters p = Pack(request.node);
  p.single_threaded = RunsSingleThreaded(p.multiplications(), request.threads);
  PrepareBlas(request.threads, request.node.inputs[0].dtype, p.rows, p.columns, p.depth);
  return PreparedKernel::Of(ForF32OrF64<Kernel>(request.node.inputs[0].dtype), p);
}

}  // namespace

std::vector<KernelDef> matmul() {
  std::vector<KernelDef> kernels = weight_product();
  for (KernelDef& kernel : input_product()) kernels.push_back(kernel);
  kernels.push_back({.name = "openblas.matmul",
                     .supports = Supports,
                     .prepare = Prepare,
                     .by_team = ByTeam,
                     .flops_per_second = kBlasFlopsPerSecond});
  return kernels;
}

}  // namespace cgrun::cpu
