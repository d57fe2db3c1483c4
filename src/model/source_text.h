// The text of a model file, checked and made ready for the YAML library: Prepare() is the entry
// point. Turns byte offsets into marks.
#ifndef CGRUN_MODEL_SOURCE_TEXT_H_
#define CGRUN_MODEL_SOURCE_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/diagnostics.h"

namespace cgrun {

class SourceText {
 public:
  // Drops a byte order mark and makes every line end "\n". Refuses files that are too large, are
  // not UTF-8, hold control characters, or indent with tabs: an error, and nothing.
  static std::optional<SourceText> Prepare(SourceFile file, Diagnostics& diagnostics);

  // The text with the brackets of `${…}` and `name[3]` hidden: in flow style YAML would take them
  // for its own. Offsets into it are offsets into text().
  const std::string& masked() const { return masked_; }
  // The brackets of a scalar that came out of masked() put back.
  static std::string Unmask(std::string scalar);

  std::string_view text() const { return file_->text; }
  const std::shared_ptr<const SourceFile>& file() const { return file_; }

  // The line (from 1) that holds `offset`, and the character (from 1) within it.
  int LineOf(size_t offset) const;
  int ColumnOf(size_t offset) const;
  // Returns the offset at which line `line` begins.
  size_t BeginOfLine(int line) const { return line_begins_[static_cast<size_t>(line - 1)]; }
  // The end of the line that holds `offset`.
  size_t EndOfLine(size_t offset) const;
  // Returns the offset behind the quote that closes the one at `offset`, or npos.
  size_t EndOfQuoted(size_t offset) const;
  // Returns the offset behind the "|" or ">-" of a block scalar at `offset`.
  size_t EndOfBlockHeader(size_t offset) const;
  // Marks `bytes` bytes at `offset`, cut at the end of the line.
  SourceMark MarkAt(size_t offset, size_t bytes = 1) const;
  // Returns the text behind `mark`, whose columns count characters.
  std::string_view TextBehind(const SourceMark& mark) const;

 private:
  explicit SourceText(SourceFile file);

  std::shared_ptr<const SourceFile> file_;
  std::string masked_;
  std::vector<size_t> line_begins_;
  std::vector<uint32_t> characters_;  // that begin before each byte
};

}  // namespace cgrun

#endif  // CGRUN_MODEL_SOURCE_TEXT_H_
