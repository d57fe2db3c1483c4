// Characters that look like those of a number and are others: the minus sign of word processors,
// and spaces that no keyboard has.
#ifndef CGRUN_BASE_LOOKALIKES_H_
#define CGRUN_BASE_LOOKALIKES_H_

#include <string>
#include <string_view>

namespace cgrun {

// A text that was to be a number, as far as it has such characters, or blanks between its
// thousands.
struct PlainNumber {
  std::string text;  // without them: "-3,5", "1234.5"
  std::string note;  // "'−' is U+2212, a minus sign"; "" where there was nothing of the kind
};

// `text` with '-' for each dash, and without spaces other than the blank.
PlainNumber WithoutLookalikes(std::string_view text);
// The same, and without the blanks of "1 234.5".
PlainNumber ReadPlainNumber(std::string_view text);

}  // namespace cgrun

#endif  // CGRUN_BASE_LOOKALIKES_H_
