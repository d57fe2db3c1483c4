// All verbs share this way of talking to people: colour, quiet, JSON, errors.
#ifndef CGRUN_CLI_CONSOLE_H_
#define CGRUN_CLI_CONSOLE_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/cli/verb.h"

namespace cgrun {

class CommandLine;
struct ParseStop;

// Adds --quiet, --no-color and --json [FILE], which are the same for every verb.
void AddConsoleFlags(const Verb& verb);

bool Quiet();
// Returns whether `fd` is a terminal that knows control sequences (not TERM=dumb).
bool IsTerminal(int fd);
// Colours are for such terminals: not in files, not with --no-color or NO_COLOR.
bool ColorOnStdout();
bool ColorOnStderr();

// Returns whether --json was given.
bool WantsJson();
// Writes a result: `json` where --json asks for it on standard output, `text` otherwise; with
// --json FILE, the text is printed and the JSON goes to the file. Throws UserError.
void PrintResult(const std::string& text, const std::string& json);
// Prints bytes for other programs: unchanged to a file or pipe, cleaned to a terminal
// (PrintText()). `json` as in PrintResult().
void PrintData(const std::string& text, const std::string& json);
// Does the same for a result whose text is as long as the JSON: with --json FILE, it only says
// which file was written.
void PrintBulkyResult(const std::string& text, const std::string& json);
// Writes a file that a flag asks for beside the result, and says so. Throws UserError.
void WriteBeside(const std::string& path, std::string_view content);

void PrintError(std::string_view message, std::string_view help);
// Reports an error of a file as a whole, which the message names. JSON has the file as the error's
// file.
void PrintFileError(const std::string& file, std::string_view message, std::string_view help);
void PrintWarning(std::string_view message);
// Writes a line beside the result to standard error; none with --quiet.
void Tell(std::string_view line);
// Writes each text likewise, as a note.
void TellNotes(const std::vector<std::string>& notes);
// Notes the assignments of `--set` to a model file. PrintDiagnostics() shows them behind errors in
// its lines.
void NoteChanges(const std::string& file, const std::vector<std::string>& assignments);
void PrintDiagnostics(const Diagnostics& diagnostics);
// Prints the same with a line for each warning. It is for verbs after `check` and `train`, which
// print warnings in full.
void PrintBriefly(const Diagnostics& diagnostics);

// Errors or warnings as --json has them: `[{"file", "line", "column", "message", "help"}]`, with
// null for what one does not have.
nlohmann::ordered_json DiagnosticsJson(const std::vector<Diagnostic>& diagnostics);

// If --json asks for JSON on standard output, and a verb that returned `status` printed errors
// instead of its result, prints them as one object: `{"errors": […]}`. Returns `status`. `words` is
// the command line behind the program's name.
int FinishJson(int status, const std::vector<std::string>& words);

// The exit status of a verb that returned `status`: kFailed, with a message, where standard output
// could not take what was printed.
int CheckStandardOutput(int status);

// Prints the help or the version that was asked for, or what is wrong with the command line.
// Returns the exit status. `words`: those that `line` has parsed.
int ReportParseStop(const CommandLine& line, const ParseStop& stop,
                    const std::vector<std::string>& words);

// Each line moved right by two spaces.
std::string Indent(std::string_view text);

}  // namespace cgrun

#endif  // CGRUN_CLI_CONSOLE_H_
