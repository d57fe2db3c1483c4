// Typed values out of tree nodes. Each function returns nothing after it has reported an error,
// which names the value by `what` ("'epochs' must be an integer, not 'ten'") and takes the place of
// what the parser has said of its commas (TreeNode::mended).
#ifndef CGRUN_MODEL_VALUES_H_
#define CGRUN_MODEL_VALUES_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/base/synonyms.h"
#include "src/model/tree.h"

namespace cgrun {

inline constexpr int64_t kNoMinimum = std::numeric_limits<int64_t>::min();
inline constexpr int64_t kNoMaximum = std::numeric_limits<int64_t>::max();

// Decimal digits with an optional sign. Quoted numbers are texts, and refused.
std::optional<int64_t> ReadInteger(const TreeNode& node, std::string_view what,
                                   Diagnostics& diagnostics, int64_t minimum = kNoMinimum,
                                   int64_t maximum = kNoMaximum);

enum class NonFinitePolicy { kRefuse, kAllow };

// Reads a decimal number ("1.0e-4") or a ratio of two ("1/255"). If `non_finite` allows them, it
// also takes `.inf`, `-.inf` and `.nan`.
std::optional<double> ReadReal(const TreeNode& node, std::string_view what,
                               Diagnostics& diagnostics,
                               NonFinitePolicy non_finite = NonFinitePolicy::kRefuse);

// Reads `true` or `false`, and no other spelling.
std::optional<bool> ReadBoolean(const TreeNode& node, std::string_view what,
                                Diagnostics& diagnostics);

// Reads any scalar that is not empty.
std::optional<std::string> ReadText(const TreeNode& node, std::string_view what,
                                    Diagnostics& diagnostics);

// A text that is one of `choices`, which other programs call as `synonyms` says.
std::optional<std::string> ReadChoice(const TreeNode& node, std::string_view what,
                                      std::span<const std::string> choices,
                                      Diagnostics& diagnostics,
                                      std::span<const Synonym> synonyms = {});

// Lists.
std::optional<std::vector<int64_t>> ReadIntegers(const TreeNode& node, std::string_view what,
                                                 Diagnostics& diagnostics,
                                                 int64_t minimum = kNoMinimum,
                                                 int64_t maximum = kNoMaximum);
std::optional<std::vector<double>> ReadReals(const TreeNode& node, std::string_view what,
                                             Diagnostics& diagnostics);
// The sizes of a shape: a list of positive integers, whose product fits 64 bits.
std::optional<std::vector<int64_t>> ReadShape(const TreeNode& node, std::string_view what,
                                              Diagnostics& diagnostics);

// Bytes: "2000000", "512 MiB", "1.5GiB", "64k", "2GB" (see ParseBytes). At least 1.
std::optional<int64_t> ReadBytes(const TreeNode& node, std::string_view what,
                                 Diagnostics& diagnostics);

// Seconds: "90", "1.5h", "1h30m", "2d". More than 0.
std::optional<double> ReadSeconds(const TreeNode& node, std::string_view what,
                                  Diagnostics& diagnostics);

// Does the same for a text of a command line. Returns nothing if it is no such value or is too
// large. The units k, M, G, T and KiB, MiB, GiB, TiB are powers of 1024; kB, MB, GB, TB are powers
// of 1000.
std::optional<int64_t> ParseBytes(std::string_view text);
// Units: s, m, h, d; largest first; a number without one is in seconds.
std::optional<double> ParseSeconds(std::string_view text);
// Parses a finite decimal number or a ratio of two.
std::optional<double> ParseReal(std::string_view text);

// Our name of the number type that others call "float32", "double" or "long"; "" where there is
// none.
std::string OurNumberType(std::string_view name);

// [A-Za-z_][A-Za-z0-9_]*
bool IsIdentifier(std::string_view text);

}  // namespace cgrun

#endif  // CGRUN_MODEL_VALUES_H_
