// The options of lines, and the fields that they make: ReadLinesOptions() and ChooseLinesFields()
// are the entry points.
#ifndef CGRUN_DATA_LINES_OPTIONS_H_
#define CGRUN_DATA_LINES_OPTIONS_H_

#include <climits>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "src/data/dataset.h"
#include "src/data/token_text.h"
#include "src/data/vocabulary.h"

namespace cgrun {

enum class LabelPlace { kNone, kFirst, kLast };
// These are the names of the token kinds and of LabelPlace, in the order of their values.
inline constexpr std::string_view kTokenKinds[] = {"words", "bytes", "ids"};
inline constexpr std::string_view kLabelPlaces[] = {"none", "first", "last"};
inline constexpr DataOptionValues kLengths = {
    .integer = true, .least = 1, .most = int64_t{1} << 28};  // of a sample
inline constexpr DataOptionValues kEntries = {
    .integer = true, .least = Vocabulary::kFirstWord, .most = INT_MAX};
inline constexpr DataOptionValues kPads = {.integer = true, .least = INT_MIN, .most = INT_MAX};
// A field holds one of these.
enum class LinesPart { kText, kLabel, kNext, kLength };

struct LinesOptions {
  TokenKind kind = TokenKind::kWords;
  int64_t length = 1;
  bool truncate = false;
  int32_t pad = 0;
  LabelPlace label = LabelPlace::kNone;
  int64_t entries = INT_MAX;  // ids of words are below

  bool header = false;  // the first line names the columns, and is no sample

  bool labelled() const { return label != LabelPlace::kNone; }
  bool of_words() const { return kind == TokenKind::kWords; }
};

struct LinesField {
  LinesPart part = LinesPart::kText;
  DataField field;
};

// Returns nothing after an error.
std::optional<LinesOptions> ReadLinesOptions(const DataOptions& options, Diagnostics& diagnostics);

// 'text' with 'label' or, without one, 'next', where the model has a second input; 'length' where
// it has an input of this name.
std::vector<LinesField> ChooseLinesFields(const LinesOptions& lines, const DataOptions& options);

}  // namespace cgrun

#endif  // CGRUN_DATA_LINES_OPTIONS_H_
