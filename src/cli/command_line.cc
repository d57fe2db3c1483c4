// Builds the command line of Commands(), and parses it.
#include "src/cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <utility>

#include "src/base/diagnostics.h"
#include "src/cli/console.h"
#include "src/cli/version.h"
#include "src/report/table.h"

namespace cgrun {
namespace {

constexpr size_t kNameWidth = 30;  // characters for a flag and its value
constexpr size_t kWidth = 100;     // of a line
constexpr std::string_view kHelpVerb = "help";

constexpr char kExamples[] =
    "cgrun train models/lenet.yaml     # leaves runs/lenet\n"
    "cgrun plan models/lenet.yaml      # plans its memory, without running it\n"
    "cgrun help train                  # lists the flags of a verb, with examples\n"
    "cgrun ops conv                    # describes an operator and its keys\n";

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
    const Flag flag = OfOption(option);
    const std::string name = flag.is_argument() ? "" : flag.value_name();
    return name.empty() ? "" : " " + name;
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    std::string text = option->get_description();
    std::vector<std::string> others;
    for (const Flag& other : OfOption(option).not_with()) others.push_back(other.name());
    if (!others.empty()) text += fmt::format(" (not with {})", fmt::join(others, ", "));
    return WrapText(text, "", kWidth - kNameWidth);
  }

 private:
  // A formatter is given what it may not change; of a Flag it only reads.
  static Flag OfOption(const CLI::Option* option) { return Flag(const_cast<CLI::Option*>(option)); }
};

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

CommandLine::CommandLine()
    : app_(std::make_unique<CLI::App>("Trains and evaluates neural networks from YAML files.",
                                      "cgrun")) {
  app_->set_help_flag("-h,--help", "print this help");
  app_->set_version_flag(
      "--version", VersionText,
      "print the versions of cgrun and its libraries, and what its kernels are made for");
  app_->require_subcommand(1);
  app_->failure_message(CLI::FailureMessage::simple);
  app_->formatter(std::make_shared<HelpFormatter>());
  app_->get_formatter()->label("SUBCOMMAND", "VERB");
  app_->footer("Examples:\n" + Indent(kExamples));
  for (const CommandEntry& entry : Commands()) {
    CLI::App* verb = app_->add_subcommand(entry.name, entry.summary);
    verb->group("Verbs");
    verb->footer("Examples:\n" + Indent(entry.examples));
    AddConsoleFlags(Verb(verb));
    const Command run = entry.define(Verb(verb));
    TakeWordsAsTheyAre(*verb);
    verb->callback([this, run] { command_ = run; });
  }
}

CommandLine::~CommandLine() = default;

std::optional<ParseStop> CommandLine::Parse(const std::vector<std::string>& words) {
  std::vector<std::string> marked(words.rbegin(), words.rend());  // CLI11 wants the last one first
  for (std::string& word : marked) {
    if (HasOtherMeaning(word)) word += kMark;
  }
  try {
    app_->parse(std::move(marked));
  } catch (const CLI::CallForVersion& version) {
    return ParseStop{false, version.get_name(), version.what() + std::string("\n")};
  } catch (const CLI::CallForHelp& help) {
    return ParseStop{false, help.get_name(), Help()};
  } catch (const CLI::ParseError& error) {
    return ParseStop{true, error.get_name(), error.what()};
  }
  return std::nullopt;
}

std::optional<Verb> CommandLine::chosen() const {
  const std::vector<CLI::App*> verbs = app_->get_subcommands();
  return verbs.empty() ? std::nullopt : std::optional(Verb(verbs[0]));
}

const Command& CommandLine::command() const { return command_; }
Verb CommandLine::program() const { return Verb(app_.get()); }
Verb CommandLine::verb(const std::string& name) const { return Verb(app_->get_subcommand(name)); }
std::string CommandLine::Help() const { return app_->help(); }
std::string CommandLine::Examples() const { return app_->get_footer(); }

std::vector<std::string> WordsOf(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const auto is_help = [](const std::string& word) { return word == kHelpVerb; };
  const auto begin = std::ranges::find_if_not(words, is_help);
  if (begin == words.begin()) return words;
  words.erase(words.begin(), begin);
  words.emplace_back("--help");
  return words;
}

void CheckValues(const Verb& verb) {
  for (const Flag& flag : verb.flags()) {
    const std::string name = flag.name();
    if (name == "--prompt" || !name.starts_with("--") || flag.value_is_optional()) continue;
    const std::vector<std::string> values = flag.values();
    if (std::ranges::find(values, "") == values.end()) continue;
    throw InputError("the value of " + name + " is empty",
                     "leave the flag out, or say a value; is a variable of the shell not set?");
  }
}

}  // namespace cgrun
