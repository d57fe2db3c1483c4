// Computes trilu, row by row.
#include "src/ops/trilu.h"

#include <algorithm>

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"

namespace cgrun::reference {
namespace {

struct TriluParameters {
  int64_t all_rows = 1;  // of all matrices
  int64_t rows = 1;
  int64_t columns = 1;
  bool upper = false;
  int64_t diagonal = 0;
};

// Zero bits are the number 0.
template <class Bits>
struct Trilu {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const TriluParameters*>(i.parameters);
    const Bits* x = Data<const Bits>(context, i, 0);
    Bits* y = Data<Bits>(context, i, 1);
    for (int64_t row = 0; row < p.all_rows; ++row, x += p.columns, y += p.columns) {
      const int64_t edge = row % p.rows + p.diagonal;
      for (int64_t c = 0; c < p.columns; ++c) {
        y[c] = (p.upper ? c >= edge : c <= edge) ? x[c] : Bits(0);
      }
    }
  }
};

PreparedKernel PrepareTrilu(const KernelRequest& request) {
  const auto& a = request.node.attributes.As<TriluAttributes>();
  const TensorType& x = request.node.inputs[0];
  const int64_t rows = x.shape[x.shape.rank() - 2].size;
  const int64_t columns = x.shape[x.shape.rank() - 1].size;
  // Beyond the matrix, no diagonal differs from the next one.
  const int64_t diagonal = std::clamp<int64_t>(a.diagonal, -rows, columns);
  return PreparedKernel::Of(
      ForBytes<Trilu>(SizeOf(x.dtype)),
      TriluParameters{x.shape.Elements() / columns, rows, columns, a.upper, diagonal});
}

}  // namespace

KernelDef trilu() { return {.name = "reference.trilu", .prepare = PrepareTrilu}; }

}  // namespace cgrun::reference
