// Computes avg_pool, its gradient, and global_avg_pool.
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/number.h"
#include "src/kernels/reference/reach.h"
#include "src/ops/pool.h"

namespace cgrun::reference {
namespace {

struct AvgPoolParameters {
  int64_t planes = 0;
  WindowAxis y, x;
  std::vector<Reach> rows, columns;                // by output
  std::vector<int64_t> row_counts, column_counts;  // divisors of a window's sum, by output
};

template <class T>
struct AvgPoolPool {
  using C = Compute<T>;

  static C AvgPoolSum(const AvgPoolParameters& p, const T* image, const Reach& row,
                      const Reach& column) {
    C sum = 0;
    for (int64_t u = row.first; u < row.last; ++u) {
      const T* line = image + (row.origin + u) * p.x.input + column.origin;
      for (int64_t v = column.first; v < column.last; ++v) sum += Load(line[v]);
    }
    return sum;
  }

  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const AvgPoolParameters*>(i.parameters);
    const T* x = Data<const T>(context, i, 0);
    T* y = Data<T>(context, i, 1);
    for (int64_t plane = 0; plane < p.planes; ++plane, x += p.y.input * p.x.input) {
      for (size_t row = 0; row < p.rows.size(); ++row) {
        for (size_t column = 0; column < p.columns.size(); ++column) {
          const C count = static_cast<C>(p.row_counts[row] * p.column_counts[column]);
          *y++ = Store<T>(AvgPoolSum(p, x, p.rows[row], p.columns[column]) / count);
        }
      }
    }
  }
};

struct AvgPoolGradParameters {
  int64_t planes = 0;
  WindowAxis y, x;
  Readers rows, columns;                           // by input
  std::vector<int64_t> row_counts, column_counts;  // by output
};

template <class T>
struct AvgPoolPoolGrad {
  using C = Compute<T>;

  // Returns what one input of an image gets.
  static C AvgPoolSum(const AvgPoolGradParameters& p, const T* dy, size_t row, size_t column) {
    C sum = 0;
    for (size_t r = p.rows.begin[row]; r < p.rows.begin[row + 1]; ++r) {
      const int64_t up = p.rows.all[r].output;
      for (size_t c = p.columns.begin[column]; c < p.columns.begin[column + 1]; ++c) {
        const int64_t across = p.columns.all[c].output;
        const int64_t count =
            p.row_counts[static_cast<size_t>(up)] * p.column_counts[static_cast<size_t>(across)];
        sum += Load(dy[up * p.x.output + across]) / static_cast<C>(count);
      }
    }
    return sum;
  }

  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const AvgPoolGradParameters*>(i.parameters);
    const T* dy = Data<const T>(context, i, 0);
    T* dx = Data<T>(context, i, 1);
    for (int64_t plane = 0; plane < p.planes; ++plane, dy += p.y.output * p.x.output) {
      for (size_t row = 0; row + 1 < p.rows.begin.size(); ++row) {
        for (size_t column = 0; column + 1 < p.columns.begin.size(); ++column) {
          *dx++ = Store<T>(AvgPoolSum(p, dy, row, column));
        }
      }
    }
  }
};

struct GlobalParameters {
  int64_t planes = 0;
  int64_t plane = 0;  // elements
};

template <class T>
struct Global {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const GlobalParameters*>(i.parameters);
    const T* x = Data<const T>(context, i, 0);
    T* y = Data<T>(context, i, 1);
    for (int64_t c = 0; c < p.planes; ++c, x += p.plane) {
      double sum = 0;
      for (int64_t e = 0; e < p.plane; ++e) sum += static_cast<double>(Load(x[e]));
      y[c] = Store<T>(static_cast<Compute<T>>(sum / static_cast<double>(p.plane)));
    }
  }
};

PreparedKernel PrepareAvgPool(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const auto& attributes = node.attributes.As<AvgPoolAttributes>();
  const Shape& x = node.inputs[0].shape;
  const Window window = WindowOf(x, attributes.window());
  return PreparedKernel::Of(
      ForFloat<AvgPoolPool>(node.inputs[0].dtype),
      AvgPoolParameters{x[0].size * x[1].size, window.y, window.x, ReachesOf(window.y),
                        ReachesOf(window.x), CountsOf(window.y, attributes.count_include_pad),
                        CountsOf(window.x, attributes.count_include_pad)});
}

PreparedKernel PrepareAvgPoolGrad(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  const auto& attributes = node.attributes.As<PoolGradAttributes>();
  const Window window = WindowOf(attributes.input, attributes.window());
  return PreparedKernel::Of(
      ForFloat<AvgPoolPoolGrad>(node.inputs[0].dtype),
      AvgPoolGradParameters{attributes.input[0].size * attributes.input[1].size, window.y, window.x,
                            ReadersOf(window.y), ReadersOf(window.x),
                            CountsOf(window.y, attributes.count_include_pad),
                            CountsOf(window.x, attributes.count_include_pad)});
}

PreparedKernel PrepareGlobal(const KernelRequest& request) {
  const Shape& x = request.node.inputs[0].shape;
  const int64_t planes = x[0].size * x[1].size;
  return PreparedKernel::Of(ForFloat<Global>(request.node.inputs[0].dtype),
                            GlobalParameters{planes, x.Elements() / planes});
}

}  // namespace

KernelDef avg_pool() {
  return {.name = "reference.avg_pool", .supports = AllFloat, .prepare = PrepareAvgPool};
}
KernelDef avg_pool_grad() {
  return {.name = "reference.avg_pool_grad", .supports = AllFloat, .prepare = PrepareAvgPoolGrad};
}
KernelDef global_avg_pool() {
  return {.name = "reference.global_avg_pool", .supports = AllFloat, .prepare = PrepareGlobal};
}

}  // namespace cgrun::reference
