// Reading the values of a data set's options.
#ifndef CGRUN_DATA_OPTIONS_H_
#define CGRUN_DATA_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/data/dataset.h"

namespace cgrun {

// Null where the user gave none.
const DataOption* FindOption(const DataOptions& options, std::string_view name);

// The path that an option gives, relative ones from options.folder.
std::string ResolvePath(const DataOptions& options, const DataOption& option);

// An integer from `low` to `high`, or `otherwise` where the user gave none. Nothing after an error.
std::optional<int64_t> IntegerOption(const DataOptions& options, std::string_view name, int64_t low,
                                     int64_t high, int64_t otherwise, Diagnostics& diagnostics);

}  // namespace cgrun

#endif  // CGRUN_DATA_OPTIONS_H_
