// Both layouts of an epoch's lines.
#include "src/report/epoch_lines.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "src/report/line.h"

namespace cgrun {
namespace {

size_t OneLineWidth(std::string_view label, std::span<const EpochRow> rows, std::string_view rate) {
  size_t width = label.size() + rate.size() + 4;
  for (const EpochRow& row : rows) {
    if (&row != &rows[0]) width += 3 + std::strlen(row.split);
    for (std::string_view columns = row.columns; !columns.empty();) {
      width += 2 + TakeColumn(columns).size();
    }
  }
  return width;
}

void AddOneLine(std::string_view label, std::span<const EpochRow> rows, std::string_view rate,
                Line& line) {
  line.Add(label);
  for (const EpochRow& row : rows) {
    std::string_view gap = "  ";
    if (&row != &rows[0]) {
      line.Add("  | ");
      line.Add(row.split);
      gap = " ";
    }
    for (std::string_view columns = row.columns; !columns.empty(); gap = "  ") {
      line.Add(gap);
      line.Add(TakeColumn(columns));
    }
  }
  line.Add("  | ");
  line.Add(rate);
  line.Add('\n');
}

// Columns behind `indent` characters that are there already.
class Columns {
 public:
  Columns(size_t indent, size_t width, Line& line)
      : indent_(indent), width_(width), used_(indent), line_(line) {}

  void Add(std::string_view column) {
    if (used_ > indent_ && used_ + 2 + column.size() > width_) {
      line_.Add('\n');
      line_.Add(' ', static_cast<int>(indent_));
      used_ = indent_;
    }
    line_.Add("  ");
    line_.Add(column);
    used_ += 2 + column.size();
  }

 private:
  size_t indent_, width_, used_;
  Line& line_;
};

void AddRows(std::string_view label, std::span<const EpochRow> rows, std::string_view rate,
             size_t width, Line& line) {
  size_t names = 0;
  for (const EpochRow& row : rows) names = std::max(names, std::strlen(row.split));
  for (const EpochRow& row : rows) {
    const bool first = &row == &rows[0];
    first ? line.Add(label) : line.Add(' ', static_cast<int>(label.size()));
    line.Add("  ");
    line.Add(row.split);
    line.Add(' ', static_cast<int>(names - std::strlen(row.split)));
    Columns columns(label.size() + 2 + names, width, line);
    for (std::string_view rest = row.columns; !rest.empty();) columns.Add(TakeColumn(rest));
    if (first) columns.Add(rate);
    line.Add('\n');
  }
}

// Formats with an exponent, and as many digits as fit six characters: "1.23e4", "-4e-12".
void FormatExponent(double value, char* text, size_t size) {
  for (int digits = 2; digits >= 0; --digits) {
    char number[32];
    std::snprintf(number, sizeof(number), "%.*e", digits, value);
    char* e = std::strchr(number, 'e');
    const long exponent = std::strtol(e + 1, nullptr, 10);
    *e = '\0';
    if (std::snprintf(text, size, "%se%ld", number, exponent) <= 6) return;
  }
}

}  // namespace

void FormatMetric(double value, char* text, size_t size) {
  char number[32];
  if (std::isnan(value)) value = std::abs(value);  // without a sign that says nothing
  const double magnitude = std::abs(value);
  int digits = magnitude < 9.99995 ? 4 : magnitude < 99.9995 ? 3 : magnitude < 999.995 ? 2 : 1;
  if (value < 0) --digits;
  const bool large = magnitude >= (value < 0 ? 999.5 : 9999.95);
  const bool small = magnitude < 1e-3 && value != 0;
  if (std::isfinite(value) && (large || small)) {
    FormatExponent(value, number, sizeof(number));
  } else {
    std::snprintf(number, sizeof(number), "%.*f", digits, value);
  }
  std::snprintf(text, size, "%6s", number);
}

void FormatEpoch(const char* label, std::span<const EpochRow> rows, const char* rate, int width,
                 char* text, size_t size) {
  Line line(text, size);
  const size_t most = static_cast<size_t>(std::max(0, width));
  if (OneLineWidth(label, rows, rate) <= most) {
    AddOneLine(label, rows, rate, line);
  } else {
    AddRows(label, rows, rate, most, line);
  }
}

}  // namespace cgrun
