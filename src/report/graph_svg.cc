// Draws what graph_layout.h has placed; light, whatever the page around it looks like.
#include "src/report/graph_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/report/markup.h"
#include "src/report/table.h"
#include "src/report/text_width.h"

namespace cgrun {
namespace {

constexpr double kBoxWidth = 192, kMostBoxWidth = 300, kBoxHeight = 56, kPillHeight = 44;
constexpr double kMargin = 24;
constexpr double kHeader = 26;  // of the lanes
constexpr double kLaneEdge = 12;
constexpr double kCorner = 7;  // radius of lines that turn
constexpr double kArrow = 6, kWideArrow = 9;
constexpr double kText = 10;      // from the left edge of a box
constexpr double kPillText = 8;   // of a placeholder, whose corners are rounder
constexpr double kNumberGap = 6;  // between a name and the number of its buffer
constexpr Font kPlainFont{11, false}, kNameFont{12, true}, kNumberFont{10, false};
constexpr double kLegendLine = 17;
constexpr int kSwatchColors = 3;  // of a zone
constexpr double kSwatchStep = 10;
constexpr double kFold = 4;  // by which the back of a folded block stands out
constexpr double kZoneColumn = 150;
constexpr double kZoneGap = 20;  // at least, between the text of a zone and the next one
constexpr double kLeastWidth = 760;
constexpr size_t kMostChips = 8;
constexpr const char* kPlainLine = "#64748b";

constexpr const char* kGraphStyle =
    "text{font-family:system-ui,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-size:11px;"
    "fill:#475569}"
    ".h1{font-size:18px;font-weight:700;fill:#0f172a}"
    ".h2{font-size:12px;font-weight:700;fill:#334155;letter-spacing:.6px}"
    ".n{font-size:12px;font-weight:600;fill:#0f172a}"
    ".b{font-size:10px;text-anchor:end}"
    ".l{fill:none;stroke-width:1.4}"
    ".w{stroke-width:3.6}"
    ".g:hover .l,.g:hover rect{stroke-width:3}";

// Returns the distance, in pixels, between the number of a buffer and the right edge of its box.
double NumberMargin(bool pill) { return pill ? 18 : 8; }

// "uint8 32×3×8×8 · 6.00 KiB"
std::string SizeText(const PictureBox& box) {
  return box.shape.empty() ? BytesText(box) : box.shape + " · " + BytesText(box);
}

// Returns the same where it has room. Else the bytes go, which hovering shows too: the number type
// distinguishes two values of one shape.
std::string SizeText(const PictureBox& box, double room) {
  const std::string whole = SizeText(box);
  if (TextWidth(whole, kPlainFont) <= room) return whole;
  return ShortenEnd(box.shape.empty() ? whole : box.shape, room, kPlainFont);
}

std::string NumberText(const PictureBuffer* buffer) {
  return buffer == nullptr ? "" : fmt::format("#{}", buffer->number);
}

// Returns a width of all boxes at which the names of most of them, and the sizes, are whole.
double BoxWidth(const GraphPicture& picture) {
  double width = kBoxWidth;
  for (const PictureBox& box : picture.boxes) {
    const PictureBuffer* buffer =
        box.buffer < 0 ? nullptr : &picture.buffers[static_cast<size_t>(box.buffer)];
    const bool pill = box.nodes == 0;
    const double left = kText + (pill ? kPillText : 0);
    width = std::max({width,
                      left + TextWidth(box.name, kNameFont) + kNumberGap +
                          TextWidth(NumberText(buffer), kNumberFont) + NumberMargin(pill),
                      left + TextWidth(SizeText(box), kPlainFont) + kText});
  }
  return std::min(std::ceil(width), kMostBoxWidth);
}

std::string Title(const std::string& text) {
  return text.empty() ? "" : "<title>" + EscapeMarkup(text) + "</title>";
}

class SvgDrawing {
 public:
  explicit SvgDrawing(const GraphPicture& picture)
      : picture_(picture),
        layout_(LayOutGraph(LayoutGraphOf(picture, BoxWidth(picture), kBoxHeight, kPillHeight))) {}

