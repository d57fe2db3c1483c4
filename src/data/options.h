// These functions read the values of a data set's options.
#ifndef CGRUN_DATA_OPTIONS_H_
#define CGRUN_DATA_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/data/dataset.h"

namespace cgrun {

// Returns null where the user gave none.
const DataOption* FindOption(const DataOptions& options, std::string_view name);

// The path that an option gives, relative ones from options.folder.
std::string ResolvePath(const DataOptions& options, const DataOption& option);

// Reports the value of an option, in place of what was said of a comma in it.
void ReportOption(const DataOption& option, const std::string& message, const std::string& help,
                  Diagnostics& diagnostics);

// An integer from values.least to values.most, or `otherwise` where the user gave none. Returns
// nothing after an error.
std::optional<int64_t> IntegerOption(const DataOptions& options, std::string_view name,
                                     const DataOptionValues& values, int64_t otherwise,
                                     Diagnostics& diagnostics);

// The index of the option's value in `choices`, or `otherwise` where the user gave none. Returns
// nothing after an error.
std::optional<size_t> ChoiceOption(const DataOptions& options, std::string_view name,
                                   std::span<const std::string_view> choices, size_t otherwise,
                                   Diagnostics& diagnostics);

inline constexpr std::string_view kTrueFalse[] = {"false", "true"};

// Reads `true` or `false`. It returns `otherwise` where the user gave none, and nothing after an
// error.
std::optional<bool> BooleanOption(const DataOptions& options, std::string_view name, bool otherwise,
                                  Diagnostics& diagnostics);

// Marks the placeholder of that name in the model file, or returns `otherwise` where that is not
// known.
SourceMark MarkOfField(const DataOptions& options, const std::string& name,
                       const SourceMark& otherwise);

// The one value of an option, or all of its list.
std::vector<DataOption> ItemsOf(const DataOption& option);

// Returns the findings by which other data of the model are read: those that the weights keep, else
// those of the training set. For a training set itself, there are none.
DataFindings SharedFindings(const DataOptions& options);

// A text of the data in a message, in quotes: what no terminal shows as '?', cut where it is long.
std::string QuotedText(std::string_view text);
// "'a', 'b', …": of many texts the first few.
std::string QuotedNames(const std::vector<std::string>& texts);

// For samples to predict, warns that empty lines lie between them, so that samples have other
// numbers than lines. If `count` is 0, there is no warning.
void WarnOfEmptyLines(const std::string& path, int64_t count, int first, Diagnostics& diagnostics);

// Formats memory for a message: "1000 bytes", "8.0 TiB".
std::string MemoryText(int64_t bytes);

// Memory that samples may still take.
struct MemoryLeft {
  int64_t bytes = kNoLimit;
  int64_t cap = 0;                // on the run, of which these bytes are left; 0: of free memory
  std::string flag = "--memory";  // that sets the cap

  static MemoryLeft Of(const DataOptions& options);
  // "the 1000 bytes that are left", "the cap of 64.0 MiB".
  std::string Text() const;
  // Says what helps where that is too little, beside `otherwise`: "use fewer samples".
  std::string Help(std::string_view otherwise) const;
};

// Returns the placeholder that takes the field called `names[index]` of a data set that has just
// these fields. If every field has a placeholder of its name, it is the one of that name. The same
// holds if this field has one and the numbers of placeholders and fields differ. Else it is the one
// in the field's place. Returns null where there is none.
const DataField* WantedField(const DataOptions& options, std::span<const std::string> names,
                             size_t index);

}  // namespace cgrun

#endif  // CGRUN_DATA_OPTIONS_H_
