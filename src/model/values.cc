// Numbers, sizes and texts out of scalars, with errors that say what is expected.
#include "src/model/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <iterator>
#include <sstream>
#include <utility>

#include "src/base/lookalikes.h"
#include "src/base/word_list.h"
#include "src/model/comma.h"

namespace cgrun {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// "[+-]digits", without leading zeros; what does not fit 64 bits too.
bool LooksLikeInteger(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  const bool zeros = text.size() > 1 && text[0] == '0';
  return !text.empty() && !zeros && std::all_of(text.begin(), text.end(), IsDigit);
}

// The number of digits at the start of `text`, which are taken off.
size_t TakeDigits(std::string_view& text) {
  size_t digits = 0;
  while (digits < text.size() && IsDigit(text[digits])) ++digits;
  text.remove_prefix(digits);
  return digits;
}

// "[+-]digits[.digits][e[+-]digits]", with digits before or after the point.
bool LooksLikeDecimal(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  size_t digits = TakeDigits(text);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    digits += TakeDigits(text);
  }
  if (digits == 0) return false;
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    if (TakeDigits(text) == 0) return false;
  }
  return text.empty();
}

std::optional<double> ParseDecimal(std::string_view text) {
  if (!LooksLikeDecimal(text)) return std::nullopt;
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc()) return std::nullopt;
  return value;
}

// The number at the start of "1.5GiB", which is taken off `text`.
std::optional<double> TakeAmount(std::string_view& text) {
  size_t end = 0;
  while (end < text.size() && (IsDigit(text[end]) || text[end] == '.')) ++end;
  const std::optional<double> amount = ParseDecimal(text.substr(0, end));
  text = Trim(text.substr(end));
  return amount;
}

struct Unit {
  std::string_view name;
  double factor;
};

constexpr double kKibi = 1024.0;
// Bytes without a unit are at least so many: less is megabytes whose unit was forgotten.
constexpr int64_t kLeastBare = int64_t{1} << 20;

constexpr Unit kByteUnits[] = {
    {"", 1},
    {"B", 1},
    {"k", kKibi},
    {"K", kKibi},
    {"KiB", kKibi},
    {"kiB", kKibi},
    {"M", kKibi* kKibi},
    {"MiB", kKibi* kKibi},
    {"G", kKibi* kKibi* kKibi},
    {"GiB", kKibi* kKibi* kKibi},
    {"T", kKibi* kKibi* kKibi* kKibi},
    {"TiB", kKibi* kKibi* kKibi* kKibi},
    {"kB", 1e3},
    {"KB", 1e3},
    {"MB", 1e6},
    {"GB", 1e9},
    {"TB", 1e12},
};

// NumPy, PyTorch, C and ONNX use these names for our number types.
constexpr Synonym kNumberTypes[] = {
    {"float64", "f64"},
    {"fp64", "f64"},
    {"double", "f64"},
    {"float32", "f32"},
    {"fp32", "f32"},
    {"float", "f32"},
    {"single", "f32"},
    {"bfloat16", "bf16"},
    {"bfloat", "bf16"},
    {"float16", "f16"},
    {"fp16", "f16"},
    {"half", "f16"},
    {"tensorfloat32", "tf32"},
    {"i64", "int64"},
    {"long", "int64"},
    {"longlong", "int64"},
    {"i32", "int32"},
    {"int", "int32"},
    {"integer", "int32"},
    {"u8", "uint8"},
    {"byte", "uint8"},
    {"uchar", "uint8"},
    {"boolean", "bool"},
    {"bool8", "bool"},
    {"i8", "int8"},
    {"char", "int8"},
    {"schar", "int8"},
    {"i16", "int16"},
    {"short", "int16"},
    {"u16", "uint16"},
    {"ushort", "uint16"},
    {"u32", "uint32"},
    {"uint", "uint32"},
    {"u64", "uint64"},
    {"ulong", "uint64"},
};

