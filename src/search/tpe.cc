#include "src/search/tpe.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "src/search/random_part.h"

namespace cgrun {
namespace {

constexpr uint64_t kCandidates = 24;

// Mixes normal densities on [0, 1]: each observation has one, and a wide one lies over all.
class Mixture {
 public:
  explicit Mixture(std::vector<double> places) : places_(std::move(places)) {
    std::ranges::sort(places_);
    const double least = 1.0 / std::min<double>(100, static_cast<double>(places_.size()) + 2);
    for (size_t i = 0; i < places_.size(); ++i) {
      const double left = i == 0 ? places_[i] : places_[i] - places_[i - 1];
      const double right = i + 1 == places_.size() ? 1 - places_[i] : places_[i + 1] - places_[i];
      widths_.push_back(std::clamp(std::max(left, right), least, 1.0));
    }
    places_.push_back(0.5);
    widths_.push_back(1);
  }

  // Draws a number from the density by two uniform ones.
  double Draw(double which, double part) const {
    const auto count = static_cast<double>(places_.size());
    const size_t i = std::min(static_cast<size_t>(which * count), places_.size() - 1);
    // The middle of the normal density that lies in [0, 1], by bisection of its integral.
    const double low = Below(i, 0), high = Below(i, 1);
    const double wanted = low + part * (high - low);
    double from = 0, to = 1;
    for (int step = 0; step < 40; ++step) {
      const double middle = (from + to) / 2;
      (Below(i, middle) < wanted ? from : to) = middle;
    }
    return (from + to) / 2;
  }

  double DensityAt(double x) const {
    double sum = 0;
    for (size_t i = 0; i < places_.size(); ++i) {
      const double z = (x - places_[i]) / widths_[i];
      const double normal = std::exp(-z * z / 2) / widths_[i];
      sum += normal / (Below(i, 1) - Below(i, 0));
    }
    return sum / static_cast<double>(places_.size());
  }

 private:
  double Below(size_t i, double x) const {
    return std::erfc(-(x - places_[i]) / widths_[i] / std::numbers::sqrt2) / 2;
  }

  std::vector<double> places_, widths_;
};

// Returns the place of a number in its range, from 0 to 1.
double PlaceOf(const Range& range, double number) {
  if (range.max <= range.min) return 0.5;
  return range.log ? std::log(number / range.min) / std::log(range.max / range.min)
                   : (number - range.min) / (range.max - range.min);
}

Mixture MixtureOf(const std::vector<const PastTrial*>& trials, size_t parameter,
                  const Range& range) {
  std::vector<double> places;
  for (const PastTrial* trial : trials) {
    const auto& setting = trial->settings[parameter];
    if (setting) places.push_back(PlaceOf(range, setting->number));
  }
  return Mixture(std::move(places));
}

// Returns the probability of each choice. One trial is added to those seen, with equal parts for
// all choices, so that none is 0.
std::vector<double> SharesOf(const std::vector<const PastTrial*>& trials, size_t parameter,
                             size_t choices) {
  std::vector<double> shares(choices, 1.0 / static_cast<double>(choices));
  double sum = 1;
  for (const PastTrial* trial : trials) {
    const auto& setting = trial->settings[parameter];
    if (!setting) continue;
    shares[setting->choice] += 1;
    sum += 1;
  }
  for (double& share : shares) share /= sum;
  return shares;
}

// Random number `i` of a proposal, of which each attempt has its own.
double PartOf(const DrawKey& key, const SearchParameter& parameter, uint64_t i) {
  return RandomPart(key.seed, parameter.path.value, key.trial,
                    (key.attempt + 1) * 4 * kCandidates + i);
}

}  // namespace

TreeParzen::TreeParzen(const Space& space, std::span<const PastTrial> known) : space_(space) {
  for (const PastTrial& trial : known) {
    if (trial.loss) bad_.push_back(&trial);
  }
  std::ranges::stable_sort(bad_, {}, [](const PastTrial* trial) { return *trial->loss; });
  const auto count = static_cast<double>(bad_.size());
  const auto good = static_cast<std::ptrdiff_t>(std::min(std::ceil(0.15 * count), 25.0));
  good_.assign(bad_.begin(), bad_.begin() + good);
  bad_.erase(bad_.begin(), bad_.begin() + good);
}

Configuration TreeParzen::Draw(const DrawKey& key) const {
  Configuration settings;
  for (size_t i = 0; i < space_.size(); ++i) {
    std::optional<Setting> setting;
    if (space_.IsActive(i, settings)) {
      setting = space_[i].values.empty() ? DrawNumber(i, key) : DrawChoice(i, key);
    }
    settings.push_back(setting);
  }
  return settings;
}

Setting TreeParzen::DrawChoice(size_t parameter, const DrawKey& key) const {
  const SearchParameter& of = space_[parameter];
  const std::vector<double> shares = SharesOf(good_, parameter, of.values.size());
  double left = PartOf(key, of, 0);
  size_t choice = 0;
  while (choice + 1 < shares.size() && left >= shares[choice]) left -= shares[choice++];
  return {choice, 0};
}

Setting TreeParzen::DrawNumber(size_t parameter, const DrawKey& key) const {
  const SearchParameter& of = space_[parameter];
  const Mixture good = MixtureOf(good_, parameter, of.range);
  const Mixture bad = MixtureOf(bad_, parameter, of.range);
  double best = 0.5, best_ratio = -1;
  for (uint64_t i = 0; i < kCandidates; ++i) {
    const double x = good.Draw(PartOf(key, of, 2 * i), PartOf(key, of, 2 * i + 1));
    const double ratio = good.DensityAt(x) / bad.DensityAt(x);
    if (ratio > best_ratio) best = x, best_ratio = ratio;
  }
  return space_.At(parameter, best);
}

}  // namespace cgrun
