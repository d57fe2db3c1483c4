// A text that is put together in a buffer of the caller's, without allocating.
#ifndef CGRUN_REPORT_LINE_H_
#define CGRUN_REPORT_LINE_H_

#include <cstddef>
#include <string_view>

namespace cgrun {

class Line {
 public:
  // Writes to `size` bytes at `text`, of which one is for the terminating 0. Text that does not fit
  // is left out.
  Line(char* text, size_t size) : text_(text), size_(size) { text_[0] = '\0'; }

  void Add(std::string_view part) {
    for (const char c : part) Add(c);
  }
  void Add(char c, int count = 1) {
    for (; count > 0 && used_ + 1 < size_; --count) text_[used_++] = c;
    text_[used_] = '\0';
  }

 private:
  char* text_;
  size_t size_;
  size_t used_ = 0;
};

// Takes the part of `columns` before the first tab, and the tab, away from it.
inline std::string_view TakeColumn(std::string_view& columns) {
  const std::string_view column = columns.substr(0, columns.find('\t'));
  columns.remove_prefix(column.size() < columns.size() ? column.size() + 1 : column.size());
  return column;
}

}  // namespace cgrun

#endif  // CGRUN_REPORT_LINE_H_
