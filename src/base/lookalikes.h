// Texts that look like others: numbers with the minus sign of word processors, or spaces that no
// keyboard has; letters with marks, which Unicode encodes as one character or as two.
#ifndef CGRUN_BASE_LOOKALIKES_H_
#define CGRUN_BASE_LOOKALIKES_H_

#include <span>
#include <string>
#include <string_view>

namespace cgrun {

// A text that was to be a number, as far as it has such characters, or blanks between its
// thousands.
struct PlainNumber {
  std::string text;  // without them: "-3,5", "1234.5"
  std::string note;  // "'−' is U+2212, a minus sign"; "" where there was nothing of the kind
};

// Returns `text` with '-' for each dash, and without spaces other than the blank.
PlainNumber WithoutLookalikes(std::string_view text);
// Does the same, and also removes the blanks of "1 234.5".
PlainNumber ReadPlainNumber(std::string_view text);

// `text` with "ä" for each "a" that U+0308 follows, and so on: letters of Latin with one mark, as
// the normal form NFC has them, where macOS writes NFD.
std::string WithComposedLetters(std::string_view text);

// If `name` is none of `known` but looks the same as one of them, the result says how they differ
// and what to do. Otherwise it is "".
std::string SameLettersHelp(std::string_view name, std::span<const std::string> known);

}  // namespace cgrun

#endif  // CGRUN_BASE_LOOKALIKES_H_
