#include "src/results/prediction.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "src/base/finite.h"
#include "src/base/host_tensor.h"

namespace cgrun {
namespace {

void Softmax(std::vector<double>& values) {
  const double largest = *std::max_element(values.begin(), values.end());
  double sum = 0;
  for (double& value : values) sum += value = std::exp(value - largest);
  for (double& value : values) value /= sum;
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// There is a probability for each class.
std::vector<double> ProbabilitiesOf(const PredictedOutput& output, std::span<const double> values) {
  std::vector<double> p(values.begin(), values.end());
  switch (output.scores) {
    case Scores::kLogits:
      Softmax(p);
      break;
    case Scores::kLogProbabilities:
      for (double& value : p) value = std::exp(value);
      break;
    case Scores::kYesNoLogits:
      for (double& value : p) value = Sigmoid(value);
      break;
    case Scores::kNone:
    case Scores::kProbabilities:
    case Scores::kYesNo:
      break;
  }
  if (IsYesNo(output.scores) && p.size() == 1) p = {1 - p[0], p[0]};
  return p;
}

}  // namespace

bool IsYesNo(Scores scores) { return scores == Scores::kYesNoLogits || scores == Scores::kYesNo; }

int64_t PredictedOutput::class_count() const {
  const int64_t elements = shape.Elements();
  return IsYesNo(scores) && elements == 1 ? 2 : elements;
}

std::vector<ClassScore> TopClasses(const PredictedOutput& output, std::span<const double> values,
                                   int64_t count) {
  const std::vector<double> probabilities = ProbabilitiesOf(output, values);
  const auto rank = [&](int64_t i) {
    const double p = probabilities[static_cast<size_t>(i)];
    return std::isnan(p) ? -std::numeric_limits<double>::infinity() : p;
  };
  std::vector<int64_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) { return rank(a) > rank(b); });
  std::vector<ClassScore> top;
  for (int64_t i : order) {
    if (static_cast<int64_t>(top.size()) == count) break;
    top.push_back({i, probabilities[static_cast<size_t>(i)]});
  }
  return top;
}

std::vector<int64_t> ClassesOfPlaces(const PredictedOutput& output,
                                     std::span<const double> values) {
  std::vector<int64_t> best(static_cast<size_t>(output.places), 0);
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t place = i % best.size();
    const auto so_far = static_cast<size_t>(best[place]) * best.size() + place;
    if (values[i] > values[so_far]) best[place] = static_cast<int64_t>(i / best.size());
  }
  return best;
}

bool IsUsable(const PredictedOutput& output, std::span<const std::byte> bytes) {
  if (AllFinite(output.dtype, bytes)) return true;
  const auto size = static_cast<size_t>(SizeOf(output.dtype));
  for (size_t i = 0; i < bytes.size(); i += size) {
    const double value = NumberAt(output.dtype, &bytes[i]);
    const bool is_zero = output.scores == Scores::kLogProbabilities && value < 0;
    if (!std::isfinite(value) && !is_zero) return false;
  }
  return true;
}

std::string SampleOrigin::ToString() const {
  return index ? file + "[" + std::to_string(*index) + "]" : file;
}

}  // namespace cgrun
