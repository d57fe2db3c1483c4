#include "src/search/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "src/base/check.h"

namespace cgrun {
namespace {

// Tables and model files show a number as it is used, so it has few digits.
double RoundToFourDigits(double number) {
  return std::strtod(fmt::format("{:.4g}", number).c_str(), nullptr);
}

// Adding steps leaves digits that nobody wrote.
double RoundToTwelveDigits(double number) {
  return std::strtod(fmt::format("{:.12g}", number).c_str(), nullptr);
}

}  // namespace

Space::Space(const std::vector<SearchParameter>& parameters) : parameters_(parameters) {
  for (const SearchParameter& parameter : parameters) {
    std::vector<size_t>& looked_at = conditions_.emplace_back();
    for (const Condition& condition : parameter.when) {
      const auto found = std::ranges::find(parameters, condition.path.value,
                                           [](const SearchParameter& p) { return p.path.value; });
      CGRUN_CHECK(found != parameters.end()) << "a condition on no parameter";
      looked_at.push_back(static_cast<size_t>(found - parameters.begin()));
    }
  }
}

bool Space::IsActive(size_t parameter, const Configuration& settings) const {
  const std::vector<Condition>& when = parameters_[parameter].when;
  for (size_t i = 0; i < when.size(); ++i) {
    const size_t other = conditions_[parameter][i];
    if (!settings[other]) return false;
    const TreeNode value = ValueOf(other, *settings[other]);
    if (std::ranges::find(when[i].values, value) == when[i].values.end()) return false;
  }
  return true;
}

std::optional<int64_t> Space::Levels(size_t parameter) const {
  const auto& [path, values, range, when] = parameters_[parameter];
  if (!values.empty()) return std::ssize(values);
  if (range.step == 0) return std::nullopt;
  const double count = std::floor((range.max - range.min) / range.step * (1 + 1e-12)) + 1;
  return count > 1e15 ? std::nullopt : std::optional(static_cast<int64_t>(count));
}

Setting Space::Level(size_t parameter, int64_t level) const {
  const auto& [path, values, range, when] = parameters_[parameter];
  if (!values.empty()) return {static_cast<size_t>(level), 0};
  return {0, RoundToTwelveDigits(range.min + static_cast<double>(level) * range.step)};
}

Setting Space::At(size_t parameter, double part) const {
  if (const auto levels = Levels(parameter)) {
    const auto level = static_cast<int64_t>(part * static_cast<double>(*levels));
    return Level(parameter, std::min(level, *levels - 1));
  }
  const Range& range = parameters_[parameter].range;
  const double number = range.log ? range.min * std::pow(range.max / range.min, part)
                                  : range.min + part * (range.max - range.min);
  const double rounded = range.integer ? std::round(number) : RoundToFourDigits(number);
  return {0, std::clamp(rounded, range.min, range.max)};
}

TreeNode Space::ValueOf(size_t parameter, const Setting& setting) const {
  const auto& [path, values, range, when] = parameters_[parameter];
  if (!values.empty()) return values[setting.choice];
  return TreeNode::Scalar(TextOf(parameter, setting), path.mark);
}

std::string Space::TextOf(size_t parameter, const Setting& setting) const {
  const auto& [path, values, range, when] = parameters_[parameter];
  if (values.empty()) return fmt::format("{:.12g}", setting.number);
  const TreeNode& value = values[setting.choice];
  if (value.IsScalar()) return value.scalar;
  return value.IsNull() ? "" : FlowText(value);
}

std::string Space::KeyOf(const Configuration& settings) const {
  std::string key;
  for (size_t i = 0; i < settings.size(); ++i) {
    key += settings[i] ? fmt::format("{}:{};", settings[i]->choice, settings[i]->number) : ";";
  }
  return key;
}

std::optional<std::vector<Configuration>> Space::Enumerate() const {
  std::vector<Configuration> all;
  Configuration settings;
  if (!Enumerate(settings, all)) return std::nullopt;
  return all;
}

bool Space::Enumerate(Configuration& settings, std::vector<Configuration>& all) const {
  const size_t parameter = settings.size();
  if (parameter == size()) {
    all.push_back(settings);
    return std::ssize(all) <= kMostCounted;
  }
  if (!IsActive(parameter, settings)) {
    settings.emplace_back();
    const bool counted = Enumerate(settings, all);
    settings.pop_back();
    return counted;
  }
  const auto levels = Levels(parameter);
  if (!levels) return false;
  for (int64_t level = 0; level < *levels; ++level) {
    settings.push_back(Level(parameter, level));
    const bool counted = Enumerate(settings, all);
    settings.pop_back();
    if (!counted) return false;
  }
  return true;
}

}  // namespace cgrun
