// Laying out tables and formatting numbers.
#include "src/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "src/base/check.h"
#include "src/base/printable.h"

namespace cgrun {
namespace {

size_t Width(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

constexpr int kColumnDigits = 6;

// Returns whether no digit of a number is another one; not of "inf" and "nan".
bool IsAllZeros(std::string_view text) {
  return text.substr(0, text.find('e')).find_first_of("123456789in") == text.npos;
}

}  // namespace

std::string WrapText(std::string_view text, const std::string& indent, size_t width) {
  std::string out, line;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string word(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && Width(indent) + Width(line) + 1 + Width(word) > width) {
      out += indent + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return out + indent + line;
}

void TextTable::Add(std::vector<std::string> cells) {
  CGRUN_CHECK(cells.size() <= columns_.size())
      << cells.size() << " cells for " << columns_.size() << " columns";
  for (std::string& cell : cells) cell = PrintableText(cell);  // a line end would break the row
  rows_.push_back(std::move(cells));
}

std::string TextTable::ToString(const std::string& indent, size_t width) const {
  std::vector<size_t> widths(columns_.size());
  for (const std::vector<std::string>& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Width(row[i]));
  }
  size_t total = 0;
  for (size_t column : widths) total += column + 2;
  if (width > 0) total = std::min(total, width - std::min(width, Width(indent)) + 2);
  std::string out;
  const auto add_rules = [&](size_t row) {
    if (std::count(rules_.begin(), rules_.end(), row) == 0 || total < 2) return;
    out += indent + std::string(total - 2, '-') + "\n";
  };
  for (size_t r = 0; r < rows_.size(); ++r) {
    add_rules(r);
    std::string line = indent;
    for (size_t i = 0; i < rows_[r].size(); ++i) {
      const std::string pad(widths[i] - Width(rows_[r][i]), ' ');
      if (i > 0) line += "  ";
      if (width > 0 && i + 1 == columns_.size()) {
        const std::string hanging(Width(line), ' ');
        line += WrapText(rows_[r][i], hanging, width).substr(hanging.size());
        continue;
      }
      line += columns_[i] == Align::kRight ? pad + rows_[r][i] : rows_[r][i] + pad;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  add_rules(rows_.size());
  return out;
}

std::string FormatCount(int64_t count) {
  std::string digits = std::to_string(count < 0 ? -count : count);
  for (int i = static_cast<int>(digits.size()) - 3; i > 0; i -= 3) {
    digits.insert(static_cast<size_t>(i), ",");
  }
  return (count < 0 ? "-" : "") + digits;
}

std::string FormatCount(int64_t count, std::string_view noun) {
  return FormatCount(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

void FormatSi(double number, char* text, size_t size) {
  static constexpr const char* kUnits[] = {"", " k", " M", " G", " T", " P"};
  size_t unit = 0;
  while (std::abs(number) >= 999.5 && unit + 1 < std::size(kUnits)) {
    number /= 1000;
    ++unit;
  }
  const bool whole = (unit == 0 && number == std::floor(number)) || std::abs(number) >= 99.95;
  const int digits = whole ? 0 : std::abs(number) >= 9.995 ? 1 : 2;
  std::snprintf(text, size, "%.*f%s", digits, number, kUnits[unit]);
}

std::string FormatSi(double number) {
  char text[32];
  FormatSi(number, text, sizeof(text));
  return text;
}

std::vector<std::string> FormatAlike(const std::vector<double>& numbers) {
  double largest = 0, least = 0;  // of what is not 0
  bool whole = true;
  for (const double number : numbers) {
    const double size = std::abs(number);
    if (!std::isfinite(number)) continue;
    largest = std::max(largest, size);
    if (size > 0) least = least == 0 ? size : std::min(least, size);
    whole = whole && number == std::floor(number);
  }
  const int before = largest > 0 ? static_cast<int>(std::floor(std::log10(largest))) + 1 : 1;
  int decimals = whole ? 0 : std::max(0, kColumnDigits - before);
  if (IsAllZeros(fmt::format("{:.{}f}", least, decimals)) && least > 0) {
    const int shown = -static_cast<int>(std::floor(std::log10(least)));  // the place of its first
    decimals = std::min(kColumnDigits, shown + 2);
  }
  const bool lost = least > 0 && IsAllZeros(fmt::format("{:.{}f}", least, decimals));
  const bool extreme = lost || largest >= 1e15 || (largest > 0 && largest < 1e-4);
  std::vector<std::string> texts;
  for (const double number : numbers) {
    std::string text = extreme ? fmt::format("{:.{}e}", number, kColumnDigits - 1)
                               : fmt::format("{:.{}f}", number, decimals);
    if (IsAllZeros(text) && text.starts_with('-')) text.erase(0, 1);
    texts.push_back(std::move(text));
  }
  return texts;
}

std::string LongerText(double part) {
  const double percent = std::abs(100 * part);
  return fmt::format("{:.1f} % {}", percent, part < 0 && percent >= 0.05 ? "shorter" : "longer");
}

std::string FormatSeconds(double seconds) {
  if (seconds < 9.95) return fmt::format("{:.2f} s", seconds);
  if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
  const int64_t whole = std::llround(seconds);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

}  // namespace cgrun
