// Console flags and messages.
#include "src/cli/console.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "src/base/json_text.h"
#include "src/base/shell_word.h"
#include "src/cli/command.h"
#include "src/cli/command_line.h"
#include "src/cli/help_json.h"
#include "src/cli/option_errors.h"
#include "src/io/atomic_file.h"
#include "src/report/table.h"
#include "src/report/terminal.h"
#include "src/run/run_folder.h"

namespace cgrun {
namespace {

struct ConsoleFlags {
  bool quiet = false;
  bool no_color = false;
  bool json = false;  // whether the command line asks for it
  std::string json_file;
  bool json_is_printed = false;
  std::string changed_file;        // a model file …
  std::string changes;             // … and what the command line sets in it
  std::vector<Diagnostic> errors;  // that were printed so far
};

ConsoleFlags& Flags() {
  static ConsoleFlags flags;
  return flags;
}

bool Color(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  return !Flags().no_color && IsTerminal(fd) && (no_color == nullptr || *no_color == '\0');
}

}  // namespace

void AddConsoleFlags(const Verb& verb) {
  ConsoleFlags& flags = Flags();
  verb.AddSwitch("--quiet", flags.quiet, "print results only, without progress");
  verb.AddSwitch("--no-color", flags.no_color,
                 "use no colours, even on a terminal; NO_COLOR=1 does the same");
  const Flag json = verb.Add("--json", flags.json_file,
                             "write machine-readable output to FILE, or print it instead of text")
                        .OptionalValue()
                        .Value("[FILE]");
  verb.WhenParsed([json, &flags] { flags.json = json.given(); });
}

bool Quiet() { return Flags().quiet; }

bool IsTerminal(int fd) {
  const char* const kind = std::getenv("TERM");
  const std::string_view name = kind == nullptr ? "" : kind;
  return isatty(fd) != 0 && !name.empty() && name != "dumb";
}

bool ColorOnStdout() { return Color(STDOUT_FILENO); }
bool ColorOnStderr() { return Color(STDERR_FILENO); }
bool WantsJson() { return Flags().json; }

bool WantsJsonFile() {
  const std::string& file = Flags().json_file;
  return WantsJson() && !file.empty() && file != "-";
}

void PrintResult(const std::string& text, const std::string& json) {
  const bool to_stdout = WantsJson() && !WantsJsonFile();
  if (WantsJsonFile()) {
    WriteFileAtomically(Flags().json_file, std::as_bytes(std::span(json)));
  }
  Flags().json_is_printed |= to_stdout;
  if (to_stdout) {
    std::fputs(json.c_str(), stdout);
  } else {
    PrintText(stdout, text);
  }
  std::fflush(stdout);
}

void PrintData(const std::string& text, const std::string& json) {
  const bool json_on_stdout = WantsJson() && !WantsJsonFile();
  if (json_on_stdout || isatty(STDOUT_FILENO) != 0) return PrintResult(text, json);
  PrintResult("", json);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void PrintBulkyResult(const std::string& text, const std::string& json) {
  if (!WantsJsonFile()) return PrintResult(text, json);
  WriteBeside(Flags().json_file, json);
}

void WriteBeside(const std::string& path, std::string_view content) {
  WriteFileAtomically(path, std::as_bytes(std::span(content)));
  Tell("wrote " + path + ", " + FormatBytes(static_cast<int64_t>(content.size())));
}

void PrintError(std::string_view message, std::string_view help) {
  Diagnostics diagnostics;
  diagnostics.Error({}, std::string(message), std::string(help));
  PrintDiagnostics(diagnostics);
}

void PrintFileError(const std::string& file, std::string_view message, std::string_view help) {
  PrintError(message, help);
  Flags().errors.back().mark.file = std::make_shared<const SourceFile>(SourceFile{file, ""});
}

void PrintWarning(std::string_view message) {
  Diagnostics diagnostics;
  diagnostics.Warning({}, std::string(message));
  PrintDiagnostics(diagnostics);
}

void Tell(std::string_view line) {
  if (!Quiet()) PrintText(stderr, std::string(line) + "\n");
}

void TellNotes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) Tell("note: " + note);
}

void NoteChanges(const std::string& file, const std::vector<std::string>& assignments) {
  Flags().changed_file = file;
  Flags().changes.clear();
  for (const std::string& assignment : assignments) {
    Flags().changes += " --set " + ShellWord(assignment);
  }
}

