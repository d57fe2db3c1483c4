// Choices and integers, and which of them exclude each other.
#include "src/data/lines_options.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "src/data/options.h"

namespace cgrun {
namespace {

void CheckCombinations(const LinesOptions& lines, const DataOptions& options,
                       Diagnostics& diagnostics) {
  const auto refuse = [&](const char* name, const char* message, const char* help) {
    const DataOption* option = FindOption(options, name);
    if (option != nullptr) diagnostics.Error(option->mark, message, help);
  };
  if (lines.of_words()) {
    refuse("pad", "words are filled up with the id 0, which is no word",
           "`pad` is for `tokens: bytes` and `tokens: ids`");
  } else {
    const char* help = "`tokens: words` has a vocabulary";
    refuse("vocabulary", "bytes and ids have no vocabulary", help);
    refuse("entries", "bytes and ids have no vocabulary to cut", help);
  }
  if (!lines.labelled()) {
    refuse("classes", "there are classes, but no 'label'",
           "`label: first` takes what stands before a line's first tab, `label: last` what stands "
           "behind its last one");
  }
}

}  // namespace

std::optional<LinesOptions> ReadLinesOptions(const DataOptions& options, Diagnostics& diagnostics) {
  const int errors = diagnostics.error_count();
  const auto kind = ChoiceOption(options, "tokens", kTokenKinds, 0, diagnostics);
  const auto length = IntegerOption(options, "length", kLengths, 1, diagnostics);
  const auto truncate = BooleanOption(options, "truncate", false, diagnostics);
  const auto pad = IntegerOption(options, "pad", kPads, 0, diagnostics);
  const auto place = ChoiceOption(options, "label", kLabelPlaces, 0, diagnostics);
  const auto entries = IntegerOption(options, "entries", kEntries, INT_MAX, diagnostics);
  if (diagnostics.error_count() > errors) return std::nullopt;
  const LinesOptions lines = {
      static_cast<TokenKind>(*kind),   *length, *truncate, static_cast<int32_t>(*pad),
      static_cast<LabelPlace>(*place), *entries};
  CheckCombinations(lines, options, diagnostics);
  if (diagnostics.error_count() > errors) return std::nullopt;
  return lines;
}

std::vector<LinesField> ChooseLinesFields(const LinesOptions& lines, const DataOptions& options) {
  const bool has_length =
      std::ranges::find(options.fields, "length", &DataField::name) != options.fields.end();
  const bool alone = options.fields.size() == (has_length ? 2 : 1);
  std::vector<LinesField> fields;
  const auto add = [&](LinesPart part, const char* name, Shape shape) {
    fields.push_back({part, {name, DType::kI32, std::move(shape)}});
  };
  add(LinesPart::kText, "text", Shape{lines.length});
  if (!alone && lines.labelled()) add(LinesPart::kLabel, "label", Shape());
  if (!alone && !lines.labelled()) add(LinesPart::kNext, "next", Shape{lines.length});
  if (has_length) add(LinesPart::kLength, "length", Shape());
  std::vector<std::string> names;
  for (const LinesField& field : fields) names.push_back(field.field.name);
  for (size_t i = 0; i < fields.size(); ++i) {
    const DataField* wanted = WantedField(options, names, i);
    const bool bytes = wanted != nullptr && wanted->dtype == DType::kU8;
    // An input of another type is refused where the fields are matched with it.
    if (wanted != nullptr &&
        (wanted->dtype == DType::kI64 || (bytes && fields[i].part == LinesPart::kText))) {
      fields[i].field.dtype = wanted->dtype;
    }
  }
  return fields;
}

}  // namespace cgrun
