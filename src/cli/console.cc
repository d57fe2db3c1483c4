// Console flags and messages.
#include "src/cli/console.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
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
#include "src/base/name_notes.h"
#include "src/base/shell_word.h"
#include "src/base/synonyms.h"
#include "src/cli/command.h"
#include "src/cli/help_json.h"
#include "src/cli/option_errors.h"
#include "src/io/atomic_file.h"
#include "src/model/key_synonyms.h"
#include "src/model/schema.h"
#include "src/report/table.h"
#include "src/report/terminal.h"
#include "src/train/run_folder.h"

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

// What other programs call their verbs.
constexpr Synonym kVerbSynonyms[] = {
    {"fit", "train"},         {"run", "train"},        {"start", "train"},
    {"resume", "train"},      {"continue", "train"},   {"test", "eval"},
    {"evaluate", "eval"},     {"score", "eval"},       {"infer", "predict"},
    {"inference", "predict"}, {"classify", "predict"}, {"validate", "check"},
    {"lint", "check"},        {"verify", "check"},     {"doctor", "check"},
    {"sample", "generate"},   {"benchmark", "bench"},  {"memory", "plan"},
    {"draw", "graph"},        {"plot", "graph"},       {"info", "summary"},
    {"show", "summary"},      {"list", "ops"},
};

// What other programs call their flags, beside the keys of a model file.
constexpr Synonym kFlagSynonyms[] = {
    {"output", "out"},  {"outputdir", "out"},     {"outdir", "out"},   {"outputfile", "out"},
    {"savedir", "out"}, {"savepath", "out"},      {"saveto", "out"},   {"rundir", "out"},
    {"out", "output"},  {"outputfile", "output"}, {"ckpt", "weights"},
};

constexpr std::string_view kNoOtherFormats =
    "this version reads and writes no models of other programs: networks are model files in YAML, "
    "weights safetensors files";

constexpr NameNote kVerbNotes[] = {
    {"import", "", kNoOtherFormats},
    {"export", "", kNoOtherFormats},
    {"convert", "", kNoOtherFormats},
    {"profile", "", "`cgrun train MODEL --profile` says where the time goes"},
    {"init", "", "copy a file of `models/`; docs/guide.md goes from there to your own data"},
    {"new", "", "copy a file of `models/`; docs/guide.md goes from there to your own data"},
};

Mistake UnknownVerb(const std::string& argument) {
  static const std::vector<std::string> kOwnFlags = {"--help", "--version"};
  if (argument.starts_with('-')) {
    const std::string flag = NearestName(argument, kOwnFlags);
    if (!flag.empty()) {
      return {"`cgrun` has no flag '" + argument + "'", "did you mean `cgrun " + flag + "`?"};
    }
    return {"a verb must come before '" + argument + "'",
            "`cgrun VERB " + argument + "`; `cgrun --help` lists the verbs"};
  }
  std::vector<std::string> verbs;
  for (const CommandEntry& entry : Commands()) verbs.emplace_back(entry.name);
  if ("--" + argument == kOwnFlags[1]) {
    return {"there is no verb '" + argument + "'", "write `cgrun --version`"};
  }
  if (const std::string note = NoteOn(argument, verbs, kVerbNotes); !note.empty()) {
    return {"there is no verb '" + argument + "'", note};
  }
  std::string nearest = OurName(argument, verbs, kVerbSynonyms);
  if (nearest.empty()) nearest = NearestName(argument, verbs);
  std::string help = nearest.empty() ? "the verbs are " : "did you mean `cgrun " + nearest + "`?";
  for (size_t i = 0; nearest.empty() && i < verbs.size(); ++i) help += (i ? ", " : "") + verbs[i];
  return {"there is no verb '" + argument + "'", help};
}

