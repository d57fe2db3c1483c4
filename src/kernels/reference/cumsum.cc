// Computes cumsum, line by line. Floats are added in f64.
#include "src/ops/cumsum.h"

#include "src/kernels/reference/axis_walk.h"
#include "src/kernels/reference/integers.h"
#include "src/kernels/reference/kernels.h"

namespace cgrun::reference {
namespace {

struct CumsumParameters {
  AxisLines lines;
  bool exclusive = false;
  bool reverse = false;
};

// Holds the sum so far.
template <class T>
struct RunningSum {
  double sum = 0;
  void Add(T x) { sum += LoadF64(x); }
  T Rounded() const { return StoreF64<T>(sum); }
};

template <class T>
requires std::is_integral_v<T>
struct RunningSum<T> {
  T sum = 0;
  void Add(T x) { sum = integers::Add()(sum, x); }
  T Rounded() const { return sum; }
};

template <class T>
struct Cumsum {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const CumsumParameters*>(i.parameters);
    const T* x = Data<const T>(context, i, 0);
    T* y = Data<T>(context, i, 1);
    ForEachLine(p.lines, [&](int64_t, int64_t first) {
      RunningSum<T> sum;
      for (int64_t k = 0; k < p.lines.size; ++k) {
        const int64_t at = first + (p.reverse ? p.lines.size - 1 - k : k) * p.lines.inner;
        if (p.exclusive) y[at] = sum.Rounded();
        sum.Add(x[at]);
        if (!p.exclusive) y[at] = sum.Rounded();
      }
    });
  }
};

PreparedKernel PrepareCumsum(const KernelRequest& request) {
  const auto& a = request.node.attributes.As<CumsumAttributes>();
  const TensorType& x = request.node.inputs[0];
  return PreparedKernel::Of(ForNumber<Cumsum>(x.dtype),
                            CumsumParameters{LinesOf(x.shape, a.axis), a.exclusive, a.reverse});
}

}  // namespace

KernelDef cumsum() {
  return {.name = "reference.cumsum", .supports = AllNumbers, .prepare = PrepareCumsum};
}

}  // namespace cgrun::reference
