// Sizes are compared with 1, about which networks begin, and with each other.
#include "src/data/column_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <limits>

#include "src/base/word_list.h"
#include "src/data/options.h"

namespace cgrun {
namespace {

constexpr double kLarge = 1000;     // of a mean or a deviation
constexpr double kDifferent = 100;  // times another column's deviation
constexpr double kNotSmall = 10;  // of a mean or a deviation: smaller ones never are too different
constexpr size_t kMostNamed = 3;

// Of a column whose values are all the same.
bool IsConstant(double deviation) { return deviation == 0; }

// Of what a column holds as zeros and ones, by their mean: rare ones make its deviation small.
bool IsIndicator(double mean, double deviation) {
  const double square = mean * (1 - mean);
  return mean >= 0 && mean <= 1 && std::abs(deviation * deviation - square) <= 1e-6 * square;
}

std::string NumberText(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g", number);
  if (std::abs(number) >= 1000 && std::abs(number) < 1e7) {
    std::snprintf(text, sizeof(text), "%.0f", number);
  }
  return text;
}

}  // namespace

bool IsLargeSize(double mean, double deviation) {
  return std::max(std::abs(mean), deviation) > kLarge;
}

std::string SizeText(double mean, double deviation) {
  return "mean " + NumberText(mean) + ", deviation " + NumberText(deviation);
}

std::string DoubtOfColumns(const std::vector<std::string>& names, const std::vector<double>& means,
                           const std::vector<double>& deviations) {
  constexpr double kOfIndicators = 0.5;
  std::vector<size_t> columns;
  for (size_t i = 0; i < std::min(names.size(), means.size()); ++i) {
    if (!std::isnan(means[i])) columns.push_back(i);  // NaN: it has no value
  }
  if (columns.empty()) return "";
  const auto spread = [&](size_t i) {
    if (IsConstant(deviations[i])) return 0.0;  // a column of ones is no indicator either
    return IsIndicator(means[i], deviations[i]) ? kOfIndicators : deviations[i];
  };
  const auto size = [&](size_t i) { return std::max(std::abs(means[i]), deviations[i]); };
  const size_t smallest = *std::ranges::min_element(columns, {}, [&](size_t i) {
    return IsConstant(deviations[i]) ? std::numeric_limits<double>::infinity() : spread(i);
  });
  const auto text = [&](size_t i) {
    return QuotedText(names[i]) + " (" + SizeText(means[i], deviations[i]) + ")";
  };
  const auto is_large = [&](size_t i) { return IsLargeSize(means[i], deviations[i]); };
  const bool too_large = std::ranges::any_of(columns, is_large);
  const auto is_different = [&](size_t i) {
    return size(i) > kNotSmall && spread(i) > kDifferent * spread(smallest);
  };
  std::erase_if(columns, [&](size_t i) { return !is_large(i) && !is_different(i); });
  if (columns.empty()) return "";
  std::ranges::stable_sort(columns, std::greater(), size);
  std::vector<std::string> texts;
  for (const size_t column : columns) texts.push_back(text(column));
  return std::string("the features are ") +
         (too_large ? "large numbers: " : "of very different sizes: ") +
         ListFirst(texts, kMostNamed) +
         (is_different(columns[0]) ? ", beside " + text(smallest) : "");
}

}  // namespace cgrun
