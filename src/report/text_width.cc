#include "src/report/text_width.h"

#include <algorithm>
#include <iterator>

namespace cgrun {
namespace {

constexpr std::string_view kEllipsis = "…";
// If a name is cut in its middle, its beginning takes this share of the width that is left. Its
// first part, "conv_norm[0]" of "conv_norm[0].scale", stays whole where it takes no more than the
// second.
constexpr double kBeginning = 0.6, kMostBeginning = 0.9;

// These are the widths of the characters from the space on, in thousandths of the font's size.
constexpr int kPlain[] = {
    318,  401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337,  // space to /
    636,  636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531,  // 0 to ?
    1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787,  // @ to O
    603,  787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500,  // P to _
    500,  613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612,  // ` to o
    635,  635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838};      // p to ~
constexpr int kBold[] = {348,  456, 521, 838, 696, 1002, 872, 306,
                         457,  457, 523, 838, 380, 415,  380, 365,  // space to /
                         696,  696, 696, 696, 696, 696,  696, 696,
                         696,  696, 400, 400, 838, 838,  838, 580,  // 0 to ?
                         1000, 774, 762, 734, 830, 683,  683, 821,
                         837,  372, 372, 775, 637, 995,  837, 850,  // @ to O
                         733,  850, 770, 720, 682, 812,  774, 1103,
                         771,  724, 725, 457, 365, 457,  838, 500,  // P to _
                         500,  675, 716, 593, 716, 678,  435, 716,
                         712,  343, 343, 665, 343, 1042, 712, 687,  // ` to o
                         716,  716, 493, 595, 478, 712,  652, 924,
                         645,  652, 582, 712, 365, 712,  838};  // p to ~
constexpr int kOther = 1000;

bool BeginsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

// Returns the width of the character that begins with this byte; 0 for a byte within one.
int WidthOf(char c, bool bold) {
  const int index = static_cast<unsigned char>(c) - ' ';
  if (index >= 0 && index < static_cast<int>(std::size(kPlain))) {
    return (bold ? kBold : kPlain)[index];
  }
  return BeginsCharacter(c) ? kOther : 0;
}

}  // namespace

double TextWidth(std::string_view text, const Font& font) {
  int width = 0;
  for (const char c : text) width += WidthOf(c, font.bold);
  return width * font.size / 1000;
}

std::string ShortenEnd(const std::string& text, double room, const Font& font) {
  if (TextWidth(text, font) <= room) return text;
  room -= TextWidth(kEllipsis, font);
  size_t end = text.size();
  while (end > 0 && (TextWidth({text.data(), end}, font) > room || !BeginsCharacter(text[end]))) {
    --end;
  }
  return text.substr(0, end) + std::string(kEllipsis);
}

std::string ShortenMiddle(const std::string& text, double room, const Font& font) {
  if (TextWidth(text, font) <= room) return text;
  room -= TextWidth(kEllipsis, font);
  const std::string_view whole = text;
  const auto starts = [&](size_t at) { return at == 0 || BeginsCharacter(text[at]); };
  const double first_part = TextWidth(whole.substr(0, whole.find_first_of(". ")), font);
  const double beginning = first_part <= kMostBeginning * room
                               ? std::max(kBeginning * room, first_part)
                               : kBeginning * room;
  size_t end = text.size() - 1, begin = 0;  // the text in [end, begin) is left out
  while (end > 0 && (TextWidth(whole.substr(0, end), font) > beginning || !starts(end))) --end;
  const double rest = room - TextWidth(whole.substr(0, end), font);
  while (begin < text.size() && (TextWidth(whole.substr(begin), font) > rest || !starts(begin))) {
    ++begin;
  }
  while (end > 0 && text[end - 1] == '.') --end;  // four dots would look like a mistake
  while (begin < text.size() && text[begin] == '.') ++begin;
  return text.substr(0, end) + std::string(kEllipsis) + text.substr(begin);
}

std::string ShortenName(const std::string& name, double room, const Font& font) {
  if (TextWidth(name, font) <= room) return name;
  const size_t path_end = name.find('.');
  const bool has_path = path_end != std::string::npos && path_end > 0;
  return ShortenMiddle(has_path ? name.substr(path_end + 1) : name, room, font);
}

}  // namespace cgrun
