// Computes how much each parameter mattered: the share of the variance that its groups explain (η²
// of a one-way analysis of variance).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <optional>

#include "src/report/search_page.h"

namespace cgrun {
namespace {

constexpr size_t kGroups = 4;
constexpr size_t kLeastTrials = 4;

struct Point {
  std::string setting;
  double rank = 0;
};

std::optional<double> NumberOf(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

using Groups = std::map<std::string, std::vector<double>>;

Groups GroupsOf(std::vector<Point> points) {
  std::map<std::string, size_t> counts;
  for (const Point& point : points) ++counts[point.setting];
  const bool are_numbers = std::ranges::all_of(
      points, [](const Point& point) { return NumberOf(point.setting).has_value(); });
  Groups groups;
  if (!are_numbers || counts.size() <= kGroups) {
    for (const Point& point : points) groups[point.setting].push_back(point.rank);
    return groups;
  }
  std::ranges::stable_sort(points, {}, [](const Point& point) { return *NumberOf(point.setting); });
  for (size_t i = 0; i < kGroups; ++i) {
    const size_t begin = i * points.size() / kGroups, end = (i + 1) * points.size() / kGroups;
    auto& ranks = groups[points[begin].setting + " to " + points[end - 1].setting];
    for (size_t k = begin; k < end; ++k) ranks.push_back(points[k].rank);
  }
  return groups;
}

double MeanOf(const std::vector<double>& numbers) {
  double sum = 0;
  for (const double number : numbers) sum += number;
  return sum / static_cast<double>(numbers.size());
}

std::optional<ParameterWeight> WeightOf(const std::string& parameter,
                                        const std::vector<Point>& points) {
  const Groups groups = GroupsOf(points);
  if (points.size() < kLeastTrials || groups.size() < 2) return std::nullopt;
  std::vector<double> all;
  for (const Point& point : points) all.push_back(point.rank);
  const double mean = MeanOf(all);
  double total = 0, between = 0;
  for (const double rank : all) total += (rank - mean) * (rank - mean);
  ParameterWeight weight{parameter, 0, ""};
  double best = mean;
  for (const auto& [setting, ranks] : groups) {
    const double of_group = MeanOf(ranks);
    between += static_cast<double>(ranks.size()) * (of_group - mean) * (of_group - mean);
    if (of_group < best) best = of_group, weight.best = setting;
  }
  weight.share = total > 0 ? between / total : 0;
  return weight;
}

}  // namespace

std::vector<ParameterWeight> WeighParameters(const SearchResult& result) {
  std::vector<ParameterWeight> weights;
  for (size_t i = 0; i < result.parameters.size(); ++i) {
    std::vector<Point> points;
    double rank = 0;
    for (const TrialResult& trial : result.trials) {
      if (!trial.value) continue;
      rank += 1;
      if (!trial.settings[i].empty()) points.push_back({trial.settings[i], rank});
    }
    if (const auto weight = WeightOf(result.parameters[i], points)) weights.push_back(*weight);
  }
  std::ranges::stable_sort(weights, std::ranges::greater(), &ParameterWeight::share);
  return weights;
}

}  // namespace cgrun
