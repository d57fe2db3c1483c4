// std::from_chars, with an opinion about what it refuses.
#include "src/data/text_number.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <system_error>

#include "src/base/check.h"

namespace cgrun {
namespace {

bool EqualIgnoringCase(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((text[i] | 0x20) != lower[i]) return false;
  }
  return true;
}

// Returns whether a decimal number that no double holds is too small rather than too large.
bool IsTiny(std::string_view text) {
  const size_t exponent = text.find_first_of("eE");
  if (exponent != text.npos) return text.substr(exponent + 1).starts_with('-');
  return text.find_first_of("123456789") > text.find('.');
}

template <class T>
TextNumber ParseReal(std::string_view text, T* value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *value);
  if (stop != end || error == std::errc::invalid_argument) return TextNumber::kNotNumber;
  if (error == std::errc()) {
    return std::isfinite(*value) ? TextNumber::kStored : TextNumber::kNotFinite;
  }
  double wide = 0.0;  // subnormal numbers of f32 are out of range too
  const bool is_double = std::from_chars(text.data(), end, wide).ec == std::errc();
  if (!is_double && !IsTiny(text)) return TextNumber::kTooLarge;
  *value = static_cast<T>(is_double ? wide : 0.0);
  return std::isfinite(*value) ? TextNumber::kStored : TextNumber::kTooLarge;
}

TextNumber ParseInteger(std::string_view text, int64_t* value) {
  if (text.empty()) return TextNumber::kNotNumber;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *value);
  if (stop == end) return error == std::errc() ? TextNumber::kStored : TextNumber::kTooLarge;
  double real = 0.0;
  const TextNumber parsed = ParseReal(text, &real);
  if (parsed != TextNumber::kStored) return parsed;
  if (std::trunc(real) != real) return TextNumber::kNotInteger;
  if (std::abs(real) > 0x1.0p53) return TextNumber::kTooLarge;
  *value = static_cast<int64_t>(real);
  return TextNumber::kStored;
}

template <class T>
TextNumber StoreInteger(std::string_view text, std::byte* out) {
  int64_t wide = 0;
  const TextNumber parsed = ParseInteger(text, &wide);
  if (parsed != TextNumber::kStored) return parsed;
  if (wide < std::numeric_limits<T>::min() || wide > std::numeric_limits<T>::max()) {
    return TextNumber::kTooLarge;
  }
  const T value = static_cast<T>(wide);
  std::memcpy(out, &value, sizeof(T));
  return TextNumber::kStored;
}

template <class T>
TextNumber StoreReal(std::string_view text, std::byte* out) {
  T value = 0;
  const TextNumber parsed = ParseReal(text, &value);
  if (parsed == TextNumber::kStored) std::memcpy(out, &value, sizeof(T));
  return parsed;
}

}  // namespace

bool HasEnding(std::string_view path, std::span<const std::string_view> endings) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const auto same = [](char of_name, char small) {
    const bool capital = of_name >= 'A' && of_name <= 'Z';
    return small == (capital ? static_cast<char>(of_name - 'A' + 'a') : of_name);
  };
  return std::ranges::any_of(endings, [&](std::string_view ending) {
    return name.size() > ending.size() &&
           std::ranges::equal(name.substr(name.size() - ending.size()), ending, same);
  });
}

bool IsMissing(std::string_view text) {
  text = Trimmed(text);
  return text.empty() || text == "?" || EqualIgnoringCase(text, "na") ||
         EqualIgnoringCase(text, "nan");
}

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

TextNumber StoreNumber(std::string_view text, DType dtype, std::byte* out) {
  text = Trimmed(text);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  switch (dtype) {
    case DType::kF64:
      return StoreReal<double>(text, out);
    case DType::kF32:
      return StoreReal<float>(text, out);
    case DType::kI64:
      return StoreInteger<int64_t>(text, out);
    case DType::kI32:
      return StoreInteger<int32_t>(text, out);
    case DType::kU8:
      return StoreInteger<uint8_t>(text, out);
    default:
      CGRUN_CHECK(false) << "no texts become " << Name(dtype);
      return TextNumber::kNotNumber;
  }
}

std::optional<int32_t> ParseInt32(std::string_view text) {
  int32_t value = 0;
  const bool stored =
      StoreNumber(text, DType::kI32, reinterpret_cast<std::byte*>(&value)) == TextNumber::kStored;
  return stored ? std::optional(value) : std::nullopt;
}

bool IsFiniteNumber(std::string_view text) {
  double value = 0.0;
  return StoreNumber(text, DType::kF64, reinterpret_cast<std::byte*>(&value)) ==
         TextNumber::kStored;
}

bool HasDecimalComma(std::string_view text) {
  std::string number(text);
  const size_t comma = number.find(',');
  if (comma == number.npos) return false;
  number[comma] = '.';
  return IsFiniteNumber(number);
}

}  // namespace cgrun
