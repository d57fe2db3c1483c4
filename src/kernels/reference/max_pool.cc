// Computes max_pool and its gradient, which asks each window that sees an input whether that input
// had won.
#include <cmath>
#include <limits>

#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"
#include "src/kernels/reference/reach.h"
#include "src/ops/pool.h"

namespace cgrun::reference {
namespace {

struct MaxPoolParameters {
  int64_t planes = 0;
  WindowAxis y, x;
  std::vector<Reach> rows, columns;  // by output
};

template <class T, class Index>
struct MaxPoolPool {
  using C = Compute<T>;

  // Finds the winner of one window of an image.
  static void Find(const MaxPoolParameters& p, const T* image, const Reach& row,
                   const Reach& column, T* y, Index* index) {
    C best = -std::numeric_limits<C>::infinity();
    int64_t winner = row.first * p.x.kernel + column.first;
    for (int64_t u = row.first; u < row.last; ++u) {
      const T* line = image + (row.origin + u * p.y.dilation) * p.x.input;
      for (int64_t v = column.first; v < column.last; ++v) {
        const C value = Load(line[column.origin + v * p.x.dilation]);
        if (!(value > best || std::isnan(value))) continue;
        best = value;
        winner = u * p.x.kernel + v;
      }
    }
    *y = Store<T>(best);
    *index = static_cast<Index>(winner);
  }

  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const MaxPoolParameters*>(i.parameters);
    const T* x = Data<const T>(context, i, 0);
    T* y = Data<T>(context, i, 1);
    Index* index = Data<Index>(context, i, 2);
    for (int64_t plane = 0; plane < p.planes; ++plane, x += p.y.input * p.x.input) {
      for (const Reach& row : p.rows) {
        for (const Reach& column : p.columns) Find(p, x, row, column, y++, index++);
      }
    }
  }
};

struct MaxPoolGradParameters {
  int64_t planes = 0;
  WindowAxis y, x;
  Readers rows, columns;  // by input
};

template <class T, class Index>
struct MaxPoolPoolGrad {
  using C = Compute<T>;

  // Returns what one input of an image gets.
  static C MaxPoolSum(const MaxPoolGradParameters& p, const Index* index, const T* dy, size_t row,
                      size_t column) {
    C sum = 0;
    for (size_t r = p.rows.begin[row]; r < p.rows.begin[row + 1]; ++r) {
      const Reader& up = p.rows.all[r];
      for (size_t c = p.columns.begin[column]; c < p.columns.begin[column + 1]; ++c) {
        const Reader& across = p.columns.all[c];
        const int64_t window = up.output * p.x.output + across.output;
        const auto position = static_cast<Index>(up.position * p.x.kernel + across.position);
        if (index[window] == position) sum += Load(dy[window]);
      }
    }
    return sum;
  }

  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const MaxPoolGradParameters*>(i.parameters);
    const Index* index = Data<const Index>(context, i, 0);
    const T* dy = Data<const T>(context, i, 1);
    T* dx = Data<T>(context, i, 2);
    const int64_t outputs = p.y.output * p.x.output;
    for (int64_t plane = 0; plane < p.planes; ++plane, index += outputs, dy += outputs) {
      for (size_t row = 0; row + 1 < p.rows.begin.size(); ++row) {
        for (size_t column = 0; column + 1 < p.columns.begin.size(); ++column) {
          *dx++ = Store<T>(MaxPoolSum(p, index, dy, row, column));
        }
      }
    }
  }
};

template <class T>
using PoolU8 = MaxPoolPool<T, uint8_t>;
template <class T>
using PoolI32 = MaxPoolPool<T, int32_t>;
template <class T>
using PoolGradU8 = MaxPoolPoolGrad<T, uint8_t>;
template <class T>
using PoolGradI32 = MaxPoolPoolGrad<T, int32_t>;

PreparedKernel PrepareMaxPool(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const Shape& x = node.inputs[0].shape;
  const Window window = WindowOf(x, node.attributes.As<MaxPoolAttributes>().window());
  const DType dtype = node.inputs[0].dtype;
  const bool bytes = node.outputs[1].dtype == DType::kU8;
  return PreparedKernel::Of(bytes ? ForFloat<PoolU8>(dtype) : ForFloat<PoolI32>(dtype),
                            MaxPoolParameters{x[0].size * x[1].size, window.y, window.x,
                                              ReachesOf(window.y), ReachesOf(window.x)});
}

PreparedKernel PrepareMaxPoolGrad(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const auto& attributes = node.attributes.As<PoolGradAttributes>();
  const Window window = WindowOf(attributes.input, attributes.window());
  const DType dtype = node.inputs[1].dtype;
  const bool bytes = node.inputs[0].dtype == DType::kU8;
  return PreparedKernel::Of(
      bytes ? ForFloat<PoolGradU8>(dtype) : ForFloat<PoolGradI32>(dtype),
      MaxPoolGradParameters{attributes.input[0].size * attributes.input[1].size, window.y, window.x,
                            ReadersOf(window.y), ReadersOf(window.x)});
}

bool SupportsGrad(const NodeSignature& node) { return IsComputed(node.inputs[1].dtype); }

}  // namespace

KernelDef max_pool() {
  return {.name = "reference.max_pool", .supports = FirstInputIsFloat, .prepare = PrepareMaxPool};
}
KernelDef max_pool_grad() {
  return {
      .name = "reference.max_pool_grad", .supports = SupportsGrad, .prepare = PrepareMaxPoolGrad};
}

}  // namespace cgrun::reference