  std::string ToString() {
    Legend();
    top_ += kHeader;
    Lanes();
    for (size_t i = 0; i < picture_.edges.size(); ++i) Edge(i);
    for (size_t i = 0; i < picture_.boxes.size(); ++i) Box(i);
    const double width = std::max(kLeastWidth, layout_.width + 2 * kMargin);
    const double height = top_ + layout_.height + kMargin;
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
        "width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\" "
        "aria-label=\"{2}\">\n<style>{3}</style>\n"
        "<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#ffffff\"/>\n{4}</svg>\n",
        width, height, EscapeMarkup(picture_.title), kGraphStyle, svg_);
  }

 private:
  void Text(double x, double y, std::string_view style, const std::string& text) {
    const std::string of = style.empty() ? "" : fmt::format(" class=\"{}\"", style);
    svg_ +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y, of, EscapeMarkup(text));
  }

  const PictureBuffer* BufferOf(int index) const {
    return index < 0 ? nullptr : &picture_.buffers[static_cast<size_t>(index)];
  }

  void Legend() {
    Text(kMargin, top_ += 20, "h1", picture_.title);
    for (const std::string& note : picture_.notes) Text(kMargin, top_ += kLegendLine, "", note);
    top_ += 12;
    double x = kMargin;
    for (const ZoneUse& zone : picture_.zones) {
      if (zone.buffers == 0) continue;
      // Optimizers write over their states, and work spaces hold no result: no box may have a
      // colour of their zones.
      const bool is_drawn = std::ranges::any_of(
          picture_.buffers, [&](const PictureBuffer& buffer) { return buffer.zone == zone.zone; });
      Swatch(zone.zone, x);
      const std::string name =
          fmt::format("{} zone{}", Name(zone.zone), is_drawn ? "" : " (in no box)");
      Text(x + 21, top_ + 11, "n", name);
      const std::string use =
          fmt::format("{}, {} buffers", FormatBytes(zone.persistent_bytes + zone.transient_bytes),
                      FormatCount(zone.buffers));
      Text(x + 21, top_ + 26, "", use);
      const double width = std::max(TextWidth(name, kNameFont), TextWidth(use, kPlainFont));
      x += std::max(kZoneColumn, 21 + width + kZoneGap);
    }
    top_ += 40;
    Signs();
  }

