// cgrun completion: a shell's completion script, made from the flags that the verbs declare.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "src/base/diagnostics.h"
#include "src/base/json_text.h"
#include "src/cli/argument_values.h"
#include "src/cli/command.h"
#include "src/cli/command_line.h"
#include "src/cli/completion_scripts.h"
#include "src/cli/console.h"
#include "src/cli/set_keys.h"

namespace cgrun {
namespace {

FlagDescription DescriptionOf(const Flag& flag) {
  FlagDescription description;
  for (const std::string& name : flag.short_names()) description.names.push_back("-" + name);
  for (const std::string& name : flag.long_names()) description.names.push_back("--" + name);
  description.values = ValuesOf(flag);
  description.repeats = flag.is_repeated();
  description.doc = flag.description();
  return description;
}

VerbDescription DescriptionOf(const Verb& verb) {
  VerbDescription description{verb.name(), verb.summary(), {}, {}};
  description.argument.kind = ArgumentValues::Kind::kNone;
  for (const Flag& flag : verb.flags()) {
    if (!flag.is_argument()) {
      description.flags.push_back(DescriptionOf(flag));
    } else if (description.argument.kind == ArgumentValues::Kind::kNone) {
      description.argument = ValuesOf(flag);  // of several arguments all are like the first …
    } else {
      description.argument.suffixes.clear();  // … but for how their files are called
    }
  }
  return description;
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
  const CommandLine line;
  CommandLineDescription verbs;
  for (const CommandEntry& entry : Commands()) {
    verbs.push_back(DescriptionOf(line.verb(entry.name)));
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

Command DefineCompletion(const Verb& verb) {
  auto shell = std::make_shared<std::string>();
  verb.Add(
          "SHELL", *shell,
          "bash, zsh or fish; --help shows where each shell looks for its script, in a folder that "
          "`mkdir -p` makes; zsh needs `fpath=(~/.zfunc $fpath)` in ~/.zshrc, before `compinit`")
      .Required()
      .Value("bash|zsh|fish");
  return [shell] { return Run(*shell); };
}

}  // namespace cgrun
