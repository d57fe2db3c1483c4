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

// Returns the words that bash offers for a value, as assignments.
std::string BashOffer(const ArgumentValues& values) {
  switch (values.kind) {
    case Kind::kWords:
      return "words='" + Join(values.words, " ") + "'";
    case Kind::kFile:
      return values.suffixes.empty() ? "offer=-f"
                                     : "offer=-f suffixes=' " + Join(values.suffixes, " ") + " '";
    case Kind::kFolder:
      return "offer=-d";
    case Kind::kRun:
      return "words=$(_cgrun_runs) offer=-d";
    case Kind::kSetting:
      return "words=$_cgrun_keys";
    case Kind::kNone:
    case Kind::kAny:
      break;
  }
  return "offer=";
}

// Cases of a shell's `case` for the keys with words, those with the same words in one; `begin` and
// `end` stand around the words.
std::string ValueCases(const SettingsDescription& settings, const std::string& begin,
                       const std::string& end) {
  std::map<std::string, std::vector<std::string>> by_words;
  for (const auto& [key, words] : settings.values) by_words[Join(words, " ")].push_back(key);
  std::string out;
  for (const auto& [words, keys] : by_words) {
    out += "    " + Join(keys, "|") + ") " + begin + words + end + " ;;\n";
  }
  return out;
}

// Keys whose values may be files, where they are no words.
constexpr char kFileKeys[] = "data.*|weights";

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
  if (values.kind == Kind::kFile) {
    const std::string suffixes = Join(values.suffixes, "|");
    action = suffixes.empty() ? "_files" : "_files -g \"*.(" + suffixes + ")\"";
  }
  if (values.kind == Kind::kFolder) action = "_files -/";
  if (values.kind == Kind::kRun) action = "_cgrun_runs";
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
      if (values.suffixes.empty()) return needed + " -F";
      return needed + " -f -a " +
             FishQuoted("(__cgrun_files '" + Join(values.suffixes, "|") + "')");
    case Kind::kFolder:
      return needed + " -f -a '(__fish_complete_directories)'";
    case Kind::kRun:
      return needed + " -f -a '(__cgrun_runs)'";
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
                           const SettingsDescription& settings) {
  std::vector<std::string> names;
  std::string cases;
  for (const VerbDescription& verb : verbs) {
    names.push_back(verb.name);
    cases += BashVerb(verb);
  }
  return R"(# bash completion of cgrun, made by `cgrun completion bash`
_cgrun_keys=')" +
         Join(settings.keys, " ") + R"('
_cgrun_runs() {
  local file
  for file in runs/*/model.yaml; do
    if [[ -e $file ]]; then printf '%s\n' "${file%/model.yaml}"; fi
  done
}
_cgrun_with_suffix() {  # folders, and files that end so
  local file
  while IFS= read -r file; do
    if [[ -d $file || $suffixes == *" ${file##*.} "* ]]; then printf '%s\n' "$file"; fi
  done
}
_cgrun() {
  local cur=${COMP_WORDS[COMP_CWORD]} flag=${COMP_WORDS[COMP_CWORD - 1]}
  local flags words= offer= suffixes= at=0 key=
  COMPREPLY=()
  if [[ $cur == = ]]; then  # --flag=value is three words
    cur=
    at=$((COMP_CWORD - 1))
  elif [[ $flag == = ]]; then
    at=$((COMP_CWORD - 2))
    flag=${COMP_WORDS[at]}
  fi
  if ((at > 2)); then  # --set key=value, --set=key=value
    case ${COMP_WORDS[at - 2]}${COMP_WORDS[at - 1]} in
    *--set | --set=) key=$flag ;;
    esac
  fi
  if [[ -n $key ]]; then
    case $key in
)" + ValueCases(settings, "words='", "'") +
         "    " + kFileKeys + R"() offer=-f ;;
    esac
  elif ((COMP_CWORD == 1)); then
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
  fi
  if [[ -n $offer && ${#COMPREPLY[@]} -eq 0 ]]; then
    if [[ -z $suffixes ]]; then
      mapfile -t COMPREPLY < <(compgen "$offer" -- "$cur")
    else
      mapfile -t COMPREPLY < <(compgen "$offer" -- "$cur" | _cgrun_with_suffix)
    fi
    compopt -o filenames 2>/dev/null
  fi
}
complete -F _cgrun cgrun
)";
}

std::string ZshCompletion(const CommandLineDescription& verbs,
                          const SettingsDescription& settings) {
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
         "_cgrun_runs() {\n  local -a runs\n  runs=(runs/*/model.yaml(N:h))\n"
         "  (($#runs)) && compadd \"$@\" -- $runs || _files -/\n}\n"
         "_cgrun_keys() {\n  if compset -P '*='; then\n    case ${${IPREFIX%=}##*=} in\n" +
         ValueCases(settings, "compadd \"$@\" -- ", "") + "    " + kFileKeys +
         ") _files ;;\n    esac\n  else\n"
         "    compadd \"$@\" -S '' -- " +
         Join(settings.keys, " ") + "\n  fi\n}\n_cgrun() {\n  local -a verbs=(\n" + list +
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
                           const SettingsDescription& settings) {
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
  std::string values;
  for (const auto& [key, words] : settings.values) {
    for (const std::string& word : words) values += " " + key + "=" + word;
  }
  out +=
      "function __cgrun_keys\n    set -l typed (string replace -r '^--set=' '' -- (commandline "
      "-ct))\n"
      "    if string match -q '*=*' -- \"$typed\"\n        printf '%s\\n'" +
      values + "\n    else\n        printf '%s\\n' " + Join(settings.keys, " ") +
      "\n    end\nend\n";
  out += R"(function __cgrun_files  # folders, and files that end so
    __fish_complete_path (commandline -ct) | string match -r '^[^\t]*(?:/|\.(?:'$argv[1]'))(?:\t.*)?$'
end
function __cgrun_runs
    set -l runs runs/*/model.yaml
    if test (count $runs) -gt 0
        string replace /model.yaml '' $runs
    else
        __fish_complete_directories
    end
end
)";
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
