// Names in model files: new ones, and those of values and numbers that are read.
#ifndef CGRUN_MODEL_READ_NAMES_H_
#define CGRUN_MODEL_READ_NAMES_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/model/model_spec.h"
#include "src/model/schema.h"

namespace cgrun {

// These read identifiers: the key of an entry; a scalar; a list of scalars, or one scalar.
std::optional<MarkedText> ReadNewName(const TreeEntry& entry, const Reader& reader);
std::optional<MarkedText> ReadName(const TreeNode& node, std::string_view what,
                                   const Reader& reader);
std::vector<MarkedText> ReadNames(const TreeNode& node, std::string_view what,
                                  const Reader& reader);
// Names of values, which may be qualified: "x", "classify.fc1", "classify.stage[1].conv".
std::optional<MarkedText> ReadReference(const TreeNode& node, std::string_view what,
                                        const Reader& reader);
std::vector<MarkedText> ReadReferences(const TreeNode& node, std::string_view what,
                                       const Reader& reader);

// Reads references with numbers among them: "2", "1/255". A number does not stand in quotes.
std::vector<MarkedText> ReadInputs(const TreeNode& node, std::string_view what,
                                   const Reader& reader);

// Names that may stand once: an error for the second.
class NameScope {
 public:
  void Add(const MarkedText& name, const Reader& reader) {
    const auto [first, is_new] = first_.emplace(name.value, name.mark);
    if (is_new) return;
    reader.diagnostics.Error(name.mark, "the name '" + name.value + "' is taken",
                             "the first is in " + PlaceText(first->second));
  }

 private:
  std::map<std::string, SourceMark> first_;
};

}  // namespace cgrun

#endif  // CGRUN_MODEL_READ_NAMES_H_
