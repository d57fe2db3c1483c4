// Numbers as tables of text write them, and other texts that upper and lower case are the same in:
// StoreNumber() is the entry point. No locale is looked at.
#ifndef CGRUN_DATA_TEXT_NUMBER_H_
#define CGRUN_DATA_TEXT_NUMBER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "src/base/dtype.h"

namespace cgrun {

enum class TextNumber {
  kStored,
  kNotNumber,
  kNotFinite,   // inf
  kNotInteger,  // a fraction, for a type of integers
  kTooLarge,    // for the type
};

// Returns whether a text stands for a value that is not there: empty, "?", "NA" and "NaN" in upper
// or lower case.
bool IsMissing(std::string_view text);

// Returns whether the name of a file ends in one of these, which are in small letters; it may be in
// upper case. One that is an ending alone (".png") is a hidden file without an ending.
bool HasEnding(std::string_view path, std::span<const std::string_view> endings);

// Returns `text` without the blanks around it.
std::string_view Trimmed(std::string_view text);

// Writes the number nearest to `text` to `out`, an element of `dtype`: f64, f32, int64, int32 or
// uint8. Blanks around it and a sign are accepted, "3.0" is an integer too, what is too near to 0
// becomes 0.
TextNumber StoreNumber(std::string_view text, DType dtype, std::byte* out);

// Reads an integer of 32 bits, under the same rules.
std::optional<int32_t> ParseInt32(std::string_view text);

// Returns whether a text is a finite number, under the same rules.
bool IsFiniteNumber(std::string_view text);

// Returns whether it is one with a comma for its point: "2,5".
bool HasDecimalComma(std::string_view text);

}  // namespace cgrun

#endif  // CGRUN_DATA_TEXT_NUMBER_H_
