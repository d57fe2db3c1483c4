// Errors that users cause: collected with the place in their file, printed with the line, a caret
// and help. A phase goes on after an error where it can, so that one run reports all errors of a
// file; where it cannot, it throws UserError, which only ends the phase.
#ifndef CGRUN_BASE_DIAGNOSTICS_H_
#define CGRUN_BASE_DIAGNOSTICS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace cgrun {

// A text that marks point into; shared, so that a mark outlives its parser.
struct SourceFile {
  std::string name;  // as the user gave it
  std::string text;
  int first_line = 1;  // of `text`, where it is only a part of a large file
};

// A place in a source file. Lines and columns, in characters, count from 1; 0 means 'the file as a
// whole'.
// A mark without a file is a place that no user wrote.
struct SourceMark {
  std::shared_ptr<const SourceFile> file;
  int line = 0;
  int column = 0;
  int length = 1;  // characters underlined

  // "model.yaml:12:7", "model.yaml" without a line, "" without a file.
  std::string ToString() const;
};

enum class Severity { kError, kWarning };

struct Diagnostic {
  Severity severity = Severity::kError;
  SourceMark mark;
  std::string message;   // says the fault, in lower case, without a full stop
  std::string help;      // says how to mend it; may be empty
  bool instead = false;  // of what was said of its place before
};

// Ends a phase. The errors stand in the Diagnostics that the phase was given, or in what().
class UserError : public std::runtime_error {
 public:
  explicit UserError(const std::string& message, std::string help = "")
      : std::runtime_error(message), help_(std::move(help)) {}
  const std::string& help() const { return help_; }

 private:
  std::string help_;
};

// Says that the input does not allow the request: a file is missing or damaged, or a name is
// unknown. The command line gives it exit status 2, and so tells it from work that failed.
class InputError : public UserError {
 public:
  using UserError::UserError;
};

// The sink that phases report to.
class Diagnostics {
 public:
  void Error(SourceMark mark, std::string message, std::string help = "");
  // Says more than the errors of the same place before it, which it replaces: one mistake is told
  // once.
  void ErrorInstead(SourceMark mark, std::string message, std::string help = "");
  void Warning(SourceMark mark, std::string message, std::string help = "");

  bool has_errors() const { return error_count_ > 0; }
  int error_count() const { return error_count_; }
  // Returns the diagnostics in the order of their places, each place's once.
  std::vector<Diagnostic> Sorted() const;

  // "FILE:LINE:COLUMN: error: …", the line, the caret, "help: …" for each, with ANSI colours if
  // `color`. With `brief`, warnings are their first lines alone.
  std::string ToString(bool color = false, bool brief = false) const;

  // While it lives, `note` is added to the help of every error, in place of an outer one: where a
  // template is used, say.
  class Note {
   public:
    Note(Diagnostics& diagnostics, std::string note);
    ~Note();
    Note(const Note&) = delete;
    Note& operator=(const Note&) = delete;

   private:
    Diagnostics& diagnostics_;
    std::string outer_;
  };

 private:
  std::vector<Diagnostic> items_;
  int error_count_ = 0;
  std::string note_;
};

// "1 sample", "3 samples", "0 samples"; `plural` where it is not made by an s.
std::string CountText(int64_t count, std::string_view noun, std::string_view plural = "");

// The candidate nearest to `name` by edit distance (with transpositions), or "" where none is near
// enough to be a typing error. One that differs in upper and lower case alone is the nearest, and
// where none is near, that case is not looked at.
std::string NearestName(std::string_view name, std::span<const std::string> candidates);

// "did you mean 'x'?", or "known: a, b, c" where nothing is near, or "" where there is no
// candidate; of one that looks the same how it differs.
std::string SuggestName(std::string_view name, std::span<const std::string> candidates);

}  // namespace cgrun

#endif  // CGRUN_BASE_DIAGNOSTICS_H_