constexpr Unit kTimeUnits[] = {{"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}};

void WrongType(const TreeNode& node, std::string_view what, const std::string& expected,
               Diagnostics& diagnostics, std::string help = "") {
  const std::string got = node.quoted ? Describe(node) + " in quotes" : Describe(node);
  const std::string message = "'" + std::string(what) + "' must be " + expected + ", not " + got;
  if (node.mended) {
    diagnostics.ErrorInstead(node.mark, message, std::move(help));
  } else {
    diagnostics.Error(node.mark, message, std::move(help));
  }
}

std::string IntegerText(int64_t minimum, int64_t maximum) {
  const bool low = minimum != kNoMinimum, high = maximum != kNoMaximum;
  if (low && high) return "from " + std::to_string(minimum) + " to " + std::to_string(maximum);
  if (low) return "at least " + std::to_string(minimum);
  return "at most " + std::to_string(maximum);
}

// "0.1" of "10%"; "" of what is no percentage.
std::string PartOfPercent(std::string_view text) {
  if (!text.ends_with('%')) return "";
  const std::optional<double> percent = ParseReal(text.substr(0, text.size() - 1));
  if (!percent) return "";
  std::ostringstream part;
  part << *percent / 100;
  return part.str();
}

// Returns whether a text has the quotes that word processors put around it. To YAML they are
// characters like others.
bool HasTypographicQuotes(std::string_view text) {
  return std::ranges::any_of(std::array{"“", "”", "„", "‘", "’"}, [&](std::string_view quote) {
    return text.find(quote) != std::string_view::npos;
  });
}

// "write -3.5: '−' is U+2212, a minus sign"; "" of what has no such characters.
std::string HelpWithCharacters(std::string_view text) {
  const PlainNumber plain = ReadPlainNumber(text);
  if (plain.note.empty()) return "";
  const CommaNumber commas = ReadCommas(plain.text);
  const std::string help = ParseReal(plain.text) ? "write " + plain.text : commas.Help();
  return help.empty() ? "" : help + ": " + plain.note;
}

// "1e-3" of "10^-3"; "" of others.
std::string OfPower(std::string_view text) {
  if (!text.starts_with("10^") && !text.starts_with("10**")) return "";
  const std::string power = "1e" + std::string(text.substr(text[2] == '^' ? 3 : 4));
  return ParseReal(power) ? power : "";
}

// Explains why a scalar is no number where one is wanted.
std::string NumberHelp(const TreeNode& node) {
  if (!node.IsScalar()) return "";
  if (node.quoted && ParseReal(node.scalar)) return "remove the quotes";
  if (node.scalar.starts_with("0x")) return "write it in decimal";
  if (const std::string part = PartOfPercent(node.scalar); !part.empty()) return "write " + part;
  if (node.scalar.find(" //") != std::string::npos) return "a comment begins with ' #'";
  if (HasTypographicQuotes(node.scalar)) return "remove the “quotes”: they are a part of the text";
  if (node.scalar.find('_') != std::string::npos) return "write it without '_'";
  if (const std::string power = OfPower(node.scalar); !power.empty()) return "write " + power;
  std::string help = HelpWithCharacters(node.scalar);
  if (help.empty()) help = ReadCommas(node.scalar).Help();
  return help.empty() ? HelpWithCommas(node.scalar) : help;
}

// Returns the node with the comma that the parser has made a point.
TreeNode AsWritten(const TreeNode& node) {
  TreeNode written = node;
  if (node.mended) std::ranges::replace(written.scalar, '.', ',');
  return written;
}

// If a number is no integer, says what to write in its place. Else returns NumberHelp().
std::string IntegerHelp(const TreeNode& node) {
  constexpr double kMost = 1e15;  // beyond it a double has no fractions
  const CommaNumber commas = ReadCommas(node.IsScalar() ? node.scalar : "");
  if (node.IsScalar() && !HelpWithCharacters(node.scalar).empty()) return NumberHelp(node);
  if (!commas.whole.empty()) return "write " + commas.whole;
  const std::string& text = commas.fraction.empty() ? node.scalar : commas.fraction;
  const auto value = node.IsScalar() && !node.quoted ? ParseReal(text) : std::nullopt;
  if (!value || std::abs(*value) > kMost) return NumberHelp(node);
  const std::string whole = std::to_string(static_cast<int64_t>(std::ceil(*value)));
  return *value == std::trunc(*value) ? "write " + whole : "a whole number, such as " + whole;
}

// "write `shape: [3, 48, 48]`" of "3 48 48", "3,48,48" and "3x48x48", and of the one number "3"; ""
// of what is no list of numbers.
std::string HelpWithList(std::string text, std::string_view what) {
  for (const std::string_view mark : {",", "x", "X", "*", "×", ";"}) {
    for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark)) {
      text.replace(at, mark.size(), " ");
    }
  }
  std::istringstream words(text);
  const std::vector<std::string> numbers{std::istream_iterator<std::string>(words), {}};
  const auto is_number = [](const std::string& word) { return ParseReal(word).has_value(); };
  if (numbers.empty() || !std::ranges::all_of(numbers, is_number)) return "";
  return fmt::format("write `{}: [{}]`", what, fmt::join(numbers, ", "));
}

