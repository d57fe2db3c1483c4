// Computes matmul_integer, a sum after the other. Unsigned sums wrap around.
#include "src/kernels/integer_product.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

// The product of one row and one column.
int32_t RowTimesColumn(const MatmulIntegerSizes& p, const std::byte* row, int32_t row_zero,
                       const std::byte* b, int64_t column, int32_t column_zero) {
  uint32_t sum = 0;
  for (int64_t k = 0; k < p.depth; ++k) {
    const int32_t left = p.a.At(row, k) - row_zero;
    const int32_t right = p.b.At(b, k * p.columns + column) - column_zero;
    sum += static_cast<uint32_t>(left * right);
  }
  return static_cast<int32_t>(sum);
}

void RunMatmulInteger(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const MatmulIntegerSizes*>(i.parameters);
  const auto *a = Data<const std::byte>(context, i, 0), *b = Data<const std::byte>(context, i, 1);
  const auto* a_zero = Data<const std::byte>(context, i, 2);
  const auto* b_zero = Data<const std::byte>(context, i, 3);
  auto* y = Data<int32_t>(context, i, 4);
  for (int64_t m = 0; m < p.matrices; ++m, a += p.a_stride, b += p.b_stride) {
    for (int64_t row = 0; row < p.rows; ++row) {
      for (int64_t column = 0; column < p.columns; ++column) {
        *y++ = RowTimesColumn(p, a + row * p.depth, p.a_zero.At(a_zero, row), b, column,
                              p.b_zero.At(b_zero, column));
      }
    }
  }
}

PreparedKernel PrepareMatmulInteger(const KernelRequest& request) {
  return PreparedKernel::Of(&RunMatmulInteger, MatmulIntegerSizes::Of(request.node));
}

}  // namespace

KernelDef matmul_integer() {
  return {.name = "reference.matmul_integer", .prepare = PrepareMatmulInteger};
}

}  // namespace cgrun::reference
