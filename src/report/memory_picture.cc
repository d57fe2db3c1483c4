// Draws rectangles in scale.
#include "src/report/memory_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "src/report/markup.h"
#include "src/report/table.h"
#include "src/report/text_width.h"

namespace cgrun {
namespace {

constexpr double kWidth = 1140, kHeight = 460;
constexpr double kLeft = 76, kRight = 8, kTop = 26, kBottom = 30;  // margins
constexpr double kLeastName = 44, kLeastHeight = 11;  // of a rectangle that shows its name
constexpr double kNameMargin = 3;
constexpr Font kNameFont{10, false};
constexpr int kAddressTicks = 4;  // at least, but for the most

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
    NameIn(buffer.name, left, top, right - left, bottom - top);
    svg_ += "</g>\n";
  }

  // Across; upright where it does not fit so and there is more room that way.
  void NameIn(const std::string& name, double left, double top, double width, double height) {
    const bool fits = TextWidth(name, kNameFont) + 2 * kNameMargin <= width;
    const bool upright = width < kLeastName || (!fits && height > width);
    const double room = upright ? height : width;
    if (room < kLeastName || (upright ? width : height) < kLeastHeight) return;
    const std::string text = EscapeMarkup(ShortenName(name, room - 2 * kNameMargin, kNameFont));
    if (upright) {
      svg_ += fmt::format("<text transform=\"translate({:.2f} {:.2f}) rotate(-90)\">{}</text>",
                          left + width / 2 + 4, top + height - kNameMargin, text);
    } else {
      svg_ += fmt::format("<text x=\"{:.2f}\" y=\"{:.2f}\">{}</text>", left + kNameMargin,
                          top + height / 2 + 4, text);
    }
  }

  // Returns 0, the most, and multiples of a power of two between them.
  std::vector<int64_t> Ticks() const {
    int64_t step = 1;
    while (step * 2 * kAddressTicks <= bytes_) step *= 2;
    std::vector<int64_t> ticks;
    for (int64_t address = 0; address <= bytes_ - step / 3; address += step) {
      ticks.push_back(address);
    }
    ticks.push_back(bytes_);
    return ticks;
  }

  void Axes() {
    for (const int64_t address : Ticks()) {
      svg_ += fmt::format("<text x=\"{}\" y=\"{:.1f}\" class=\"tick right\">{}</text>\n", kLeft - 6,
                          Y(address) + 4, FormatBytesApart({address})[0]);
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
