#include "src/search/proposals.h"

#include <utility>

#include "src/search/random_part.h"
#include "src/search/tpe.h"

namespace cgrun {
namespace {

// A draw that gives a configuration again is repeated so often; then the first unused one is taken.
constexpr uint64_t kMostAttempts = 64;

// One proposal in so many stays random, so that no value is given up for good by a few bad trials.
constexpr int64_t kExploreEvery = 5;

}  // namespace

Proposals::Proposals(const Space& space, Method method, uint64_t seed)
    : space_(space), method_(method), seed_(seed), grid_(space.Enumerate()) {}

std::optional<int64_t> Proposals::count() const {
  if (!grid_) return std::nullopt;
  return std::ssize(*grid_);
}

Configuration Proposals::Draw(uint64_t attempt) const {
  Configuration settings;
  for (size_t i = 0; i < space_.size(); ++i) {
    const double part = RandomPart(seed_, space_[i].path.value, next_, attempt);
    settings.push_back(space_.IsActive(i, settings) ? std::optional(space_.At(i, part))
                                                    : std::nullopt);
  }
  return settings;
}

std::optional<Configuration> Proposals::FirstUnused() const {
  if (!grid_) return Draw(kMostAttempts);  // of a space that cannot be counted: it may come again
  for (const Configuration& settings : *grid_) {
    if (!used_.contains(space_.KeyOf(settings))) return settings;
  }
  return std::nullopt;
}

std::optional<Configuration> Proposals::Next(std::span<const PastTrial> known) {
  std::optional<Configuration> next;
  if (method_ != Method::kGrid) {
    const TreeParzen estimator(space_, known);
    for (uint64_t attempt = 0; attempt < kMostAttempts && !next; ++attempt) {
      const bool guided =
          method_ == Method::kTpe && estimator.knows_enough() && next_ % kExploreEvery != 0;
      Configuration drawn = guided ? estimator.Draw({seed_, next_, attempt}) : Draw(attempt);
      if (!used_.contains(space_.KeyOf(drawn))) next = std::move(drawn);
    }
  }
  if (!next) next = FirstUnused();
  if (next) used_.insert(space_.KeyOf(*next));
  ++next_;
  return next;
}

}  // namespace cgrun
