// Numbers as tables of text write them: StoreNumber() is the entry point. No locale is looked at.
#ifndef CGRUN_DATA_TEXT_NUMBER_H_
#define CGRUN_DATA_TEXT_NUMBER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
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

// Whether a text stands for a value that is not there: empty, "?", "NA" and "NaN" in upper or lower
// case.
bool IsMissing(std::string_view text);

// `text` without the blanks around it.
std::string_view Trimmed(std::string_view text);

// Writes the number nearest to `text` to `out`, an element of `dtype`: f64, f32, int64, int32 or
// uint8. Blanks around it and a sign are accepted, "3.0" is an integer too, what is too near to 0
// becomes 0.
TextNumber StoreNumber(std::string_view text, DType dtype, std::byte* out);

// An integer of 32 bits, under the same rules.
std::optional<int32_t> ParseInt32(std::string_view text);

}  // namespace cgrun

#endif  // CGRUN_DATA_TEXT_NUMBER_H_
