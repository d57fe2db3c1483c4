// Rectangles in scale.
#include "src/report/memory_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "src/report/markup.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

constexpr double kWidth = 1140, kHeight = 460;
constexpr double kLeft = 76, kRight = 8, kTop = 26, kBottom = 30;  // margins
constexpr double kLeastName = 60, kLeastHeight = 11;  // of a rectangle that shows its name
constexpr double kCharacter = 6;                      // pixels
constexpr int kAddressTicks = 5;

std::string_view ColorOf(Zone zone) {
  switch (zone) {
    case Zone::kForward:
      return "#7fb2e5";
    case Zone::kGradient:
      return "#f2b872";
    case Zone::kOptimizer:
      return "#b6a0dc";
    case Zone::kWorkspace:
      return "#b9c2c9";
  }
  return "#dddddd";
}

class Picture {
 public:
  Picture(const MemoryLayout& layout, int entry) : layout_(layout), entry_(entry) {
    for (const PlacedBuffer& buffer : layout.buffers) {
      if (IsShown(buffer)) end_ = std::max<int64_t>(end_, buffer.lifespan.upper);
    }
    bytes_ = layout.persistent_bytes + layout.entries[static_cast<size_t>(entry)].transient_bytes;
  }

  std::string ToString() {
    svg_ = fmt::format(
        "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"memory over time\" "
        "class=\"memory\">\n",
        kWidth, kHeight);
    for (const PlacedBuffer& buffer : layout_.buffers) {
      if (buffer.bytes > 0 && IsShown(buffer)) Rectangle(buffer);
    }
    Axes();
    Legend();
    return svg_ + "</svg>\n";
  }

 private:
  bool IsShown(const PlacedBuffer& buffer) const {
    return buffer.arena == ArenaKind::kDevice && (buffer.persistent || buffer.entry == entry_);
  }
  double X(int64_t step) const {
    return kLeft + static_cast<double>(step) / static_cast<double>(std::max<int64_t>(1, end_)) *
                       (kWidth - kLeft - kRight);
  }
  double Y(int64_t address) const {
    return kHeight - kBottom -
           static_cast<double>(address) / static_cast<double>(std::max<int64_t>(1, bytes_)) *
               (kHeight - kTop - kBottom);
  }

  void Rectangle(const PlacedBuffer& buffer) {
    const double left = X(buffer.persistent ? 0 : buffer.lifespan.lower);
    const double right = X(buffer.persistent ? end_ : buffer.lifespan.upper);
    const double top = Y(buffer.offset + buffer.bytes), bottom = Y(buffer.offset);
    const std::string when =
        buffer.persistent
            ? "always"
            : fmt::format("steps {} to {}", buffer.lifespan.lower, buffer.lifespan.upper - 1);
    std::string where;
    if (buffer.mark.file != nullptr) {
      where = fmt::format("\n{}:{}", buffer.mark.file->name, buffer.mark.line);
    }
    svg_ += fmt::format(
        "<g><title>{}\n{}, {}, {}{}</title><rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" "
        "height=\"{:.2f}\" fill=\"{}\"/>",
        EscapeMarkup(buffer.name), FormatBytes(buffer.bytes), Name(buffer.zone), when,
        EscapeMarkup(where), left, top, right - left, bottom - top, ColorOf(buffer.zone));
    if (right - left >= kLeastName && bottom - top >= kLeastHeight) {
      const auto most = static_cast<size_t>((right - left) / kCharacter);
      svg_ += fmt::format("<text x=\"{:.2f}\" y=\"{:.2f}\">{}</text>", left + 3,
                          (top + bottom) / 2 + 4, EscapeMarkup(buffer.name.substr(0, most)));
    }
    svg_ += "</g>\n";
  }

  void Axes() {
    for (int i = 0; i <= kAddressTicks; ++i) {
      const int64_t address = bytes_ / kAddressTicks * i;
      svg_ += fmt::format("<text x=\"{}\" y=\"{:.1f}\" class=\"tick right\">{}</text>\n", kLeft - 6,
                          Y(address) + 4, FormatBytes(address));
    }
    svg_ += fmt::format(
        "<text x=\"{}\" y=\"{}\" class=\"tick middle\">{} operators, one after another</text>\n",
        kWidth / 2, kHeight - 8, FormatCount(end_));
  }

  void Legend() {
    double x = kLeft;
    for (Zone zone : {Zone::kForward, Zone::kGradient, Zone::kOptimizer, Zone::kWorkspace}) {
      const std::string_view name = Name(zone);
      svg_ += fmt::format(
          "<rect x=\"{}\" y=\"6\" width=\"12\" height=\"12\" fill=\"{}\"/><text x=\"{}\" y=\"16\" "
          "class=\"tick\">{}</text>\n",
          x, ColorOf(zone), x + 16, name);
      x += 40 + 7 * static_cast<double>(name.size());
    }
  }

  const MemoryLayout& layout_;
  const int entry_;
  int64_t end_ = 1;
  int64_t bytes_ = 1;
  std::string svg_;
};

}  // namespace

std::string MemoryPictureSvg(const MemoryLayout& layout, int entry) {
  return Picture(layout, entry).ToString();
}

}  // namespace cgrun
