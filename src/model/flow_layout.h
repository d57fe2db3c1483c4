// Checks how a value in flow style is laid out in lines. YAML demands more of it than yaml-cpp
// checks: text in brackets is indented, and a comment behind a bracket has a blank before it.
#ifndef CGRUN_MODEL_FLOW_LAYOUT_H_
#define CGRUN_MODEL_FLOW_LAYOUT_H_

#include <cstddef>
#include <optional>
#include <string_view>

#include "src/model/source_text.h"

namespace cgrun {

// Follows a parser through the outermost brackets of a text.
class FlowLayout {
 public:
  explicit FlowLayout(const SourceText& text) : text_(text) {}

  // An outermost bracket stands at `offset`. It is a value of a block list or map in column
  // `column`; 0: it is the whole document.
  void Begin(size_t offset, int column);

  // The parser has read what ends before `end`. Returns the offset of the first text since then
  // that begins a line and is not indented deeper than the list or map. As other readers of YAML
  // do, it allows more: brackets that close there, and `- key: [1,` with a line as deep as the key.
  std::optional<size_t> Reach(size_t end);

  // Returns the offset of the first text before `end` that begins a line below that of `begin` and
  // is not indented deeper than column `column`, where a text in quotes begins and ends so.
  std::optional<size_t> FindShallowQuoted(size_t begin, size_t end, int column) const;

  // Returns the offset of the bracket that ends the text that the parser has read.
  size_t ClosingBracket() const;

 private:
  // The same; lines that begin with one of `ignored` may lie anywhere.
  std::optional<size_t> FindShallow(size_t begin, size_t end, int column,
                                    std::string_view ignored) const;
  // Returns `column`, or the column in which the line of `offset` begins if that is smaller.
  int LeastColumn(size_t offset, int column) const;

  const SourceText& text_;
  int column_ = 0;
  size_t reached_ = 0;
};

}  // namespace cgrun

#endif  // CGRUN_MODEL_FLOW_LAYOUT_H_
