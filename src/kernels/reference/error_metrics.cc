// Sums of errors: mean_absolute_error, mean_squared_error and r2, in f64 and in index order.
#include <algorithm>

#include "src/kernels/loss_formulas.h"
#include "src/kernels/reference/kernels.h"
#include "src/kernels/reference/losses.h"
#include "src/ops/metric.h"

namespace cgrun::reference {
namespace {

template <class Formula>
struct ErrorSum {
  template <class T, class Target>
  struct Kernel {
    static void Run(const RunContext& context, const Instruction& i) noexcept {
      const int64_t elements = static_cast<const ElementwiseParameters*>(i.parameters)->elements;
      const T* prediction = Data<const T>(context, i, 0);
      const Target* target = Data<const Target>(context, i, 1);
      double* sums = Data<double>(context, i, 2);
      double sum = 0;
      for (int64_t e = 0; e < elements; ++e) {
        sum += Formula::template Loss<Target>(LoadF64(prediction[e]), LoadF64(target[e]));
      }
      sums[0] = sum;
      sums[1] = static_cast<double>(elements);
    }
  };

  static PreparedKernel Prepare(const KernelRequest& request) {
    return PreparedKernel::Of(ForPredictionAndTarget<Kernel>(request.node),
                              ElementwiseParameters{request.node.inputs[0].shape.Elements()});
  }
};

struct R2Parameters {
  int64_t samples = 0;
  int64_t columns = 0;
};

// Follows Welford's recurrence (1962), which keeps the mean of the targets so far, and their
// squares about it.
template <class T, class Target>
struct R2 {
  static void Run(const RunContext& context, const Instruction& i) noexcept {
    const auto& p = *static_cast<const R2Parameters*>(i.parameters);
    const T* prediction = Data<const T>(context, i, 0);
    const Target* target = Data<const Target>(context, i, 1);
    double* sums = Data<double>(context, i, 2);
    std::fill_n(sums, kRegressionRows * p.columns, 0.0);
    std::fill_n(sums + kCountRow * p.columns, p.columns, static_cast<double>(p.samples));
    for (int64_t n = 0; n < p.samples; ++n) {
      for (int64_t c = 0; c < p.columns; ++c) {
        const double t = LoadF64(*target++), error = t - LoadF64(*prediction++);
        double &mean = sums[kMeanRow * p.columns + c], apart = t - mean;
        mean += apart / static_cast<double>(n + 1);
        sums[kSpreadRow * p.columns + c] += apart * (t - mean);
        sums[kErrorRow * p.columns + c] += error * error;
      }
    }
  }
};

PreparedKernel PrepareR2(const KernelRequest& request) {
  const NodeSignature& node = request.node;
  return PreparedKernel::Of(
      ForPredictionAndTarget<R2>(node),
      R2Parameters{node.inputs[0].shape[0].size, node.outputs[0].shape[1].size});
}

}  // namespace

KernelDef mean_absolute_error() {
  return {.name = "reference.mean_absolute_error",
          .supports = FirstInputIsFloat,
          .prepare = ErrorSum<formulas::AbsoluteError>::Prepare};
}
KernelDef mean_squared_error() {
  return {.name = "reference.mean_squared_error",
          .supports = FirstInputIsFloat,
          .prepare = ErrorSum<formulas::SquaredError>::Prepare};
}
KernelDef r2() {
  return {.name = "reference.r2", .supports = FirstInputIsFloat, .prepare = PrepareR2};
}

}  // namespace cgrun::reference
