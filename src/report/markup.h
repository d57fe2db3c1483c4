// Prepares text for HTML and SVG.
#ifndef CGRUN_REPORT_MARKUP_H_
#define CGRUN_REPORT_MARKUP_H_

#include <string>
#include <string_view>

namespace cgrun {

// `text` with the characters that markup gives a meaning replaced. Control characters but tabs and
// line ends, and bytes that are no UTF-8, which no document may hold, become '?'.
std::string EscapeMarkup(std::string_view text);

}  // namespace cgrun

#endif  // CGRUN_REPORT_MARKUP_H_
