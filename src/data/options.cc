// Reads the values of options: paths and integers.
#include "src/data/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iterator>
#include <memory>
#include <ranges>

#include "src/base/printable.h"
#include "src/base/synonyms.h"
#include "src/base/written_bytes.h"

namespace cgrun {

namespace {

// Returns help for the words that other programs write for `true` and `false`; "" for other texts.
std::string BooleanHelp(std::string_view text) {
  constexpr std::string_view kNo[] = {"none", "null", "no", "off"}, kYes[] = {"yes", "on"};
  const std::string plain = PlainName(text);
  if (std::ranges::find(kNo, plain) != std::end(kNo)) return "write `false`";
  return std::ranges::find(kYes, plain) != std::end(kYes) ? "write `true`" : "";
}

// Returns the text with the comma that was made a point.
std::string AsWritten(const DataOption& option) {
  std::string text = option.value;
  if (option.mended) std::ranges::replace(text, '.', ',');
  return text;
}

}  // namespace

const DataOption* FindOption(const DataOptions& options, std::string_view name) {
  const auto found = options.values.find(std::string(name));
  return found == options.values.end() ? nullptr : &found->second;
}

std::string ResolvePath(const DataOptions& options, const DataOption& option) {
  return PathFrom(options.folder, option.value);
}

void ReportOption(const DataOption& option, const std::string& message, const std::string& help,
                  Diagnostics& diagnostics) {
  if (option.mended) {
    diagnostics.ErrorInstead(option.mark, message, help);
  } else {
    diagnostics.Error(option.mark, message, help);
  }
}

std::optional<int64_t> IntegerOption(const DataOptions& options, std::string_view name,
                                     const DataOptionValues& values, int64_t otherwise,
                                     Diagnostics& diagnostics) {
  const DataOption* option = FindOption(options, name);
  if (option == nullptr) return otherwise;
  const char* end = option->value.data() + option->value.size();
  int64_t value = 0;
  const auto [stop, error] = std::from_chars(option->value.data(), end, value);
  const bool whole = error == std::errc() && stop == end;
  if (whole && value >= values.least && value <= values.most) return value;
  if (option->reported) return std::nullopt;
  ReportOption(*option,
               "option '" + std::string(name) + "' is '" + AsWritten(*option) +
                   "', but must be an integer from " + std::to_string(values.least) + " to " +
                   std::to_string(values.most),
               "", diagnostics);
  return std::nullopt;
}

std::optional<size_t> ChoiceOption(const DataOptions& options, std::string_view name,
                                   std::span<const std::string_view> choices, size_t otherwise,
                                   Diagnostics& diagnostics) {
  const DataOption* option = FindOption(options, name);
  if (option == nullptr) return otherwise;
  const auto found = std::ranges::find(choices, option->value);
  if (found != choices.end()) return static_cast<size_t>(found - choices.begin());
  const bool boolean = std::ranges::equal(choices, kTrueFalse);
  std::string help = boolean ? BooleanHelp(option->value) : "";
  if (help.empty()) {
    help = SuggestName(option->value, std::vector<std::string>(choices.begin(), choices.end()));
  }
  ReportOption(*option, "option '" + std::string(name) + "' cannot be '" + AsWritten(*option) + "'",
               help, diagnostics);
  return std::nullopt;
}

std::optional<bool> BooleanOption(const DataOptions& options, std::string_view name, bool otherwise,
                                  Diagnostics& diagnostics) {
  const auto index = ChoiceOption(options, name, kTrueFalse, otherwise ? 1 : 0, diagnostics);
  return index ? std::optional(*index == 1) : std::nullopt;
}

SourceMark MarkOfField(const DataOptions& options, const std::string& name,
                       const SourceMark& otherwise) {
  const auto mark = options.field_marks.find(name);
  return mark == options.field_marks.end() || !mark->second.file ? otherwise : mark->second;
}

std::vector<DataOption> ItemsOf(const DataOption& option) {
  return option.items.empty() ? std::vector<DataOption>{option} : option.items;
}

DataFindings SharedFindings(const DataOptions& options) {
  if (options.kept != nullptr) return *options.kept;
  return options.train != nullptr ? options.train->Findings() : DataFindings();
}

std::string QuotedText(std::string_view text) {
  constexpr size_t kMost = 60;
  std::string shown = PrintableText(text.substr(0, kMost));
  std::ranges::replace(shown, '\t', '?');
  return "'" + shown + (text.size() > kMost ? "...'" : "'");
}

std::string QuotedNames(const std::vector<std::string>& texts) {
  constexpr size_t kMostShown = 10;
  const auto shown = texts | std::views::take(kMostShown) | std::views::transform(QuotedText);
  return fmt::format("{}{}", fmt::join(shown, ", "), texts.size() > kMostShown ? ", …" : "");
}

void WarnOfEmptyLines(const std::string& path, int64_t count, int first, Diagnostics& diagnostics) {
  if (count == 0) return;
  const auto file = std::make_shared<const SourceFile>(SourceFile{path, ""});
  diagnostics.Warning(
      {file, first, 0},
      CountText(count, "line") + (count == 1 ? " without a sample is" : " without samples are") +
          " passed over: the numbers of predictions count samples, from 0, not lines",
      "");
}

std::string MemoryText(int64_t bytes) {
  constexpr const char* kUnits[] = {"MiB", "GiB", "TiB"};
  if (bytes < 1 << 20) return CountText(bytes, "byte");
  double number = static_cast<double>(bytes) / (1 << 20);
  size_t unit = 0;
  for (; number >= 1000 && unit + 1 < std::size(kUnits); ++unit) number /= 1024;
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f %s", number, kUnits[unit]);
  return text;
}

MemoryLeft MemoryLeft::Of(const DataOptions& options) {
  return {options.memory_limit, options.memory_cap, options.cap_flag};
}

std::string MemoryLeft::Text() const {
  const std::string written = WrittenBytes(cap);
  const std::string of_cap = "the cap of " + (written.empty() ? MemoryText(cap) : written);
  if (cap > 0 && bytes >= cap) return of_cap;
  return "the " + MemoryText(bytes) + " that are left" + (cap > 0 ? " of " + of_cap : "");
}

std::string MemoryLeft::Help(std::string_view otherwise) const {
  return (cap > 0 ? "a larger `" + flag + "` (`memory` of `train`), or "
                  : std::string("raise the memory limit, or ")) +
         std::string(otherwise);
}

const DataField* WantedField(const DataOptions& options, std::span<const std::string> names,
                             size_t index) {
  const auto find = [&](const std::string& name) {
    return std::ranges::find(options.fields, name, &DataField::name);
  };
  const auto is_there = [&](const std::string& name) { return find(name) != options.fields.end(); };
  // Fields that are not as many as the inputs are refused later, whatever is found here: then what
  // is said of a field must be true of the input of its name.
  const bool misfit = names.size() != options.fields.size() && is_there(names[index]);
  if (misfit || std::ranges::all_of(names, is_there)) return &*find(names[index]);
  return index < options.fields.size() ? &options.fields[index] : nullptr;
}

}  // namespace cgrun
