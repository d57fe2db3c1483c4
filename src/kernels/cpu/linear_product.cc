// Computes linear of f32 for a batch of rows, alone or with an activation behind it. The weight is
// read where it lies, once, and x goes through the registers as packed columns. A library packs
// both, and the weight is the larger by far. Each sum stays in one register from the first feature
// to the last, so that its bits depend neither on the threads nor on the batch.
#include "src/kernels/cpu/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/kernels/cpu/linear_product.cc"
#include <hwy/foreach_target.h>
//
#include "src/kernels/cpu/activated.h"
#include "src/kernels/cpu/blas.h"
#include "src/kernels/cpu/conv_panels.h"
#include "src/kernels/cpu/dispatch.h"
#include "src/kernels/cpu/linear_product.h"
#include "src/kernels/cpu/parallel.h"
#include "src/kernels/cpu/product_seconds.h"
#include "src/kernels/cpu/transpose_tiles.h"

HWY_BEFORE_NAMESPACE();
namespace cgrun::cpu {
namespace HWY_NAMESPACE {
namespace {

// This limits the floats of packed x, which stay in a second-level cache while the weight is read.
constexpr int64_t kMostPackedFloats = 192 << 10;
constexpr int64_t kLeastUnits = 48;  // with fewer, packing x takes too much of the time

// Strips of x's rows, `vectors` wide, take so long together, in vectors. A strip that is one vector
// wide waits for the weight.
double StripsCost(int64_t rows, int64_t vectors) {
  return static_cast<double>(DivideUp(rows, vectors * kTileLanes)) *
         (static_cast<double>(vectors) + 0.5);
}

// Returns the vectors of the strips that cost least. Columns behind the last row of x are computed
// for nothing.
int64_t VectorsFor(int64_t rows) {
  int64_t best = 1;
  for (int64_t vectors = 2; vectors <= kMostTileVectors; ++vectors) {
    if (StripsCost(rows, vectors) <= StripsCost(rows, best)) best = vectors;
  }
  return best;
}

struct LinearProduct {
  int64_t rows = 0, units = 0, features = 0;  // y[rows, units]
  int64_t vectors = 0;                        // of a strip of rows of x
  RowTiles tiles;                             // of units
  bool has_bias = false;
  Activation activation;
  int threads = 1;

  static LinearProduct Of(const NodeSignature& node, int threads) {
    LinearProduct p;
    const Shape &x = node.inputs[0].shape, &y = node.outputs[0].shape;
    p.units = y[y.rank() - 1].size;
    p.features = x[x.rank() - 1].size;
    p.rows = p.units > 0 ? y.Elements() / p.units : 0;
    p.vectors = VectorsFor(p.rows);
    p.tiles = {p.units,
               DivideUp(p.units, std::min<int64_t>(StridedRows::kMost,
                                                   MostTileRows(static_cast<int>(p.vectors))))};
    p.has_bias = node.inputs.size() == 3;
    p.activation = Activation::In(node);
    p.threads = OperandBytes(node) < LeastParallelBytes(Work::kComputes) ? 1 : threads;
    return p;
  }

