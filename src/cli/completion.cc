// cgrun completion: a shell's completion script, made from the flags that the verbs declare.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/base/json_text.h"
#include "src/cli/command.h"
#include "src/cli/command_line.h"
#include "src/cli/completion_scripts.h"
#include "src/cli/console.h"
#include "src/cli/set_keys.h"

namespace cgrun {
namespace {

FlagDescription DescriptionOf(const CLI::Option& option) {
  FlagDescription flag;
  for (const std::string& name : option.get_snames()) flag.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) flag.names.push_back("--" + name);
  flag.values = ValuesOf(option);
  flag.repeats = option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  flag.doc = option.get_description();
  return flag;
}

VerbDescription DescriptionOf(const CLI::App& app) {
  VerbDescription verb{app.get_name(), app.get_description(), {}, {}};
  verb.argument.kind = ArgumentValues::Kind::kNone;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) {
      verb.flags.push_back(DescriptionOf(*option));
    } else if (verb.argument.kind == ArgumentValues::Kind::kNone) {
      verb.argument = ValuesOf(*option);  // of several arguments all are like the first …
    } else {
      verb.argument.suffixes.clear();  // … but for how their files are called
    }
  }
  return verb;
}

const std::vector<std::string> kShells = {"bash", "zsh", "fish"};

// Another shell is no typing error, however near its name is to one of these.
void CheckShell(const std::string& shell) {
  if (std::ranges::count(kShells, shell) > 0) return;
  constexpr std::string_view kOthers[] = {"sh",   "dash", "ash",    "ksh", "mksh",       "csh",
                                          "tcsh", "nu",   "elvish", "rc",  "powershell", "pwsh"};
  const bool is_other = std::ranges::count(kOthers, std::string_view(shell)) > 0;
  const std::string nearest = is_other ? "" : NearestName(shell, kShells);
  throw InputError("there is no completion for the shell '" + shell + "'",
                   nearest.empty() ? "there is one for bash, zsh and fish"
                                   : "did you mean `cgrun completion " + nearest + "`?");
}

int Run(const std::string& shell) {
  CheckShell(shell);
  Command unused;
  const std::shared_ptr<CLI::App> app = MakeCommandLine(&unused);
  CommandLineDescription verbs;
  for (const CommandEntry& entry : Commands()) {
    verbs.push_back(DescriptionOf(*app->get_subcommand(entry.name)));
  }
  const SettingsDescription settings = {SetKeys(), SetValues()};
  const std::string script = shell == "bash"  ? BashCompletion(verbs, settings)
                             : shell == "zsh" ? ZshCompletion(verbs, settings)
                                              : FishCompletion(verbs, settings);
  PrintResult(script,
              JsonText(nlohmann::ordered_json{{"shell", shell}, {"script", script}}, 2) + "\n");
  return kDone;
}

}  // namespace

Command DefineCompletion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  app.add_option(
         "SHELL", *shell,
         "bash, zsh or fish; --help shows where each looks for its script, in a folder that `mkdir "
         "-p` makes; zsh needs `fpath=(~/.zfunc $fpath)` in ~/.zshrc, before `compinit`")
      ->required()
      ->type_name("bash|zsh|fish");
  return [shell] { return Run(*shell); };
}

}  // namespace cgrun
