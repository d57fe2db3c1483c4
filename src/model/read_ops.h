// Items of `ops:`, and what is written like one. ReadOps() is the entry point.
#ifndef CGRUN_MODEL_READ_OPS_H_
#define CGRUN_MODEL_READ_OPS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/model/model_spec.h"
#include "src/model/read_names.h"
#include "src/model/schema.h"

namespace cgrun {

// The items of a list, with those left out whose `if` is false or whose `repeat` is 0. Blocks are
// not expanded: see ExpandBlocks(). Items with errors are there too, broken.
std::vector<OpSpec> ReadOps(const TreeNode& node, std::string_view what, const Reader& reader);

// Reads one operator by itself: a name, or a map with `op`. If `name` is given, it is the operator
// of a map without `op`. The result is marked as broken after an error.
OpSpec ReadOperator(const TreeNode& node, std::string_view what, const MarkedText* name,
                    const Reader& reader);

// Unique names for a scope's items: see OpSpec::labels.
void AssignLabels(std::vector<OpSpec>& ops);

// YAML reads `{op: add, in: a, b}` as a key `b` without a value. CountLooseInputs() counts the
// `entries` that are such values of an `in` that ends at `last`, right before them.
// ReportLooseInputs() says how to write them.
size_t CountLooseInputs(SourceMark last, std::span<const TreeEntry> entries);
void ReportLooseInputs(const std::vector<MarkedText>& in, std::span<const TreeEntry> loose,
                       Diagnostics& diagnostics);

// Returns the table of the keys of an item.
std::vector<KeyDoc> OpKeyDocs();
// Returns the keys that an item of a kind takes: "op", "block", "network" or "gradient". For "" it
// returns those that every item takes.
std::vector<KeyDoc> OpKeyDocs(std::string_view kind);

}  // namespace cgrun

#endif  // CGRUN_MODEL_READ_OPS_H_
