// Commas where YAML has none: in numbers, as other languages write fractions and people write
// thousands, and in tuples.
#ifndef CGRUN_MODEL_COMMA_H_
#define CGRUN_MODEL_COMMA_H_

#include <string>
#include <string_view>

#include "src/base/diagnostics.h"
#include "src/model/tree.h"

namespace cgrun {

// Holds the readings that such a number may have.
struct CommaNumber {
  std::string fraction;  // "0.001" of "0,001", "1.000" of "1,000"; "" where it is none
  std::string whole;     // "1000" of "1,000"; "" where it is none

  // "write 0.001, with a point", "write 1000, or 1.000 for a fraction"; "" of no such number. With
  // `key`, behind which it stands: "write `lr: 0.001`, with a point".
  std::string Help(const std::string& key = "") const;
};

CommaNumber ReadCommas(std::string_view written);

// Says how to write a number with several commas that ReadCommas() cannot read; "" for other texts.
std::string HelpWithCommas(std::string_view text, const std::string& key = "");

// `{lr: 0,05}` is for YAML an `lr` of 0, and a key `05` without a value. Puts such a key back
// behind the number that `before` has, and with its blank one of `{shape: 3, 28, 28}`; false of
// others.
bool ExtendNumber(TreeEntry& before, const std::string& key, const SourceMark& key_mark);

// Returns whether another such key comes next: ",567" or ", 28" that no colon follows.
bool BeginsWithFurther(std::string_view text);

// Reports the number of `entry`, all of whose commas were put back, and makes it the one that is
// probably meant.
void MendNumber(TreeEntry& entry, Diagnostics& diagnostics);

// `text` with a point for its only comma: "1.5GiB" of "1,5GiB"; "" where it has none, or several.
std::string WithPoint(std::string_view text);

// `(3, 48)` is a text for YAML, and within `{…}` ends at its commas: `before` is "(3" there, and
// "48)" a key behind it. Puts such a key back; false of others.
bool ExtendTuple(TreeEntry& before, const std::string& key, const SourceMark& key_mark);

// Reports a text that is a list of numbers in round brackets, and makes it that list; false of
// others.
bool MendTuple(TreeEntry& entry, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_MODEL_COMMA_H_