// `--epochs 3`, where `epochs` is a key of the model file: how to set that; "" elsewhere. Where
// `exact`, names that are nearly right do not count.
std::string SetHelp(const CLI::App& verb, const std::string& flag, const std::string& value,
                    bool exact) {
  if (verb.get_option_no_throw("--set") == nullptr) return "";
  std::vector<std::string> keys = {"lr"};
  for (const MapDoc& map : FormatReference()) {
    for (const KeyDoc& key : map.keys) {
      if (map.place == "train") keys.emplace_back(key.name);
    }
  }
  std::string name = flag.substr(2);
  std::replace(name.begin(), name.end(), '-', '_');
  const bool known = std::find(keys.begin(), keys.end(), name) != keys.end();
  if (!known) {
    const std::string ours = OurName(flag.substr(2), keys, KeySynonyms());
    name = !ours.empty() ? ours : exact ? "" : NearestName(name, keys);
  }
  if (name.empty()) return "";
  return "keys of the model file are set so: `--set train." +
         (name == "lr" ? "optimizer.lr" : name) + "=" + (value.empty() ? "…" : value) + "`";
}

// `--test new.csv`: data are named in the model file; "" of other flags.
std::string HelpWithData(const CLI::App& verb, const std::string& flag, const std::string& value) {
  constexpr Synonym kSets[] = {{"train", "train"},          {"traindata", "train"},
                               {"valid", "valid"},          {"val", "valid"},
                               {"validation", "valid"},     {"test", "test"},
                               {"validationdata", "valid"}, {"testdata", "test"}};
  if (verb.get_option_no_throw("--set") == nullptr) return "";
  const auto set = std::ranges::find(kSets, PlainName(flag.substr(2)), &Synonym::theirs);
  if (set == std::end(kSets)) return "";
  return "the model file names its data: `--set data." + std::string(set->ours) +
         ".file=" + (value.empty() ? "FILE" : value) +
         "` is another file of it, where its format has the key `file` (`folder` or `images` of "
         "others)";
}

// Other programs let users choose the threads that read data; "" of other flags.
std::string HelpWithLoader(const CLI::App& verb, const std::string& flag) {
  const std::string name = PlainName(flag.substr(2));
  if (name != "workers" && name != "numworkers" && name != "jobs") return "";
  const CLI::Option* threads = verb.get_option_no_throw("--threads");
  return std::string("leave it out: a thread of the program reads samples ahead") +
         (threads == nullptr
              ? ""
              : "; `--threads N`, 1 to " + std::to_string(kMostThreads) + ", is for the kernels");
}

// `--batch-size`, `--gpu`: what other programs call a flag of ours; "" of other flags.
std::string HelpWithOtherName(const std::string& flag, const std::vector<std::string>& known) {
  std::vector<std::string> names;
  for (const std::string& name : known) names.push_back(name.substr(2));
  std::string ours = OurName(flag.substr(2), names, kFlagSynonyms);
  if (ours.empty()) ours = OurName(flag.substr(2), names, KeySynonyms());
  return ours.empty() ? "" : "write '--" + ours + "'";
}

// Verbs that keep no cap on memory still have a batch; "" of other flags.
std::string HelpWithMemory(const CLI::App& verb, const std::string& flag) {
  if (flag != "--memory" || verb.get_option_no_throw("--batch") == nullptr) return "";
  return "it is a flag of verbs that train, evaluate or plan; a smaller `--batch` takes less";
}

std::string ValueAfter(int i, int argc, char** argv) {
  const std::string argument = argv[i];
  if (const size_t equals = argument.find('='); equals != std::string::npos) {
    return argument.substr(equals + 1);
  }
  return i + 1 < argc && argv[i + 1][0] != '-' ? argv[i + 1] : "";
}

std::optional<Mistake> UnknownFlag(const CLI::App& verb, int argc, char** argv) {
  std::vector<std::string> known;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  for (int i = 2; i < argc; ++i) {
    const std::string argument = std::string(argv[i]).substr(0, std::string(argv[i]).find('='));
    const bool is_known = std::find(known.begin(), known.end(), argument) != known.end();
    if (argument.rfind("--", 0) != 0 || argument == "--" || is_known) continue;
    const std::string nearest = NearestName(argument, known);
    const std::string value = ValueAfter(i, argc, argv);
    std::string help = HelpWithLoader(verb, argument);
    if (help.empty()) help = HelpWithMemory(verb, argument);
    if (help.empty()) help = HelpWithData(verb, argument, value);
    if (help.empty()) help = HelpWithOtherName(argument, known);
    if (help.empty()) help = SetHelp(verb, argument, value, /*exact=*/!nearest.empty());
    if (help.empty() && !nearest.empty()) help = "did you mean '" + nearest + "'?";
    if (help.empty()) help = "`cgrun " + verb.get_name() + " --help` lists its flags";
    return Mistake{"`cgrun " + verb.get_name() + "` has no flag '" + argument + "'", help};
  }
  return std::nullopt;
}

