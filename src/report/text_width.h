// Measures how wide a text is in a picture, and cuts names to a width. Fonts differ from machine to
// machine: the widths are those of a wide one, DejaVu Sans, so that a text has room in others too.
#ifndef CGRUN_REPORT_TEXT_WIDTH_H_
#define CGRUN_REPORT_TEXT_WIDTH_H_

#include <string>
#include <string_view>

namespace cgrun {

struct Font {
  double size = 11;  // pixels
  bool bold = false;
};

// Returns the width of a UTF-8 text in pixels.
double TextWidth(std::string_view text, const Font& font);

// The text where it is at most `room` pixels wide, else its beginning and an '…'.
std::string ShortenEnd(const std::string& text, double room, const Font& font);
// Does the same with an '…' in the middle. In a hierarchical name the beginning says the layer, and
// the end says which of its values it is. Neighbours often share one of the two.
std::string ShortenMiddle(const std::string& text, double room, const Font& font);
// Shortens a name "path.layer.what" that is too wide. The path goes first, as most names share it,
// then the middle.
std::string ShortenName(const std::string& name, double room, const Font& font);

}  // namespace cgrun

#endif  // CGRUN_REPORT_TEXT_WIDTH_H_