  int64_t width() const { return vectors * kTileLanes; }  // of a strip
  int64_t strips() const { return DivideUp(rows, width()); }
  int64_t packed() const { return strips() * width() * features; }
};

// Features [begin, end) of panel[strip][feature][row of x], with zeros behind the last row.
void PackX(const LinearProduct& p, const float* x, int64_t begin, int64_t end, float* panel) {
  for (int64_t strip = 0; strip < p.strips(); ++strip) {
    const int64_t first = strip * p.width(), here = std::min(p.width(), p.rows - first);
    float* to = panel + (strip * p.features + begin) * p.width();
    TransposeBand(Bits(x + first * p.features + begin), p.features, Bits(to), p.width(), here,
                  end - begin);
    for (int64_t f = 0; here < p.width() && f < end - begin; ++f) {
      std::fill(to + f * p.width() + here, to + (f + 1) * p.width(), 0.0f);
    }
  }
}

// Adds the bias of each unit of a tile, activates, and writes y[row of x][unit].
void WriteTile(const LinearProduct& p, float* results, const float* bias, int64_t units,
               int64_t rows, float* y) {
  const F32 d;
  const bool as_they_are = !p.has_bias && p.activation.kind == Activation::Kind::kNone;
  for (int64_t u = 0; !as_they_are && u < units; ++u) {
    const VF32 added = hn::Set(d, p.has_bias ? bias[u] : 0.0F);
    for (int64_t i = 0; i < p.width(); i += kTileLanes) {
      float* sums = results + u * p.width() + i;
      const VF32 sum = hn::LoadU(d, sums);
      hn::StoreU(Activated(p.activation, p.has_bias ? hn::Add(sum, added) : sum), d, sums);
    }
  }
  TransposeBand(Bits(results), p.width(), Bits(y), p.units, units, rows);
}

void Run(const RunContext& context, const Instruction& i) noexcept {
  const auto& p = *static_cast<const LinearProduct*>(i.parameters);
  const auto *x = Data<const float>(context, i, 0), *weight = Data<const float>(context, i, 1);
  const float* bias = p.has_bias ? Data<const float>(context, i, 2) : nullptr;
  float* y = Data<float>(context, i, p.has_bias ? 3 : 2);
  float* panel = Data<float>(context, i, p.has_bias ? 4 : 3);
  Split(p.threads, p.features, kTransposeTile,
        [&](int64_t begin, int64_t end) { PackX(p, x, begin, end, panel); });
  SplitParts(p.threads, p.tiles.tiles, 1, [&](int, int64_t begin, int64_t end) {
    HWY_ALIGN float results[kMostResults];
    for (int64_t tile = begin; tile < end; ++tile) {
      const int64_t unit = p.tiles.First(tile), units = p.tiles.Rows(tile);
      TileProduct<StridedRows> product{
          {weight + unit * p.features, p.features}, panel, p.width(), p.features, results};
      for (int64_t row = 0; row < p.rows; row += p.width()) {
        TileTable<StridedRows>::Run(product, units, p.vectors);
        WriteTile(p, results, p.has_bias ? bias + unit : nullptr, units,
                  std::min(p.width(), p.rows - row), y + row * p.units + unit);
        product.columns.b += p.features * p.width();
      }
    }
  });
}

bool Supports(const NodeSignature& node) {
  const auto is_f32 = [](const TensorType& type) { return type.dtype == DType::kF32; };
  if (!std::ranges::all_of(node.inputs, is_f32)) return false;
  const LinearProduct p = LinearProduct::Of(node, 1);
  return p.rows > 1 && p.features > 0 && p.units >= kLeastUnits && p.packed() <= kMostPackedFloats;
}

// Estimates the time in terms of OpenBLAS's product, by measurements on a Zen 5. Packing the weight
// takes OpenBLAS as long as `kPackedRows` rows. A lane of a strip takes as long as `kLaneRows`
// rows.
double Seconds(const NodeSignature& node, int threads) {
  constexpr double kPackedRows = 30, kLaneRows = 0.72;
  const LinearProduct p = LinearProduct::Of(node, 1);
  const double own = kLaneRows * static_cast<double>(kTileLanes) * StripsCost(p.rows, p.vectors);
  const double flops =
      static_cast<double>(CostOf(node).flops) * own / (kPackedRows + static_cast<double>(p.rows));
  return ProductSeconds(node, flops, kBlasFlopsPerSecond, threads);
}

bool SupportsActivated(const NodeSignature& node) {
  return IsActivated(node, OpId::linear) && Supports(node);
}

KernelDef linear_product() {
  return {.name = "cpu.linear",
          .supports = Supports,
          .workspace_bytes =
              [](const NodeSignature& node, int threads) {
                return LinearProduct::Of(node, threads).packed() *
                       static_cast<int64_t>(sizeof(float));
              },
          .prepare =
              [](const KernelRequest& request) {
                return PreparedKernel::Of(&Run, LinearProduct::Of(request.node, request.threads));
              },
          .seconds = Seconds};
}
KernelDef activated_linear_product() {
  KernelDef def = linear_product();
  def.name = "cpu.fused_linear";
  def.supports = SupportsActivated;
  return def;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cgrun::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cgrun::cpu {

CGRUN_CPU_KERNEL(linear_product)
CGRUN_CPU_KERNEL(activated_linear_product)

}  // namespace cgrun::cpu
#endif