// `[3 48 48]` is a list of one text. Reports it; false of other lists.
bool ReportMissingCommas(const TreeNode& list, std::string_view what, Diagnostics& diagnostics) {
  if (list.items.size() != 1 || !list.items[0].IsScalar() || list.items[0].quoted) return false;
  const TreeNode& item = list.items[0];
  const bool is_number = ParseReal(item.scalar) || !WithoutLookalikes(item.scalar).note.empty();
  const std::string help = is_number ? "" : HelpWithList(item.scalar, what);
  if (help.empty()) return false;
  diagnostics.Error(item.mark, "'" + std::string(what) + "' is a list without its commas", help);
  return true;
}

bool ReadList(const TreeNode& node, std::string_view what, const std::string& expected,
              Diagnostics& diagnostics) {
  if (node.IsSequence()) return true;
  const std::string help = HelpWithList(AsWritten(node).scalar, what);
  WrongType(node, what, expected, diagnostics, help.empty() ? "lists are written `[1, 2]`" : help);
  return false;
}

}  // namespace

std::optional<int64_t> ReadInteger(const TreeNode& node, std::string_view what,
                                   Diagnostics& diagnostics, int64_t minimum, int64_t maximum) {
  if (!node.IsScalar() || node.quoted || !LooksLikeInteger(node.scalar)) {
    WrongType(AsWritten(node), what, "an integer", diagnostics, IntegerHelp(AsWritten(node)));
    return std::nullopt;
  }
  std::string_view text = node.scalar;
  if (text.starts_with('+')) text.remove_prefix(1);
  int64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc()) {
    WrongType(node, what, "an integer of 64 bits", diagnostics);
    return std::nullopt;
  }
  if (value < minimum || value > maximum) {
    WrongType(node, what, IntegerText(minimum, maximum), diagnostics);
    return std::nullopt;
  }
  return value;
}

std::optional<double> ParseReal(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return ParseDecimal(text);
  const std::optional<double> numerator = ParseDecimal(Trim(text.substr(0, slash)));
  const std::optional<double> denominator = ParseDecimal(Trim(text.substr(slash + 1)));
  if (!numerator || !denominator || *denominator == 0) return std::nullopt;
  const double ratio = *numerator / *denominator;
  if (!std::isfinite(ratio)) return std::nullopt;
  return ratio;
}

std::optional<double> ReadReal(const TreeNode& node, std::string_view what,
                               Diagnostics& diagnostics, NonFinitePolicy non_finite) {
  const bool plain = node.IsScalar() && !node.quoted;
  if (const auto value = plain ? ParseReal(node.scalar) : std::nullopt) return value;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const bool infinite = plain && (node.scalar == ".inf" || node.scalar == "+.inf");
  const bool negative = plain && node.scalar == "-.inf";
  const bool nan = plain && node.scalar == ".nan";
  if (non_finite == NonFinitePolicy::kAllow) {
    if (infinite) return kInfinity;
    if (negative) return -kInfinity;
    if (nan) return std::numeric_limits<double>::quiet_NaN();
  }
  const bool finite_wanted = infinite || negative || nan;
  const bool out_of_range = plain && LooksLikeDecimal(node.scalar);
  WrongType(node, what,
            finite_wanted  ? "a finite number"
            : out_of_range ? "a number that a double can hold"
                           : "a number",
            diagnostics, NumberHelp(node));
  return std::nullopt;
}

