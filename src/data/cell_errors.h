// Reports errors in the cells of a table, or in the lines of a list. Each column and kind of
// mistake has one message, at the first such cell. It counts the others and names a few.
#ifndef CGRUN_DATA_CELL_ERRORS_H_
#define CGRUN_DATA_CELL_ERRORS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "src/base/diagnostics.h"

namespace cgrun {

// A mark of the file as a whole whose message stands behind those of all lines.
inline SourceMark BehindAllLines(const std::string& path) {
  return {std::make_shared<const SourceFile>(SourceFile{path, ""}), -1, 0};
}

struct CellMistake {
  std::string text;  // the cell's text, in quotes; "" of an empty one
  std::string what;  // ": 'x' is not a number"
  std::string help;
  std::string kind;            // tells the kinds of mistakes in a column apart
  std::string rare_help = {};  // instead of `help`, where few rows have the mistake; or ""
};

class CellErrors {
 public:
  // `noun` is what messages count.
  explicit CellErrors(Diagnostics& diagnostics, Severity severity = Severity::kError,
                      std::string noun = "cell")
      : diagnostics_(diagnostics), severity_(severity), noun_(std::move(noun)) {}

  // Takes a mistake in column `column`, which messages call `name`: "column 'age'". `mark_of()`
  // says where it stands, and is called for few of them.
  template <class MarkOf>
  void Add(size_t column, const std::string& name, MarkOf mark_of, const CellMistake& mistake) {
    Kind& kind = kinds_[{column, mistake.kind}];
    if (++kind.cells == 1) {
      kind.mark = mark_of();
      kind.message = name + mistake.what;
      kind.help = mistake.help;
      kind.rare_help = mistake.rare_help;
    } else if (kind.cells <= 1 + kMostNamed) {
      const std::string line = std::to_string(mark_of().line);
      kind.others += (kind.others.empty() ? "" : ", ") +
                     (mistake.text.empty() ? line : mistake.text + " in line " + line);
      kind.empty = kind.empty && mistake.text.empty();
    }
  }

  // Reports all errors at the end of the file, which has `rows` rows.
  void Report(int64_t rows);

 private:
  static constexpr int64_t kMostNamed = 3;
  static constexpr int kMostShown = 20;

  struct Kind {
    int64_t cells = 0;
    SourceMark mark;  // of the first
    std::string message, help, rare_help;
    std::string others;  // the next few
    bool empty = true;   // whether these are empty cells
  };

  std::string OthersText(const Kind& kind) const;
  void Tell(const SourceMark& mark, const std::string& message, const std::string& help);

  Diagnostics& diagnostics_;
  const Severity severity_;
  const std::string noun_;
  std::map<std::pair<size_t, std::string>, Kind> kinds_;  // by column and kind
};

}  // namespace cgrun

#endif  // CGRUN_DATA_CELL_ERRORS_H_
