// Takes the unit that needs the fewest digits; of as many that of a power of 1024.
#include "src/base/written_bytes.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace cgrun {
namespace {

constexpr int64_t kMiB = 1 << 20;
constexpr int kMostDecimals = 3;
constexpr size_t kMostDigits = 5;
constexpr double kLargest = 1024;  // in front of a unit
constexpr struct {
  const char* name;
  double bytes;
} kUnits[] = {{"TiB", 0x1p40}, {"GiB", 0x1p30}, {"MiB", 0x1p20}, {"KiB", 0x1p10},
              {"TB", 1e12},    {"GB", 1e9},     {"MB", 1e6},     {"kB", 1e3}};

}  // namespace

std::string WrittenBytes(int64_t bytes) {
  if (bytes < 1000) return std::to_string(bytes) + " B";
  const auto number = static_cast<double>(bytes);
  std::string shortest;
  size_t fewest = kMostDigits + 1;
  for (const auto& unit : kUnits) {
    if (number < unit.bytes || number >= kLargest * unit.bytes) continue;
    for (int decimals = 0; decimals <= kMostDecimals; ++decimals) {
      // What was written is cut off to whole bytes: what is shown lies above them, if anything.
      const double power = std::pow(10, decimals);
      const double shown = std::ceil(number / unit.bytes * power) / power;
      if (std::floor(shown * unit.bytes) != number) continue;
      char text[64];
      std::snprintf(text, sizeof(text), "%.*f", decimals, shown);
      const size_t digits = std::string_view(text).size() - (decimals > 0 ? 1 : 0);
      if (digits < fewest) shortest = std::string(text) + " " + unit.name;
      fewest = std::min(fewest, digits);
      break;
    }
  }
  return shortest;
}

std::string NeededMiB(int64_t bytes) { return FreeMiB(bytes + kMiB - 1); }

std::string FreeMiB(int64_t bytes) { return std::to_string(bytes / kMiB) + " MiB"; }

}  // namespace cgrun