Mistake FindMistake(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  if (app.get_subcommands().empty()) return UnknownVerb(argv[1]);
  const CLI::App& verb = *app.get_subcommands()[0];
  if (const auto flag = UnknownFlag(verb, argc, argv)) return *flag;
  return DescribeParseError(verb, error);
}

}  // namespace

void AddConsoleFlags(CLI::App& app) {
  ConsoleFlags& flags = Flags();
  app.add_flag("--quiet", flags.quiet, "print results alone, no progress");
  app.add_flag("--no-color", flags.no_color, "no colours, even on a terminal; so does NO_COLOR=1");
  CLI::Option* json = app.add_option("--json", flags.json_file,
                                     "machine-readable output, to FILE or instead of text")
                          ->expected(0, 1)
                          ->type_name("[FILE]");
  app.parse_complete_callback([json, &flags] { flags.json = json->count() > 0; });
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

// Of errors in the lines of a file that the command line has changed, which show it as it was.
void PrintChanges(const std::vector<Diagnostic>& printed) {
  const auto is_in_it = [](const Diagnostic& item) {
    return item.severity == Severity::kError && item.mark.file && item.mark.line > 0 &&
           item.mark.file->name == Flags().changed_file;
  };
  if (Flags().changes.empty() || std::ranges::none_of(printed, is_in_it)) return;
  PrintText(stderr, "note: the command line changes this file, which is shown without that:" +
                        Flags().changes + "\n");
}

constexpr size_t kMostShown = 100;  // errors of a file, and warnings

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
      if (++warnings <= kMostShown) first.Warning(item.mark, item.message, item.help);
    } else if (++errors <= kMostShown) {
      first.Error(item.mark, item.message, item.help);
    }
  }
  *left_out = static_cast<int64_t>(errors - std::min(errors, kMostShown));
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
  if (diagnostics.size() <= kMostShown) return ListOf(diagnostics);
  std::vector<Diagnostic> shown(diagnostics.begin(), diagnostics.begin() + kMostShown);
  const Mistake rest = RestOfErrors(std::ssize(diagnostics) - std::ssize(shown));
  shown.push_back({diagnostics[0].severity, {}, rest.message, rest.help});
  return ListOf(shown);
}

namespace {

// Where the command line could not be parsed, nobody knows its flags. What comes behind a --json in
// front of the verb is that.
bool AsksForJson(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool has_file = i > 1 && i + 1 < argc && argv[i + 1][0] != '-';
    if (argument == "--json=-" || (argument == "--json" && !has_file)) return true;
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

int FinishJson(int status, int argc, char** argv) {
  const bool asked = WantsJson() ? !WantsJsonFile() : AsksForJson(argc, argv);
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

namespace {

// --help and --version. Beside a --json for standard output they are JSON; a FILE is for results.
int ShowHelp(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  if (!AsksForJson(argc, argv)) return app.exit(error);
  const bool version = error.get_name() == "CallForVersion";
  std::fputs((version ? VersionJson() : HelpJson(app)).c_str(), stdout);
  return kDone;
}

}  // namespace

int ReportParseError(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  const bool verb = argc >= 2 && argv[1][0] != '-';
  const bool unknown_verb = verb && app.get_subcommands().empty();
  if (error.get_exit_code() == 0 && !unknown_verb) return ShowHelp(app, error, argc, argv);
  if (argc < 2) {
    std::fputs(app.help().c_str(), stderr);
    return kBadInput;
  }
  const Mistake mistake = FindMistake(app, error, argc, argv);
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
