// Metrics of regression: mean_absolute_error, mean_squared_error and r2.
#include <limits>

#include "src/ops/infer.h"
#include "src/ops/loss.h"
#include "src/ops/metric.h"
#include "src/ops/op_definitions.h"

namespace cgrun::op_def {
namespace {

std::vector<TensorType> InferError(InferContext& context) {
  if (!CheckTargets(context)) return {};
  return {{DType::kF64, Shape{2}}};
}

std::vector<TensorType> InferR2(InferContext& context) {
  if (!CheckTargets(context)) return {};
  const Shape& shape = context.shape(0);
  if (shape.rank() == 0) return context.Fail("needs a prediction a sample, [N, …], not a scalar");
  Shape columns(std::vector<Dim>(shape.begin() + 1, shape.end()));
  const std::optional<Dim> count = CountElements(columns);
  if (!count || count->batch) return context.Fail("the axis of the samples must be 0");
  return {{DType::kF64, Shape{Dim(kRegressionRows), *count}}};
}

std::optional<Shape> OfError(const Attributes&, const Shape& sums) {
  if (sums != Shape{2}) return std::nullopt;
  return Shape();
}

std::optional<Shape> OfR2(const Attributes&, const Shape& sums) {
  if (sums.rank() != 2 || sums[0] != Dim(kRegressionRows)) return std::nullopt;
  return Shape();
}

void FinishError(const Attributes&, std::span<const double> sums, int64_t,
                 std::span<double> shown) noexcept {
  shown[0] = sums[1] > 0 ? sums[0] / sums[1] : 0;
}

// This is the update of Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for
// computing sample variances" (1979). Σt² - (Σt)²/n would lose the spread of targets that are far
// from 0. If all targets are the same, means do not differ, and the spread stays 0 to the bit.
void MergeR2(std::span<const double> batch, std::span<double> sums) noexcept {
  const size_t columns = sums.size() / kRegressionRows;
  for (size_t c = 0; c < columns; ++c) {
    const auto of = [&](auto rows, int64_t row) -> auto& { return rows[row * columns + c]; };
    const double more = of(batch, kCountRow), before = of(sums, kCountRow), count = before + more;
    if (more == 0) continue;
    const double apart = of(batch, kMeanRow) - of(sums, kMeanRow);
    of(sums, kCountRow) = count;
    of(sums, kMeanRow) =
        before == 0 ? of(batch, kMeanRow) : of(sums, kMeanRow) + apart * more / count;
    of(sums, kSpreadRow) += of(batch, kSpreadRow) + apart * apart * (before / count) * more;
    of(sums, kErrorRow) += of(batch, kErrorRow);
  }
}

double R2OfColumn(double count, double spread, double error) {
  if (count == 0) return std::numeric_limits<double>::quiet_NaN();
  if (spread == 0) return error == 0 ? 1 : 0;
  return 1 - error / spread;
}

void FinishR2(const Attributes&, std::span<const double> sums, int64_t,
              std::span<double> shown) noexcept {
  const size_t columns = sums.size() / kRegressionRows;
  double total = 0;
  for (size_t c = 0; c < columns; ++c) {
    total += R2OfColumn(sums[kCountRow * columns + c], sums[kSpreadRow * columns + c],
                        sums[kErrorRow * columns + c]);
  }
  shown[0] = total / static_cast<double>(columns);
}

OpCost ErrorMetricsCost(const NodeSignature& node) { return {3 * node.inputs[0].shape.Elements()}; }

OpDef ErrorMetric(std::string name, std::string summary, std::string details) {
  OpDef def;
  def.name = std::move(name);
  def.summary = std::move(summary);
  def.details = std::move(details);
  def.usage = Usage::kMetric;
  def.inputs = {{"prediction", "[N, …]"},
                {"target", "shape of the prediction; its type, bool or an integer type"}};
  def.outputs = {{"sums", "f64 [2]: the sum over all elements, and their number"}};
  def.infer = InferError;
  def.cost = ErrorMetricsCost;
  def.metric = {.shape = OfError, .finish = FinishError, .smaller_is_better = true};
  return def;
}

}  // namespace

OpDef mean_absolute_error() {
  return ErrorMetric("mean_absolute_error", "Computes the mean of |prediction - target|.",
                     "The mean over all elements of all samples, in f64. As a loss: "
                     "`absolute_error`. scikit-learn mean_absolute_error.");
}

OpDef mean_squared_error() {
  return ErrorMetric("mean_squared_error", "Computes the mean of (prediction - target)².",
                     "The mean over all elements of all samples, in f64. As a loss: "
                     "`squared_error`. scikit-learn mean_squared_error.");
}

OpDef r2() {
  OpDef def = ErrorMetric(
      "r2", "Computes the coefficient of determination, R².",
      "1 - Σ(t - y)² / Σ(t - mean of t)² over all samples, of each column of the target; then the "
      "mean of the columns. Where all targets of a column are the same, 1 if the predictions are "
      "right, else 0. The sums are kept in f64, about the mean of the targets, which may be far "
      "from 0. scikit-learn r2_score.");
  def.outputs = {{"sums", "f64 [4, columns]: samples, mean of t, Σ(t - mean)², Σ(t - y)²"}};
  def.infer = InferR2;
  def.metric = {.shape = OfR2, .finish = FinishR2, .merge = MergeR2};
  return def;
}

}  // namespace cgrun::op_def
