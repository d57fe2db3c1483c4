// Computes matmul_integer: both operands are packed as rows of 16-bit integers, and threads share
// blocks of the product.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/matmul_integer.cc"
#include <hwy/foreach_target.h>
//
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/integer_tiles.h"
#include "src/kernels/cpu/kernels.h"
#include "src/kernels/cpu/parallel.h"
#include "src/kernels/integer_product.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

// A block of the product, whose rows and columns stay in caches.
constexpr int64_t kBlockRows = 32, kBlockColumns = 64;

struct Parameters {
  MatmulIntegerSizes sizes;
  int threads = 1;

  int64_t width() const { return IntegerRowWidth(sizes.depth); }
  int64_t packed_rows() const { return sizes.rows * width(); }
  int64_t packed_columns() const { return WholeIntegerTiles(sizes.columns) * width(); }
  int64_t blocks_down() const { return (sizes.rows + kBlockRows - 1) / kBlockRows; }
  int64_t blocks_across() const { return (sizes.columns + kBlockColumns - 1) / kBlockColumns; }
};

void PackRows(const Parameters& p, const std::byte* a, const std::byte* zero, int16_t* to) {
  Split(p.threads, p.sizes.rows, kIntegerTile, [=, &p](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      PackIntegerRow(a + row * p.sizes.depth, p.sizes.a.is_signed, 1, p.sizes.depth,
                     p.sizes.a_zero.At(zero, row), to + row * p.width());
    }
  });
}

// The packed columns behind the last one stay without values: their products are never stored.
void PackColumns(const Parameters& p, const std::byte* b, const std::byte* zero, int16_t* to) {
  Split(p.threads, p.sizes.columns, kIntegerTile, [=, &p](int64_t begin, int64_t end) {
    for (int64_t column = begin; column < end; ++column) {
      PackIntegerRow(b + column, p.sizes.b.is_signed, p.sizes.columns, p.sizes.depth,
                     p.sizes.b_zero.At(zero, column), to + column * p.width());
    }
  });
}

void Multiply(const Parameters& p, const int16_t* rows, const int16_t* columns, int32_t* y) {
  const int64_t across = p.blocks_across();
  Split(p.threads, p.blocks_down() * across, 1, [=, &p](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t row = block / across * kBlockRows, column = block % across * kBlockColumns;
      MultiplyIntegerRows(rows + row * p.width(), std::min(kBlockRows, p.sizes.rows - row),
                          columns + column * p.width(),
                          std::min(kBlockColumns, p.sizes.columns - column), p.width(),
                          y + row * p.sizes.columns + column, p.sizes.columns);
    }
  });
}

void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const Parameters*>(i.parameters);
  const auto *a = Data<const std::byte>(context, i, 0), *b = Data<const std::byte>(context, i, 1);
  const auto* a_zero = Data<const std::byte>(context, i, 2);
  const auto* b_zero = Data<const std::byte>(context, i, 3);
  auto* y = Data<int32_t>(context, i, 4);
  auto* rows = Data<int16_t>(context, i, 5);
  int16_t* columns = rows + p.packed_rows();
  for (int64_t m = 0; m < p.sizes.matrices; ++m) {
    if (m == 0 || p.sizes.a_stride > 0) PackRows(p, a + m * p.sizes.a_stride, a_zero, rows);
    if (m == 0 || p.sizes.b_stride > 0) PackColumns(p, b + m * p.sizes.b_stride, b_zero, columns);
    Multiply(p, rows, columns, y + m * p.sizes.rows * p.sizes.columns);
  }
}

PreparedKernel Prepare(const KernelRequest& request) {
  return PreparedKernel::Of(
      &Run, Parameters{MatmulIntegerSizes::Of(request.node), ThreadsFor(request, Work::kComputes)});
}

int64_t WorkspaceBytes(const NodeSignature& node, int /*threads*/) {
  const Parameters p{MatmulIntegerSizes::Of(node)};
  return (p.packed_rows() + p.packed_columns()) * static_cast<int64_t>(sizeof(int16_t));
}

KernelDef matmul_integer() {
  return {.name = "cpu.matmul_integer",
          .workspace_bytes = WorkspaceBytes,
          .prepare = Prepare,
          .flops_per_second = 60e9};
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(matmul_integer)

}  // namespace cgrun::cpu
#endif
