// Estimates the time of Winograd's algorithm.
#include "src/kernels/onednn/winograd.h"

namespace cgrun::onednn {
namespace {

constexpr int64_t kKernel = 3;
constexpr int64_t kTile = 4;         // results of a tile, each way
constexpr int64_t kTransformed = 6;  // elements of one

// Products of small matrices reach this part of the speed of large ones. The transformed tiles are
// written and read, and mostly stay in the caches. The weights do not.
constexpr double kSpeedOfProducts = 0.8;
constexpr double kTileBytesPerSecond = 60e9;
constexpr double kWeightBytesPerSecond = 10e9;

int64_t Tiles(int64_t side) { return (side + kTile - 1) / kTile; }

}  // namespace

double WinogradSeconds(const Shape& x, const Shape& y, double direct, int threads) {
  const double tiles =
      static_cast<double>(y[0].size) * static_cast<double>(Tiles(y[2].size) * Tiles(y[3].size));
  const double transformed = tiles * kTransformed * kTransformed;  // elements of a channel
  const double results = static_cast<double>(y[0].size * y[2].size * y[3].size);
  const double products = direct * transformed / (results * kKernel * kKernel) / kSpeedOfProducts;
  const double tile_bytes =
      2 * transformed * static_cast<double>((x[1].size + y[1].size) * sizeof(float));
  const double weight_bytes = 2.0 * kTransformed * kTransformed *
                              static_cast<double>(x[1].size * y[1].size * sizeof(float));
  return products / threads + tile_bytes / kTileBytesPerSecond +
         weight_bytes / kWeightBytesPerSecond;
}

}  // namespace cgrun::onednn