  // Some of the family's colours, one above the other.
  void Swatch(Zone zone, double x) {
    for (int i = 0; i < kSwatchColors; ++i) {
      const BufferColor color = ColorOfBuffer(zone, i);
      svg_ += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"14\" height=\"{:.1f}\" rx=\"2\" fill=\"{}\" "
          "stroke=\"{}\"/>\n",
          x, top_ + i * kSwatchStep, kSwatchStep - 2, color.fill, color.line);
    }
  }

  void Signs() {
    double x = kMargin;
    const auto sign = [&](const std::string& drawing, double width, const std::string& text) {
      svg_ += fmt::format("<g transform=\"translate({:.1f} {:.1f})\">{}</g>\n", x, top_, drawing);
      Text(x + width + 6, top_ + 10, "", text);
      x += width + 30 + TextWidth(text, kPlainFont);
    };
    sign("<text class=\"b\" x=\"14\" y=\"10\">#5</text>", 14,
         "the buffer of the result, as the colour");
    sign("<path class=\"l w\" stroke=\"#0e7490\" d=\"M0 6H22\"/>", 22, "in place");
    sign(
        "<rect width=\"22\" height=\"12\" rx=\"3\" fill=\"#fff\" stroke=\"#64748b\" "
        "stroke-dasharray=\"3 2\"/>",
        22, "view");
    sign("<rect y=\"2\" width=\"8\" height=\"8\" rx=\"2\" fill=\"#94a3b8\"/>", 8, "its parameters");
    if (picture_.folded) {
      sign(
          "<rect x=\"3\" y=\"3\" width=\"19\" height=\"10\" rx=\"2\" fill=\"#fff\" "
          "stroke=\"#64748b\"/><rect width=\"19\" height=\"10\" rx=\"2\" fill=\"#fff\" "
          "stroke=\"#64748b\"/>",
          22, "folded block: the bytes of all its results");
    }
    top_ += 24;
  }

  // Backward and the gradients of parameters are one lane to the eye.
  void Lanes() {
    if (picture_.boxes.empty()) return;
    const auto& lanes = layout_.lanes;
    Lane("FORWARD", lanes[0].left, lanes[0].right, "#f6f9fc");
    const bool trunk = lanes[1].right > lanes[1].left, leaves = lanes[2].right > lanes[2].left;
    if (trunk || leaves) {
      Lane("BACKWARD", trunk ? lanes[1].left : lanes[2].left,
           leaves ? lanes[2].right : lanes[1].right, "#fdf8f3");
    }
    if (lanes[3].right > lanes[3].left) {
      Lane("UPDATE", lanes[3].left, lanes[3].right, "#f9f6fc");
    }
  }

  void Lane(const std::string& name, double left, double right, const char* color) {
    svg_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"8\" "
        "fill=\"{}\"/>\n",
        kMargin + left - kLaneEdge / 2, top_ - kHeader, right - left + kLaneEdge,
        layout_.height + kHeader, color);
    Text(kMargin + left + kText, top_ - 5, "h2", name);
  }

  static std::string Cubic(const std::vector<Point>& points) {
    std::string path = fmt::format("M{:.1f} {:.1f}", points[0].x, points[0].y);
    for (size_t i = 1; i < points.size(); ++i) {
      const Point &a = points[i - 1], &b = points[i];
      if (std::abs(a.x - b.x) < 0.05) {
        path += fmt::format("V{:.1f}", b.y);
      } else {
        const double middle = (a.y + b.y) / 2;
        path += fmt::format("C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", a.x, middle, b.x, middle,
                            b.x, b.y);
      }
    }
    return path;
  }

  static std::string Rounded(const std::vector<Point>& points) {
    std::string path = fmt::format("M{:.1f} {:.1f}", points[0].x, points[0].y);
    for (size_t i = 1; i + 1 < points.size(); ++i) {
      const Point &a = points[i - 1], &b = points[i], &c = points[i + 1];
      const double before = std::hypot(b.x - a.x, b.y - a.y);
      const double after = std::hypot(c.x - b.x, c.y - b.y);
      const double radius = std::min({kCorner, before / 2, after / 2});
      if (radius < 0.05) continue;
      path +=
          fmt::format("L{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}",
                      b.x + (a.x - b.x) / before * radius, b.y + (a.y - b.y) / before * radius, b.x,
                      b.y, b.x + (c.x - b.x) / after * radius, b.y + (c.y - b.y) / after * radius);
    }
    return path + fmt::format("L{:.1f} {:.1f}", points.back().x, points.back().y);
  }

  // A triangle at the end of a line that arrives across or upright.
  static std::string Arrow(const LayoutLine& line, double size) {
    const Point &b = line.points.back(), &a = line.points[line.points.size() - 2];
    const bool across = !line.curved && std::abs(b.y - a.y) < 0.05;
    const double x = across ? (b.x > a.x ? -1 : 1) : 0, y = across ? 0 : (b.y > a.y ? -1 : 1);
    return fmt::format("M{:.1f} {:.1f}l{:.1f} {:.1f}l{:.1f} {:.1f}z", b.x, b.y,
                       size * (x + y * 0.55), size * (y + x * 0.55), -size * y * 1.1,
                       -size * x * 1.1);
  }

  // The back of a folded block stands out below and at the right: it must not hide the arrow.
  static void EndAtFold(LayoutLine& line) {
    const Point before = line.points[line.points.size() - 2];
    Point& end = line.points.back();
    if (before.y > end.y + kFold && std::abs(before.x - end.x) <= std::abs(before.y - end.y)) {
      end.y += kFold;
    } else if (before.x > end.x + kFold && std::abs(before.y - end.y) < 0.05) {
      end.x += kFold;
    }
  }

  void Edge(size_t index) {
    const PictureEdge& edge = picture_.edges[index];
    LayoutLine line = layout_.lines[index];
    for (Point& point : line.points) point.x += kMargin, point.y += top_;
    if (picture_.boxes[static_cast<size_t>(edge.to)].nodes > 1) EndAtFold(line);
    const PictureBuffer* buffer = BufferOf(edge.buffer);
    const std::string color = buffer == nullptr ? kPlainLine : buffer->color.line;
    svg_ += fmt::format(
        "<g class=\"g\">{}<path class=\"l{}\" stroke=\"{}\" d=\"{}\"/><path fill=\"{}\" "
        "d=\"{}\"/></g>\n",
        Title(edge.hover), edge.in_place ? " w" : "", color,
        line.curved ? Cubic(line.points) : Rounded(line.points), color,
        Arrow(line, edge.in_place ? kWideArrow : kArrow));
  }

  void Box(size_t index) {
    const PictureBox& box = picture_.boxes[index];
    Rectangle at = layout_.boxes[index];
    at.x += kMargin;
    at.y += top_;
    const PictureBuffer* buffer = BufferOf(box.buffer);
    const std::string fill = buffer == nullptr ? "#f8fafc" : buffer->color.fill;
    const std::string stroke = buffer == nullptr ? kPlainLine : buffer->color.line;
    svg_ += "<g class=\"g\">" + Title(box.hover);
    if (box.nodes > 1) Outline(at, kFold, "#ffffff", stroke, "");
    Outline(at, 0, fill, stroke,
            fmt::format("{}{}", box.nodes == 0 ? " rx=\"22\"" : " rx=\"6\"",
                        box.view ? " stroke-dasharray=\"5 3\"" : ""));
    BoxText(box, at, buffer);
    svg_ += "</g>\n";
  }

  void Outline(const Rectangle& at, double shift, const std::string& fill,
               const std::string& stroke, const std::string& more) {
    svg_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" "
        "stroke=\"{}\" stroke-width=\"1.3\"{}/>",
        at.x + shift, at.y + shift, at.width, at.height, fill, stroke,
        more.empty() ? " rx=\"6\"" : more);
  }

  void BoxText(const PictureBox& box, const Rectangle& at, const PictureBuffer* buffer) {
    const bool pill = box.nodes == 0;
    const double x = at.x + kText + (pill ? kPillText : 0), room = at.width - (x - at.x) - kText;
    const std::string number = NumberText(buffer);
    const double number_end = at.x + at.width - NumberMargin(pill);
    const double name_room = number_end - TextWidth(number, kNumberFont) - kNumberGap - x;
    Text(x, at.y + 17, "n", ShortenMiddle(box.name, name_room, kNameFont));
    if (buffer != nullptr) Text(number_end, at.y + 16, "b", number);
    if (!pill) {
      const auto chips = static_cast<double>(std::min(box.states.size(), kMostChips));
      Text(x, at.y + 32, "", ShortenEnd(box.what, room - 12 * chips, kPlainFont));
      Chips(box, at);
    }
    Text(x, at.y + (pill ? 33 : 47), "", SizeText(box, room));
  }

  void Chips(const PictureBox& box, const Rectangle& at) {
    const size_t count = std::min(box.states.size(), kMostChips);
    for (size_t i = 0; i < count; ++i) {
      const PictureBuffer& state = *BufferOf(box.states[i]);
      svg_ += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"8\" height=\"8\" rx=\"2\" fill=\"{}\">{}"
          "</rect>",
          at.x + at.width - 16 - 11 * static_cast<double>(count - 1 - i), at.y + 24,
          state.color.line,
          Title(fmt::format("buffer {}: {}, {}", state.number, state.name,
                            FormatBytes(state.bytes))));
    }
  }

  const GraphPicture& picture_;
  const GraphLayout layout_;
  double top_ = kMargin / 2;
  std::string svg_;
};

}  // namespace

std::string GraphSvg(const GraphPicture& picture) { return SvgDrawing(picture).ToString(); }

}  // namespace cgrun
