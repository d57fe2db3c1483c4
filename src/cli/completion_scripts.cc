// The three shells' ways of being told what may stand at the cursor.
#include "src/cli/completion_scripts.h"

#include <algorithm>
#include <map>

namespace cgrun {
namespace {

using Kind = ArgumentValues::Kind;

std::string Join(const std::vector<std::string>& parts, const std::string& separator) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : separator) + part;
  return out;
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// The first clause of a description: menus are narrow.
std::string Brief(const std::string& doc) {
  size_t end = doc.size();
  for (const char* stop : {"; ", " ("}) end = std::min(end, doc.find(stop));
  return doc.substr(0, end);
}

// What bash offers for a value, as assignments.
std::string BashOffer(const ArgumentValues& values) {
  switch (values.kind) {
    case Kind::kWords:
      return "words='" + Join(values.words, " ") + "'";
    case Kind::kFile:
      return "offer=-f";
    case Kind::kFolder:
      return "offer=-d";
    case Kind::kSetting:
      return "words=$_cgrun_keys";
    case Kind::kNone:
    case Kind::kAny:
      break;
  }
  return "offer=";
}

std::string BashVerb(const VerbDescription& verb) {
  std::vector<std::string> names;
  std::map<std::string, std::vector<std::string>> by_offer;
  for (const FlagDescription& flag : verb.flags) {
    names.insert(names.end(), flag.names.begin(), flag.names.end());
    if (flag.values.kind == Kind::kNone) continue;
    const std::string offer = BashOffer(flag.values);
    std::vector<std::string>& flags =
        by_offer[flag.values.optional ? "[[ $cur == -* ]] && words=$flags || " + offer : offer];
    flags.insert(flags.end(), flag.names.begin(), flag.names.end());
  }
  std::string out =
      "  " + verb.name + ")\n    flags='" + Join(names, " ") + "'\n    case $flag in\n";
  for (const auto& [offer, flags] : by_offer) {
    out += "    " + Join(flags, "|") + ") " + offer + " ;;\n";
  }
  return out + "    *) [[ $cur == -* ]] && words=$flags || " + BashOffer(verb.argument) +
         " ;;\n    esac\n    ;;\n";
}

std::string ZshQuoted(const std::string& text) { return "'" + Replaced(text, "'", "'\\''") + "'"; }

// ":FILE:_files"; "" for a switch.
std::string ZshValue(const ArgumentValues& values) {
  std::string action = " ";
  if (values.kind == Kind::kNone) return "";
  if (values.kind == Kind::kFile) action = "_files";
  if (values.kind == Kind::kFolder) action = "_files -/";
  if (values.kind == Kind::kSetting) action = "_cgrun_keys";
  if (values.kind == Kind::kWords) action = "(" + Join(values.words, " ") + ")";
  return (values.optional ? "::" : ":") + values.name + ":" + action;
}

std::string ZshFlag(const FlagDescription& flag) {
  const std::string doc = Replaced(Replaced(Brief(flag.doc), "[", "\\["), "]", "\\]");
  const std::string others = flag.repeats ? "*" : "(" + Join(flag.names, " ") + ")";
  std::string out;
  for (const std::string& name : flag.names) {
    const std::string equals = flag.values.kind != Kind::kNone && name.size() > 2 ? "=" : "";
    out +=
        " \\\n      " + ZshQuoted(others + name + equals + "[" + doc + "]" + ZshValue(flag.values));
  }
  return out;
}

std::string FishQuoted(const std::string& text) {
  return "'" + Replaced(Replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

// The options of `complete` that say what a value may be.
std::string FishValue(const ArgumentValues& values, bool flag) {
  const std::string needed = !flag || values.optional ? "" : " -r";
  switch (values.kind) {
    case Kind::kNone:
      return "";
    case Kind::kWords:
      return needed + " -f -a " + FishQuoted(Join(values.words, " "));
    case Kind::kFile:
      return needed + " -F";
    case Kind::kFolder:
      return needed + " -f -a '(__fish_complete_directories)'";
    case Kind::kSetting:
      return needed + " -f -a '(__cgrun_keys)'";
    case Kind::kAny:
      return needed + " -f";
  }
  return "";
}

std::string FishFlag(const std::string& verb, const FlagDescription& flag) {
  std::string out = "complete -c cgrun -n '__cgrun_verb_is " + verb + "'";
  for (const std::string& name : flag.names) {
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  return out + FishValue(flag.values, true) + " -d " + FishQuoted(Brief(flag.doc)) + "\n";
}

}  // namespace

std::string BashCompletion(const CommandLineDescription& verbs,
                           const std::vector<std::string>& keys) {
  std::vector<std::string> names;
  std::string cases;
  for (const VerbDescription& verb : verbs) {
    names.push_back(verb.name);
    cases += BashVerb(verb);
  }
  return R"(# bash completion of cgrun, made by `cgrun completion bash`
_cgrun_keys=')" +
         Join(keys, " ") + R"('
_cgrun() {
  local cur=${COMP_WORDS[COMP_CWORD]} flag=${COMP_WORDS[COMP_CWORD - 1]} flags words= offer=
  COMPREPLY=()
  if [[ $cur == = ]]; then  # --flag=value is three words
    cur=
  elif [[ $flag == = ]]; then
    flag=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if ((COMP_CWORD == 1)); then
    words=')" +
         Join(names, " ") + R"( help --help --version'
  elif [[ ${COMP_WORDS[1]} == help ]]; then
    words=')" +
         Join(names, " ") + R"('
  else
  case ${COMP_WORDS[1]} in
)" + cases +
         R"(  esac
  fi
  if [[ -n $words ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    if [[ ${COMPREPLY[0]-} == *[=.] ]]; then compopt -o nospace 2>/dev/null; fi
  elif [[ -n $offer ]]; then
    mapfile -t COMPREPLY < <(compgen "$offer" -- "$cur")
    compopt -o filenames 2>/dev/null
  fi
}
complete -F _cgrun cgrun
)";
}

std::string ZshCompletion(const CommandLineDescription& verbs,
                          const std::vector<std::string>& keys) {
  std::string list, cases;
  for (const VerbDescription& verb : verbs) {
    list += "      " + ZshQuoted(verb.name + ":" + Replaced(verb.summary, ":", "\\:")) + "\n";
    cases += "  " + verb.name + ")\n    _arguments -S";
    for (const FlagDescription& flag : verb.flags) cases += ZshFlag(flag);
    if (verb.argument.kind != Kind::kNone)
      cases += " \\\n      " + ZshQuoted("*" + ZshValue(verb.argument));
    cases += "\n    ;;\n";
  }
  return "#compdef cgrun\n# zsh completion of cgrun, made by `cgrun completion zsh`\n"
         "_cgrun_keys() {\n  if compset -P '*='; then\n    _files\n  else\n"
         "    compadd \"$@\" -S '' -- " +
         Join(keys, " ") + "\n  fi\n}\n_cgrun() {\n  local -a verbs=(\n" + list +
         "  )\n"
         "  if ((CURRENT == 2)); then\n"
         "    verbs+=('help:flags and examples of a verb')\n"
         "    _describe verb verbs\n    _arguments '--help' '--version'\n    return\n"
         "  elif [[ $words[2] == help ]]; then\n    _describe verb verbs\n    return\n  fi\n"
         "  shift words\n  ((CURRENT--))\n  case $words[1] in\n" +
         cases +
         "  esac\n}\n# Loaded from fpath this is the function's first call; sourced, it is not.\n"
         "if [[ $funcstack[1] == _cgrun ]]; then _cgrun \"$@\"; else compdef _cgrun cgrun; fi\n";
}

std::string FishCompletion(const CommandLineDescription& verbs,
                           const std::vector<std::string>& keys) {
  std::string out = R"(# fish completion of cgrun, made by `cgrun completion fish`
function __cgrun_verb_is
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test "$words[2]" = "$argv[1]"
end
function __cgrun_no_verb
    test (count (commandline -opc)) -eq 1
end
complete -c cgrun -f
complete -c cgrun -n __cgrun_no_verb -l help -d 'the verbs, with examples'
complete -c cgrun -n __cgrun_no_verb -l version -d 'versions of cgrun and its libraries'
complete -c cgrun -n __cgrun_no_verb -a help -d 'flags and examples of a verb'
)";
  out += "function __cgrun_keys\n    printf '%s\\n' " + Join(keys, " ") + "\nend\n";
  for (const VerbDescription& verb : verbs) {
    out += "complete -c cgrun -n __cgrun_no_verb -a " + verb.name + " -d " +
           FishQuoted(verb.summary) + "\ncomplete -c cgrun -n '__cgrun_verb_is help' -a " +
           verb.name + "\n";
    for (const FlagDescription& flag : verb.flags) out += FishFlag(verb.name, flag);
    const std::string argument = FishValue(verb.argument, false);
    if (!argument.empty())
      out += "complete -c cgrun -n '__cgrun_verb_is " + verb.name + "'" + argument + "\n";
  }
  return out;
}

}  // namespace cgrun
