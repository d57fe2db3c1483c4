// Console flags and messages.
#include "src/cli/console.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "src/cli/command.h"
#include "src/io/atomic_file.h"

namespace cgrun {
namespace {

struct ConsoleFlags {
  bool quiet = false;
  bool no_color = false;
  CLI::Option* json = nullptr;  // of the verb that was chosen
  std::string json_file;
};

ConsoleFlags& Flags() {
  static ConsoleFlags flags;
  return flags;
}

bool Color(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  return !Flags().no_color && isatty(fd) != 0 && (no_color == nullptr || *no_color == '\0');
}

// The first argument that looks like the wrong one: a verb, or a flag that the verb has not.
std::string HelpFor(const CLI::App& app, int argc, char** argv) {
  const CLI::App* verb = app.get_subcommands().empty() ? nullptr : app.get_subcommands()[0];
  std::vector<std::string> known;
  const auto add_options = [&](const CLI::App& of) {
    for (const CLI::Option* option : of.get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
  };
  if (verb == nullptr) {
    for (const CommandEntry& entry : Commands()) known.emplace_back(entry.name);
    if (argc > 1) {
      const std::string nearest = NearestName(argv[1], known);
      if (!nearest.empty()) return "did you mean `cgrun " + nearest + "`?";
    }
    return "`cgrun --help` lists the verbs";
  }
  add_options(*verb);
  for (int i = 2; i < argc; ++i) {
    const std::string argument = std::string(argv[i]).substr(0, std::string(argv[i]).find('='));
    const bool is_known = std::find(known.begin(), known.end(), argument) != known.end();
    if (argument.rfind("--", 0) != 0 || is_known) continue;
    const std::string nearest = NearestName(argument, known);
    if (!nearest.empty()) return "did you mean '" + nearest + "'?";
  }
  return "`cgrun " + verb->get_name() + " --help` lists its flags";
}

}  // namespace

void AddConsoleFlags(CLI::App& app) {
  ConsoleFlags& flags = Flags();
  app.add_flag("--quiet", flags.quiet, "print results alone, no progress");
  app.add_flag("--no-color", flags.no_color, "no colours, even on a terminal");
  CLI::Option* json = app.add_option("--json", flags.json_file,
                                     "machine-readable output, to FILE or instead of text")
                          ->expected(0, 1)
                          ->type_name("[FILE]");
  app.parse_complete_callback([json, &flags] { flags.json = json; });
}

bool Quiet() { return Flags().quiet; }
bool ColorOnStdout() { return Color(STDOUT_FILENO); }
bool ColorOnStderr() { return Color(STDERR_FILENO); }
bool WantsJson() { return Flags().json != nullptr && Flags().json->count() > 0; }

void PrintResult(const std::string& text, const std::string& json) {
  const std::string& file = Flags().json_file;
  const bool to_stdout = WantsJson() && file.empty();
  std::fputs(to_stdout ? json.c_str() : text.c_str(), stdout);
  std::fflush(stdout);
  if (WantsJson() && !file.empty()) {
    WriteFileAtomically(file, std::as_bytes(std::span(json)));
  }
}

void PrintError(std::string_view message, std::string_view help) {
  Diagnostics diagnostics;
  diagnostics.Error({}, std::string(message), std::string(help));
  PrintDiagnostics(diagnostics);
}

void PrintDiagnostics(const Diagnostics& diagnostics) {
  std::fputs(diagnostics.ToString(ColorOnStderr()).c_str(), stderr);
}

int ReportParseError(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
  if (argc < 2) {
    std::fputs(app.help().c_str(), stderr);
    return kBadInput;
  }
  PrintError(error.what(), HelpFor(app, argc, argv));
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
