// Takes the unit that needs the fewest digits; of as many that of a power of 1024.
#include "src/base/written_bytes.h"

#include <fmt/format.h>

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

// Writes three significant digits, and `more_digits` behind them.
std::string BytesText(int64_t bytes, int more_digits) {
  static constexpr const char* kNames[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double number = static_cast<double>(bytes);
  size_t unit = 0;
  while (number >= 1023.5 && unit + 1 < std::size(kNames)) {
    number /= 1024;
    ++unit;
  }
  const int digits = number >= 99.95 ? 0 : number >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", number, digits + more_digits, kNames[unit]);
}

// "14 MiB" of "14.0 MiB" where it is that to the byte.
std::string WithoutZeros(std::string text, int64_t bytes) {
  const size_t point = text.find('.'), end = text.find(' ');
  int64_t unit = 1;
  while (bytes / unit >= 1024) unit *= 1024;
  if (point != text.npos && bytes % unit == 0) text.erase(point, end - point);
  return text;
}

// Returns whether numbers that differ look alike.
bool LookAlike(const std::vector<int64_t>& bytes, const std::vector<std::string>& texts) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (bytes[i] != bytes[j] && texts[i] == texts[j]) return true;
    }
  }
  return false;
}

}  // namespace

std::string WrittenBytes(int64_t bytes) {
  if (bytes < 1000) return std::to_string(bytes) + " B";
  const auto number = static_cast<double>(bytes);
  std::string shortest;
  size_t fewest = kMostDigits + 1;
  for (const auto& unit : kUnits) {
    if (number < unit.bytes || number >= kLargest * unit.bytes) continue;
    for (int decimals = 0; decimals <= kMostDecimals; ++decimals) {
      // The parser cuts the number off to whole bytes. So the shown number must not be less than
      // the bytes.
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

std::string FormatBytes(int64_t bytes) { return BytesText(bytes, 0); }

std::vector<std::string> FormatBytesApart(const std::vector<int64_t>& bytes) {
  constexpr int kMostDigits = 12;  // tell single bytes of a TiB apart
  std::vector<std::string> texts(bytes.size());
  for (int more = 0; more <= kMostDigits; ++more) {
    for (size_t i = 0; i < bytes.size(); ++i) texts[i] = BytesText(bytes[i], more);
    if (!LookAlike(bytes, texts)) break;
  }
  for (size_t i = 0; i < bytes.size(); ++i) texts[i] = WithoutZeros(texts[i], bytes[i]);
  return texts;
}

std::vector<std::string> FormatBytesUnder(int64_t cap, std::vector<int64_t> bytes) {
  bytes.insert(bytes.begin(), cap);
  std::vector<std::string> texts = FormatBytesApart(bytes);
  const std::string written = WrittenBytes(cap);
  if (!written.empty()) texts[0] = written;
  return texts;
}

}  // namespace cgrun