std::optional<bool> ReadBoolean(const TreeNode& node, std::string_view what,
                                Diagnostics& diagnostics) {
  const bool plain = node.IsScalar() && !node.quoted;
  if (plain && node.scalar == "true") return true;
  if (plain && node.scalar == "false") return false;
  std::string lower = plain ? node.scalar : "";
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool yes = lower == "true" || lower == "yes" || lower == "on" || lower == "1";
  const bool no = lower == "false" || lower == "no" || lower == "off" || lower == "0";
  WrongType(node, what, "true or false", diagnostics,
            yes  ? "write `true`"
            : no ? "write `false`"
                 : "");
  return std::nullopt;
}

std::optional<std::string> ReadText(const TreeNode& node, std::string_view what,
                                    Diagnostics& diagnostics) {
  if (node.IsScalar() && !node.scalar.empty()) return node.scalar;
  WrongType(node, what, "a text", diagnostics);
  return std::nullopt;
}

std::optional<std::string> ReadChoice(const TreeNode& node, std::string_view what,
                                      std::span<const std::string> choices,
                                      Diagnostics& diagnostics, std::span<const Synonym> synonyms) {
  const std::string expected = ListWords(choices, "or");
  if (!node.IsScalar()) {
    WrongType(node, what, expected, diagnostics);
    return std::nullopt;
  }
  if (std::find(choices.begin(), choices.end(), node.scalar) != choices.end()) return node.scalar;
  std::string meant = OurNumberType(node.scalar);
  if (std::find(choices.begin(), choices.end(), meant) == choices.end()) {
    meant = MeantName(node.scalar, choices, synonyms);
  }
  WrongType(node, what, expected, diagnostics,
            meant.empty() ? "" : "did you mean '" + meant + "'?");
  return std::nullopt;
}

std::optional<std::vector<int64_t>> ReadIntegers(const TreeNode& node, std::string_view what,
                                                 Diagnostics& diagnostics, int64_t minimum,
                                                 int64_t maximum) {
  if (!ReadList(node, what, "a list of integers", diagnostics)) return std::nullopt;
  if (ReportMissingCommas(node, what, diagnostics)) return std::nullopt;
  std::vector<int64_t> values;
  for (const TreeNode& item : node.items) {
    if (const auto value = ReadInteger(item, what, diagnostics, minimum, maximum)) {
      values.push_back(*value);
    }
  }
  if (values.size() < node.items.size()) return std::nullopt;
  return values;
}

std::optional<std::vector<double>> ReadReals(const TreeNode& node, std::string_view what,
                                             Diagnostics& diagnostics) {
  if (!ReadList(node, what, "a list of numbers", diagnostics)) return std::nullopt;
  if (ReportMissingCommas(node, what, diagnostics)) return std::nullopt;
  std::vector<double> values;
  for (const TreeNode& item : node.items) {
    if (const auto value = ReadReal(item, what, diagnostics)) values.push_back(*value);
  }
  if (values.size() < node.items.size()) return std::nullopt;
  return values;
}

std::optional<std::vector<int64_t>> ReadShape(const TreeNode& node, std::string_view what,
                                              Diagnostics& diagnostics) {
  auto sizes = ReadIntegers(node, what, diagnostics, 1);
  if (!sizes) return std::nullopt;
  int64_t elements = 1;
  for (const int64_t size : *sizes) {
    if (__builtin_mul_overflow(elements, size, &elements)) {
      diagnostics.Error(node.mark,
                        "'" + std::string(what) + "' has more elements than 64 bits count");
      return std::nullopt;
    }
  }
  return sizes;
}