namespace {

// If errors lie in a file that the command line has changed, says what was changed: their lines
// show the file as it was.
void PrintChanges(const std::vector<Diagnostic>& printed) {
  const auto is_in_it = [](const Diagnostic& item) {
    return item.severity == Severity::kError && item.mark.file && item.mark.line > 0 &&
           item.mark.file->name == Flags().changed_file;
  };
  if (Flags().changes.empty() || std::ranges::none_of(printed, is_in_it)) return;
  PrintText(stderr, "note: the command line changes this file, which is shown without that:" +
                        Flags().changes + "\n");
}

constexpr size_t kMostDiagnostics = 100;  // errors of a file, and warnings

// The last line, which stands for the others.
Mistake RestOfErrors(int64_t others) {
  return {"and " + std::to_string(others) + " more, which " + (others == 1 ? "is" : "are") +
              " not shown",
          "mend those above, then try again"};
}

// The first errors and the first warnings; `*left_out` counts the errors that are not among them.
Diagnostics FirstOf(const std::vector<Diagnostic>& sorted, int64_t* left_out) {
  Diagnostics first;
  size_t errors = 0, warnings = 0;
  for (const Diagnostic& item : sorted) {
    if (item.severity == Severity::kWarning) {
      if (++warnings <= kMostDiagnostics) first.Warning(item.mark, item.message, item.help);
    } else if (++errors <= kMostDiagnostics) {
      first.Error(item.mark, item.message, item.help);
    }
  }
  *left_out = static_cast<int64_t>(errors - std::min(errors, kMostDiagnostics));
  return first;
}

void Print(const Diagnostics& diagnostics, bool brief) {
  int64_t left_out = 0;
  const Diagnostics first = FirstOf(diagnostics.Sorted(), &left_out);
  std::fputs(first.ToString(ColorOnStderr(), brief).c_str(), stderr);
  const std::vector<Diagnostic> printed = first.Sorted();
  for (const Diagnostic& item : printed) {
    if (item.severity == Severity::kError) Flags().errors.push_back(item);
  }
  if (left_out > 0) {
    const Mistake rest = RestOfErrors(left_out);
    PrintError(rest.message, rest.help);
  }
  PrintChanges(printed);
}

}  // namespace

void PrintDiagnostics(const Diagnostics& diagnostics) { Print(diagnostics, /*brief=*/false); }
void PrintBriefly(const Diagnostics& diagnostics) { Print(diagnostics, /*brief=*/true); }

namespace {

nlohmann::ordered_json ListOf(const std::vector<Diagnostic>& diagnostics) {
  auto json = nlohmann::ordered_json::array();
  for (const Diagnostic& diagnostic : diagnostics) {
    const SourceMark& mark = diagnostic.mark;
    const bool placed = mark.file != nullptr, in_line = placed && mark.line > 0;
    nlohmann::ordered_json item = {{"file", nullptr}, {"line", nullptr}, {"column", nullptr}};
    if (placed) item["file"] = mark.file->name;
    if (in_line) item["line"] = mark.line;
    if (in_line) item["column"] = std::max(mark.column, 1);
    item["message"] = diagnostic.message;
    item["help"] = diagnostic.help;
    json.push_back(std::move(item));
  }
  return json;
}

}  // namespace

nlohmann::ordered_json DiagnosticsJson(const std::vector<Diagnostic>& diagnostics) {
  if (diagnostics.size() <= kMostDiagnostics) return ListOf(diagnostics);
  std::vector<Diagnostic> shown(diagnostics.begin(), diagnostics.begin() + kMostDiagnostics);
  const Mistake rest = RestOfErrors(std::ssize(diagnostics) - std::ssize(shown));
  shown.push_back({diagnostics[0].severity, {}, rest.message, rest.help});
  return ListOf(shown);
}

namespace {

// Returns whether the user asks for JSON on a command line that could not be parsed. Nobody knows
// the flags of such a line. So the word behind a --json in front of the verb counts as its file.
bool AsksForJson(const std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    const bool has_file = i > 0 && i + 1 < words.size() && !words[i + 1].starts_with('-');
    if (words[i] == "--json=-" || (words[i] == "--json" && !has_file)) return true;
  }
  return false;
}

void PrintErrorsAsJson() {
  if (Flags().json_is_printed || Flags().errors.empty()) return;
  const nlohmann::ordered_json json = {{"errors", ListOf(Flags().errors)}};
  std::fputs(JsonText(json, 2).c_str(), stdout);
  std::fputc('\n', stdout);
  std::fflush(stdout);
}

}  // namespace

int FinishJson(int status, const std::vector<std::string>& words) {
  const bool asked = WantsJson() ? !WantsJsonFile() : AsksForJson(words);
  if (status != kDone && asked) PrintErrorsAsJson();
  return status;
}

int CheckStandardOutput(int status) {
  std::cout.flush();
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0 && std::cout.good()) return status;
  PrintError("not all of the output could be written to standard output",
             "the disk may be full, or the reader gone");
  return status == kDone ? kFailed : status;
}

int ReportParseStop(const CommandLine& line, const ParseStop& stop,
                    const std::vector<std::string>& words) {
  const bool names_no_verb = !words.empty() && !words[0].starts_with('-') && !line.chosen();
  if (!stop.is_mistake && !names_no_verb) {
    const bool version = stop.kind == "CallForVersion";
    const std::string json = !AsksForJson(words) ? "" : version ? VersionJson() : HelpJson(line);
    std::fputs(json.empty() ? stop.text.c_str() : json.c_str(), stdout);
    return kDone;
  }
  if (words.empty()) {
    std::fputs(line.Help().c_str(), stderr);
    return kBadInput;
  }
  const Mistake mistake = DescribeMistake(line, stop, words);
  PrintError(mistake.message, mistake.help);
  return kBadInput;
}

std::string Indent(std::string_view text) {
  std::string out;
  bool line_start = true;
  for (char c : text) {
    if (line_start) out += "  ";
    out += c;
    line_start = c == '\n';
  }
  return out;
}

}  // namespace cgrun
