// Builds the command line of Commands(), and reads from it what arguments take.
#include "src/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>

#include "src/base/diagnostics.h"
#include "src/cli/console.h"
#include "src/cli/version.h"
#include "src/device/device.h"
#include "src/ir/op_def.h"
#include "src/passes/pipeline.h"
#include "src/plan/planner.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

constexpr size_t kNameWidth = 30;  // characters for a flag and its value
constexpr size_t kWidth = 100;     // of a line
constexpr std::string_view kHelpVerb = "help";

constexpr char kExamples[] =
    "cgrun train models/lenet.yaml     # leaves runs/lenet\n"
    "cgrun plan models/lenet.yaml      # what that takes in memory, without running it\n"
    "cgrun help train                  # a verb's flags, with examples, as `cgrun train --help`\n"
    "cgrun ops conv                    # what an operator does, and its keys\n";

// CLI11's help without its jargon (TEXT, INT in [1 - 1024], Excludes:), in lines that fit.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(kNameWidth); }

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    std::string help = CLI::Formatter::make_help(app, std::move(name), mode);
    for (size_t at; (at = help.find("\n\n\n")) != std::string::npos;) help.erase(at, 1);
    return help;
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string name = option->get_positional() ? "" : ValuesOf(*option).name;
    return name.empty() ? "" : " " + name;
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    std::string text = option->get_description(), others;
    for (const CLI::Option* other : option->get_excludes()) {
      others += (others.empty() ? "" : ", ") + other->get_name();
    }
    if (!others.empty()) text += " (not with " + others + ")";
    return WrapText(text, "", kWidth - kNameWidth);
  }
};

std::vector<std::string> DeviceWords() {
  std::vector<std::string> words;
  for (const DeviceKind& kind : DeviceKinds()) words.emplace_back(kind.name);
  words.emplace_back("auto");
  return words;
}

std::vector<std::string> OperatorWords() {
  std::vector<std::string> words;
  for (int i = 0; i < OpCount(); ++i) {
    const OpDef& def = GetOpDef(static_cast<OpId>(i));
    if (def.usage != Usage::kInternal) words.push_back(def.name);
  }
  std::sort(words.begin(), words.end());
  return words;
}

// "a|b|c", or the name of a list.
std::vector<std::string> WordsOf(const std::string& value) {
  if (value == "DEVICE") return DeviceWords();
  if (value == "OPERATOR") return OperatorWords();
  if (value == "PASS") return PassNames();
  if (value == "PLANNER") return PlannerNames();
  if (value.find('|') == std::string::npos) return {};
  std::vector<std::string> words;
  std::istringstream text(value);
  for (std::string word; std::getline(text, word, '|');) {
    const bool stands_for_others =
        std::ranges::none_of(word, [](char c) { return c >= 'a' && c <= 'z'; });
    if (!stands_for_others) words.push_back(word);  // no "N"
  }
  return words;
}

// What the description of an argument says of its files: {"yaml", "yml", "cgb"} of "model file
// (.yaml), or compiled program (.cgb)".
std::vector<std::string> SuffixesIn(const std::string& description) {
  std::vector<std::string> suffixes;
  for (size_t at = 0; (at = description.find("(.", at)) != std::string::npos; ++at) {
    const size_t end = description.find(')', at);
    if (end == std::string::npos) break;
    suffixes.push_back(description.substr(at + 2, end - at - 2));
    if (suffixes.back() == "yaml") suffixes.emplace_back("yml");
  }
  return suffixes;
}

// The name of the value that was declared: of an argument without a flag, its own where none was.
std::string DeclaredName(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::string name = type.substr(0, type.find(':'));
  return option.get_positional() && name == "TEXT" ? option.get_name() : name;
}

// CLI11 gives some words a meaning of its own: "[a,b]" is a list, "++" ends a verb, and "--out="
// takes the next word. ParseWords() ends such a word with kMark, which no typed word can hold.
constexpr char kMark = '\0';

bool HasOtherMeaning(std::string_view word) {
  const bool is_list = word.starts_with('[') && word.ends_with(']');
  const bool has_no_value = word.starts_with("--") && word.find('=') == word.size() - 1;
  return is_list || has_no_value || word == "++";
}