std::optional<int64_t> ParseBytes(std::string_view text) {
  const std::optional<double> amount = TakeAmount(text);
  if (!amount) return std::nullopt;
  for (const Unit& unit : kByteUnits) {
    if (unit.name != text) continue;
    const double bytes = std::floor(*amount * unit.factor);
    if (bytes < 1 || bytes >= 0x1p63) return std::nullopt;
    return static_cast<int64_t>(bytes);
  }
  return std::nullopt;
}

// If a unit has other capitals, "14 Mb", names the two that it may stand for.
std::string BytesHelp(const TreeNode& node) {
  if (node.IsScalar() && (node.scalar == "0" || node.scalar.starts_with("-"))) {
    return "it has to be more than 0, such as 512MiB";
  }
  const std::string pointed = WithPoint(node.IsScalar() ? node.scalar : "");
  if (ParseBytes(pointed) && !IsDigit(pointed.back())) return "write " + pointed;
  std::string_view rest = node.IsScalar() ? std::string_view(node.scalar) : "";
  const std::optional<double> amount = TakeAmount(rest);
  const std::string unit = PlainName(rest);
  if (!amount || (unit != "kb" && unit != "mb" && unit != "gb" && unit != "tb")) {
    return "such as 2000000, 512MiB, 1.5GiB (powers of 1024) or 2GB (powers of 1000)";
  }
  const std::string number(Trim(node.scalar.substr(0, node.scalar.size() - rest.size())));
  const std::string prefix(1, static_cast<char>(std::toupper(unit[0])));
  return "write " + number + prefix + "iB (powers of 1024) or " + number + prefix +
         "B (powers of 1000)";
}

std::optional<int64_t> ReadBytes(const TreeNode& node, std::string_view what,
                                 Diagnostics& diagnostics) {
  const auto bytes = node.IsScalar() ? ParseBytes(node.scalar) : std::nullopt;
  const bool has_unit = !node.scalar.empty() && !IsDigit(node.scalar.back());
  if (bytes && (has_unit || *bytes >= kLeastBare)) return bytes;
  if (bytes) {
    diagnostics.Error(node.mark, "'" + std::string(what) + "' has no unit: " + node.scalar,
                      "write " + node.scalar + "MiB or " + node.scalar + "GiB, or " + node.scalar +
                          "B if bytes are meant");
    return std::nullopt;
  }
  WrongType(node, what, "a number of bytes", diagnostics, BytesHelp(node));
  return std::nullopt;
}

std::optional<double> ParseSeconds(std::string_view text) {
  double seconds = 0;
  size_t unit = 0;  // the units come largest first
  text = Trim(text);
  while (!text.empty()) {
    const std::optional<double> amount = TakeAmount(text);
    if (!amount) return std::nullopt;
    if (text.empty() && unit == 0) return *amount > 0 ? amount : std::nullopt;
    while (unit < std::size(kTimeUnits) && !text.starts_with(kTimeUnits[unit].name)) ++unit;
    if (unit == std::size(kTimeUnits)) return std::nullopt;
    seconds += *amount * kTimeUnits[unit++].factor;
    text = Trim(text.substr(1));
  }
  if (!(seconds > 0) || !std::isfinite(seconds)) return std::nullopt;
  return seconds;
}

std::optional<double> ReadSeconds(const TreeNode& node, std::string_view what,
                                  Diagnostics& diagnostics) {
  if (const auto seconds = node.IsScalar() ? ParseSeconds(node.scalar) : std::nullopt) {
    return seconds;
  }
  const std::string pointed = WithPoint(node.IsScalar() ? node.scalar : "");
  WrongType(node, what, "a duration", diagnostics,
            ParseSeconds(pointed) ? "write " + pointed : "such as 90 (seconds), 10m, 1h30m or 2d");
  return std::nullopt;
}

std::string OurNumberType(std::string_view name) {
  const auto* found = std::ranges::find(kNumberTypes, PlainName(name), &Synonym::theirs);
  return found == std::end(kNumberTypes) ? "" : std::string(found->ours);
}

bool IsIdentifier(std::string_view text) {
  if (text.empty() || IsDigit(text[0])) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return IsLetter(c) || IsDigit(c) || c == '_'; });
}

}  // namespace cgrun
