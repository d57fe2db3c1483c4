// Computes resize and its gradient, plane by plane. The places that each row and column reads from
// are worked out before the first run.
#include "src/ops/resize.h"

#include <algorithm>

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"
#include "src/kernels/resize_formulas.h"

namespace cgrun::reference {
namespace {

using formulas::BilinearTap, formulas::NearestTap;
using Tap = formulas::ResizeTap;

struct ResizeParameters {
  int64_t planes = 1;
  int64_t height = 1;  // of a plane of the original
  int64_t width = 1;
  std::vector<Tap> rows;  // one a row of the resized plane
  std::vector<Tap> columns;
};

template <class Bits>
struct Nearest {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ResizeParameters*>(i.parameters);
    const Bits* x = Data<const Bits>(context, i, 0);
    Bits* y = Data<Bits>(context, i, 1);
    for (int64_t plane = 0; plane < p.planes; ++plane, x += p.height * p.width) {
      for (const Tap& row : p.rows) {
        for (const Tap& column : p.columns) *y++ = x[row.low * p.width + column.low];
      }
    }
  }
};

template <class T>
struct Bilinear {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const ResizeParameters*>(i.parameters);
    const T* x = Data<const T>(context, i, 0);
    T* y = Data<T>(context, i, 1);
    for (int64_t plane = 0; plane < p.planes; ++plane, x += p.height * p.width) {
      for (const Tap& row : p.rows) {
        const T* low = x + row.low * p.width;
        const T* high = x + row.high * p.width;
        for (const Tap& column : p.columns) {
          const double above = formulas::Between(low[column.low], low[column.high], column.weight);
          const double below =
              formulas::Between(high[column.low], high[column.high], column.weight);
          *y++ = formulas::RoundPixel<T>(above + (below - above) * row.weight);
        }
      }
    }
  }
};

// Spreads a plane of dy over a plane of zeros, by Add(sums, row, column, value).
template <class T, class Add>
void Spread(const RunContext& context, const Instruction& i, Add add) {
  const auto& p = *static_cast<const ResizeParameters*>(i.parameters);
  const T* dy = Data<const T>(context, i, 0);
  T* dx = Data<T>(context, i, 1);
  double* sums = Data<double>(context, i, 2);
  const int64_t elements = p.height * p.width;
  for (int64_t plane = 0; plane < p.planes; ++plane, dx += elements) {
    std::fill_n(sums, elements, 0.0);
    for (const Tap& row : p.rows) {
      for (const Tap& column : p.columns) add(sums, p.width, row, column, LoadF64(*dy++));
    }
    for (int64_t e = 0; e < elements; ++e) dx[e] = StoreF64<T>(sums[e]);
  }
}

template <class T>
struct NearestGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    Spread<T>(context, i,
              [](double* sums, int64_t width, const Tap& row, const Tap& column, double value) {
                sums[row.low * width + column.low] += value;
              });
  }
};

template <class T>
struct BilinearGrad {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    Spread<T>(context, i,
              [](double* sums, int64_t width, const Tap& row, const Tap& column, double value) {
                const double below = value * row.weight, above = value - below;
                double* low = sums + row.low * width;
                double* high = sums + row.high * width;
                low[column.low] += above - above * column.weight;
                low[column.high] += above * column.weight;
                high[column.low] += below - below * column.weight;
                high[column.high] += below * column.weight;
              });
  }
};

bool IsNearest(const NodeSignature& node) {
  return node.attributes.As<ResizeAttributes>().mode == "nearest";
}

// The taps go from planes of `original` to planes of `resized`.
ResizeParameters PackResize(const NodeSignature& node, const Shape& original,
                            const Shape& resized) {
  const auto make = IsNearest(node) ? NearestTap : BilinearTap;
  ResizeParameters p{
      original[0].size * original[1].size, original[2].size, original[3].size, {}, {}};
  for (int64_t y = 0; y < resized[2].size; ++y) {
    p.rows.push_back(make(y, original[2].size, resized[2].size));
  }
  for (int64_t x = 0; x < resized[3].size; ++x) {
    p.columns.push_back(make(x, original[3].size, resized[3].size));
  }
  return p;
}

bool SupportsResize(const NodeSignature& node) {
  return IsNearest(node) || !IsStorageType(node.inputs[0].dtype);
}

PreparedKernel PrepareResize(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const DType dtype = node.inputs[0].dtype;
  const KernelFunction run = IsNearest(node)       ? ForBytes<Nearest>(SizeOf(dtype))
                             : dtype == DType::kU8 ? &Bilinear<uint8_t>::Run
                                                   : ForFloat<Bilinear>(dtype);
  return PreparedKernel::Of(run, PackResize(node, node.inputs[0].shape, node.outputs[0].shape));
}

PreparedKernel PrepareResizeGrad(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const DType dtype = node.inputs[0].dtype;
  return PreparedKernel::Of(
      IsNearest(node) ? ForFloat<NearestGrad>(dtype) : ForFloat<BilinearGrad>(dtype),
      PackResize(node, node.outputs[0].shape, node.inputs[0].shape));
}

// The workspace holds a plane of sums.
int64_t ResizeWorkspaceBytes(const NodeSignature& node, int) {
  const Shape& dx = node.outputs[0].shape;
  return dx[2].size * dx[3].size * static_cast<int64_t>(sizeof(double));
}

}  // namespace

KernelDef resize() {
  return {.name = "reference.resize", .supports = SupportsResize, .prepare = PrepareResize};
}

KernelDef resize_grad() {
  return {.name = "reference.resize_grad",
          .supports = AllFloat,
          .workspace_bytes = ResizeWorkspaceBytes,
          .prepare = PrepareResizeGrad};
}

}  // namespace cgrun::reference