std::string WithoutMark(std::string word) {
  if (word.ends_with(kMark)) word.pop_back();
  return word;
}

// Each option takes one value each time that it is given, and each value as it was typed.
void TakeWordsAsTheyAre(CLI::App& verb) {
  for (CLI::Option* option : verb.get_options([](CLI::Option* o) { return o != nullptr; })) {
    if (option->get_items_expected_max() == 0) continue;
    if (!option->get_positional()) option->allow_extra_args(false);
    option->transform(WithoutMark, "");
  }
}

}  // namespace

std::shared_ptr<CLI::App> MakeCommandLine(Command* chosen) {
  auto app =
      std::make_shared<CLI::App>("Trains and evaluates neural networks from YAML files.", "cgrun");
  app->set_help_flag("-h,--help", "print this help");
  app->set_version_flag(
      "--version", VersionText,
      "print the versions of cgrun and its libraries, and what its kernels are made for");
  app->require_subcommand(1);
  app->failure_message(CLI::FailureMessage::simple);
  app->formatter(std::make_shared<HelpFormatter>());
  app->get_formatter()->label("SUBCOMMAND", "VERB");
  app->footer("Examples:\n" + Indent(kExamples));
  for (const CommandEntry& entry : Commands()) {
    CLI::App* verb = app->add_subcommand(entry.name, entry.summary);
    verb->group("Verbs");
    verb->footer("Examples:\n" + Indent(entry.examples));
    AddConsoleFlags(*verb);
    const Command run = entry.define(*verb);
    TakeWordsAsTheyAre(*verb);
    verb->callback([chosen, run] { *chosen = run; });
  }
  return app;
}

std::vector<char*> WithHelpAsFlag(int argc, char** argv) {
  static char flag[] = "--help";
  std::vector<char*> arguments(argv, argv + argc);
  const auto asks = [&] {
    return arguments.size() > 1 && std::string_view(arguments[1]) == kHelpVerb;
  };
  if (!asks()) return arguments;
  while (asks()) arguments.erase(arguments.begin() + 1);
  arguments.push_back(flag);
  return arguments;
}

void ParseWords(CLI::App& app, const std::vector<char*>& arguments) {
  std::vector<std::string> words;
  for (size_t i = arguments.size(); i > 1; --i) {  // the last one first, without the program's name
    words.emplace_back(arguments[i - 1]);
    if (HasOtherMeaning(words.back())) words.back() += kMark;
  }
  app.parse(std::move(words));
}

ArgumentValues ValuesOf(const CLI::Option& option) {
  using Kind = ArgumentValues::Kind;
  if (option.get_type_size() == 0 || option.get_expected_max() == 0)
    return {Kind::kNone, "", false, {}};
  ArgumentValues values;
  values.name = DeclaredName(option);
  values.optional = !option.get_positional() && option.get_expected_min() == 0;
  values.words = WordsOf(values.name);
  const auto named = [&](const char* text) { return values.name.find(text) != std::string::npos; };
  if (!values.words.empty()) {
    values.kind = Kind::kWords;
  } else if (values.name == "KEY=VALUE") {
    values.kind = Kind::kSetting;
  } else if (option.check_lname("resume")) {
    values.kind = Kind::kRun;
  } else if (named("DIR")) {
    values.kind = Kind::kFolder;
  } else if (named("FILE") || named("MODEL") || named("PROGRAM") || named("INPUT")) {
    values.kind = Kind::kFile;
    const bool is_input = named("MODEL") || named("PROGRAM");
    if (is_input) values.suffixes = SuffixesIn(option.get_description());
  }
  return values;
}

void CheckValues(const CLI::App& verb) {
  for (const CLI::Option* option : verb.get_options()) {
    const std::string flag = option->get_name();
    if (flag == "--prompt" || !flag.starts_with("--") || ValuesOf(*option).optional) continue;
    const std::vector<std::string>& values = option->results();
    if (std::ranges::find(values, "") == values.end()) continue;
    throw InputError("the value of " + flag + " is empty",
                     "leave the flag out, or say a value; is a variable of the shell not set?");
  }
}

}  // namespace cgrun
