// Barycentres give the order of the boxes, and isotonic regression their places.
#include "src/report/lane_order.h"

#include <algorithm>
#include <limits>

namespace cgrun {
namespace {

constexpr int kOrderSweeps = 8;
constexpr int kPlaceSweeps = 13;   // odd: the last one goes down
constexpr double kBoxWeight = 20;  // a line gives way to a box
constexpr double kSideWeight = 0.05;

class Placer {
 public:
  explicit Placer(const Lane& lane)
      : lane_(lane), above_(lane.items.size()), below_(lane.items.size()), x_(lane.items.size()) {
    int layers = 0;
    for (const LaneItem& item : lane.items) layers = std::max(layers, item.layer + 1);
    layers_.resize(static_cast<size_t>(layers));
    for (size_t i = 0; i < lane.items.size(); ++i) {
      layers_[static_cast<size_t>(lane.items[i].layer)].push_back(i);
    }
    for (const auto& [a, b] : lane.links) Link(static_cast<size_t>(a), static_cast<size_t>(b));
  }

  std::vector<double> Place() {
    Order();
    for (auto& layer : layers_) Settle(layer, {});
    for (int sweep = 0; sweep < kPlaceSweeps; ++sweep) {
      const bool down = sweep % 2 == 0;
      for (size_t i = 0; i < layers_.size(); ++i) {
        auto& layer = layers_[down ? i : layers_.size() - 1 - i];
        Settle(layer, Wanted(layer, down ? above_ : below_));
      }
    }
    double left = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < x_.size(); ++i) left = std::min(left, x_[i] - lane_.items[i].width / 2);
    for (double& x : x_) x -= left;
    return x_;
  }

 private:
  void Link(size_t a, size_t b) {
    if (lane_.items[a].layer > lane_.items[b].layer) std::swap(a, b);
    below_[a].push_back(b);
    above_[b].push_back(a);
  }

  void Order() {
    for (auto& layer : layers_) {
      std::stable_partition(layer.begin(), layer.end(),
                            [&](size_t item) { return !lane_.items[item].to_right; });
    }
    Number();
    auto best = layers_;
    int64_t fewest = Crossings();
    for (int sweep = 0; sweep < kOrderSweeps && fewest > 0; ++sweep) {
      const bool down = sweep % 2 == 0;
      for (size_t i = 0; i < layers_.size(); ++i) {
        Sort(layers_[down ? i : layers_.size() - 1 - i], down ? above_ : below_);
      }
      const int64_t crossings = Crossings();
      if (crossings < fewest) best = layers_, fewest = crossings;
    }
    layers_ = best;
    Number();
  }

  // Sets x_ to the place of each item in its layer.
  void Number() {
    for (const auto& layer : layers_) {
      for (size_t i = 0; i < layer.size(); ++i) x_[layer[i]] = static_cast<double>(i);
    }
  }

  void Sort(std::vector<size_t>& layer, const std::vector<std::vector<size_t>>& neighbours) {
    std::vector<std::pair<double, size_t>> keys;
    for (const size_t item : layer) {
      double sum = 0;
      for (const size_t other : neighbours[item]) sum += x_[other];
      const auto count = static_cast<double>(neighbours[item].size());
      keys.emplace_back(count > 0 ? sum / count : x_[item], item);
    }
    std::stable_sort(keys.begin(), keys.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t i = 0; i < keys.size(); ++i) {
      layer[i] = keys[i].second;
      x_[layer[i]] = static_cast<double>(i);
    }
  }

  int64_t Crossings() const {
    int64_t crossings = 0;
    for (const auto& layer : layers_) {
      std::vector<std::pair<double, double>> links;
      for (const size_t item : layer) {
        for (const size_t other : below_[item]) links.emplace_back(x_[item], x_[other]);
      }
      for (size_t i = 0; i < links.size(); ++i) {
        for (size_t j = 0; j < i; ++j) {
          crossings += (links[i].first - links[j].first) * (links[i].second - links[j].second) < 0;
        }
      }
    }
    return crossings;
  }

  // 0 pulls first.
  int KindOf(size_t item) const {
    if (lane_.items[item].side) return 2;
    return lane_.items[item].box ? 0 : 1;
  }

  double WeightOf(size_t item) const {
    if (lane_.items[item].side) return kSideWeight;
    return lane_.items[item].box ? kBoxWeight : 1;
  }

  // In the middle of its neighbours; a box follows boxes before it follows lines.
  std::vector<double> Wanted(const std::vector<size_t>& layer,
                             const std::vector<std::vector<size_t>>& neighbours) const {
    std::vector<double> wanted;
    for (const size_t item : layer) {
      double sum = 0, count = 0;
      for (const int kind : {0, 1, 2}) {
        for (const size_t other : neighbours[item]) {
          if (KindOf(other) == kind) sum += x_[other], ++count;
        }
        if (lane_.items[item].box && count > 0) break;
      }
      wanted.push_back(count > 0 ? sum / count : x_[item]);
    }
    return wanted;
  }

  // Nothing wanted: side by side.
  void Settle(const std::vector<size_t>& layer, std::vector<double> wanted) {
    std::vector<double> widths, weights;
    for (const size_t item : layer) {
      widths.push_back(lane_.items[item].width);
      weights.push_back(WeightOf(item));
    }
    wanted.resize(layer.size(), 0);
    const std::vector<double> placed = SpreadApart(wanted, widths, weights);
    for (size_t i = 0; i < layer.size(); ++i) x_[layer[i]] = placed[i];
  }

  const Lane& lane_;
  std::vector<std::vector<size_t>> layers_;
  std::vector<std::vector<size_t>> above_, below_;  // linked items in the next layers
  std::vector<double> x_;
};

}  // namespace

std::vector<double> SpreadApart(const std::vector<double>& wanted,
                                const std::vector<double>& widths,
                                const std::vector<double>& weights) {
  struct Pool {
    double mean, weight;
    size_t count;
  };
  std::vector<Pool> pools;
  std::vector<double> shift(wanted.size(), 0);
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (i > 0) shift[i] = shift[i - 1] + (widths[i - 1] + widths[i]) / 2;
    pools.push_back({wanted[i] - shift[i], weights[i], 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean > pools.back().mean) {
      const Pool last = pools.back();
      pools.pop_back();
      Pool& pool = pools.back();
      pool.mean = (pool.mean * pool.weight + last.mean * last.weight) / (pool.weight + last.weight);
      pool.weight += last.weight;
      pool.count += last.count;
    }
  }
  std::vector<double> placed;
  for (const Pool& pool : pools) {
    for (size_t i = 0; i < pool.count; ++i) placed.push_back(pool.mean + shift[placed.size()]);
  }
  return placed;
}

std::vector<double> PlaceInLane(const Lane& lane) {
  if (lane.items.empty()) return {};
  return Placer(lane).Place();
}

}  // namespace cgrun
