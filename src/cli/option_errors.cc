// CLI11 tells the flag and its value in the text of its errors alone.
#include "src/cli/option_errors.h"

#include <limits>
#include <optional>
#include <string_view>

#include "src/base/diagnostics.h"
#include "src/base/word_list.h"
#include "src/cli/command_line.h"
#include "src/cli/unknown_names.h"

namespace cgrun {
namespace {

// The text between `begin` and `end`; "" where they do not stand in it, in this order.
std::string Between(const std::string& text, std::string_view begin, std::string_view end) {
  const size_t from = text.find(begin);
  if (from == std::string::npos) return "";
  const size_t to = end.empty() ? text.size() : text.find(end, from + begin.size());
  if (to == std::string::npos) return "";
  return text.substr(from + begin.size(), to - from - begin.size());
}

// The text before `end`; all of it where that does not stand in it.
std::string Before(const std::string& text, std::string_view end) {
  return text.substr(0, text.find(end));
}

std::string NameOf(const Verb& verb) { return "`cgrun " + verb.name() + "`"; }

std::string ListHelp(const Verb& verb) {
  return "`cgrun " + verb.name() + " --help` lists its arguments";
}

// "FILE", as --help shows the value of an option; "" where it has none.
std::string ValueName(const std::optional<Flag>& flag) {
  return flag && !flag->is_argument() ? Before(flag->value_name(), " ") : "";
}

std::string DescriptionOf(const Verb& verb, const std::string& name) {
  const std::optional<Flag> flag = verb.Find(name);
  return flag ? name + ": " + flag->description() : ListHelp(verb);
}

// "-n, --count" of "--count": which of the two was typed is not told.
std::string AllNames(const Verb& verb, const std::string& name) {
  const std::optional<Flag> flag = verb.Find(name);
  if (!flag || flag->short_names().empty()) return name;
  return "-" + flag->short_names().front() + ", " + name;
}

// "--weights is required"
Mistake Missing(const Verb& verb, const std::string& text) {
  const std::string name = Before(text, " is required");
  const std::string value = ValueName(verb.Find(name));
  return {NameOf(verb) + " needs " + name + (value.empty() ? "" : " " + value),
          DescriptionOf(verb, name)};
}

// "The following argument was not expected: more", or "… arguments were …: more and"
Mistake Unexpected(const Verb& verb, const std::string& text) {
  const std::string first = Before(Between(text, "expected: ", ""), " ");
  const bool flag = first.starts_with('-');
  return {NameOf(verb) + (flag ? " has no flag '" : " takes no further argument '") + first + "'",
          ListHelp(verb)};
}

// "--out: 1 required DIR missing", "--out: At Most 1 required but received 2"
Mistake WrongCount(const Verb& verb, const std::string& text) {
  const std::string name = Before(text, ":");
  if (text.find("received") != std::string::npos) {
    return {name + " is given more than once", "it takes one value"};
  }
  const std::string value = ValueName(verb.Find(name));
  return {name + " needs a value" + (value.empty() ? "" : ": " + value), DescriptionOf(verb, name)};
}

// "a,b,c" → a, b, c
std::vector<std::string> Choices(std::string_view list) {
  std::vector<std::string> choices;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    choices.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return choices;
}

// "0.000000" as "0", "0.500000" as "0.5".
std::string ShortNumber(std::string number) {
  if (number.find('.') == std::string::npos) return number;
  number.erase(number.find_last_not_of('0') + 1);
  if (number.ends_with('.')) number.pop_back();
  return number;
}

// "--threads: Value 0 not in range 1 to 1024", "--mode: fast not in {graph,eager}"
Mistake WrongValue(const Verb& verb, const std::string& text) {
  const std::string name = Before(text, ":"), names = AllNames(verb, name);
  const std::string range = Between(text, " not in range ", "");
  if (!range.empty()) {
    const std::string most = std::to_string(std::numeric_limits<int64_t>::max());
    const bool open = range.ends_with(" to " + most);
    if (range.find('.') != std::string::npos) {
      return {names + " must be a number from " + ShortNumber(Before(range, " to ")) + " to " +
                  ShortNumber(Between(range, " to ", "")) + ", not '" +
                  Between(text, ": Value ", " not in range ") + "'",
              DescriptionOf(verb, name)};
    }
    return {names + " must be " + (open ? "an integer, at least " + Before(range, " to ") : range) +
                ", not '" + Between(text, ": Value ", " not in range ") + "'",
            DescriptionOf(verb, name)};
  }
  const std::vector<std::string> choices = Choices(Between(text, " not in {", "}"));
  const std::string value = Between(text, ": ", " not in {");
  if (choices.empty()) return {names + " cannot be '" + value + "'", DescriptionOf(verb, name)};
  const std::string nearest = NearestName(value, choices);
  return {names + " must be " + ListWords(choices, "or") + ", not '" + value + "'",
          nearest.empty() ? DescriptionOf(verb, name) : "did you mean '" + nearest + "'?"};
}

// "Could not convert: --capacity = x"
Mistake NoNumber(const Verb& verb, const std::string& text) {
  const std::string name = Between(text, "convert: ", " = ");
  return {AllNames(verb, name) + " must be a number, not '" + Between(text, " = ", "") + "'",
          DescriptionOf(verb, name)};
}

Mistake WrongArguments(const Verb& verb, const ParseStop& stop) {
  const std::string &kind = stop.kind, &text = stop.text;
  if (kind == "RequiredError") return Missing(verb, text);
  if (text.starts_with("The following argument")) return Unexpected(verb, text);
  if (kind == "ArgumentMismatch") return WrongCount(verb, text);
  if (kind == "ValidationError") return WrongValue(verb, text);
  if (kind == "ConversionError" && text.starts_with("Could not convert: ")) {
    return NoNumber(verb, text);
  }
  if (kind == "ExcludesError") {
    return {Before(text, " excludes ") + " and " + Between(text, " excludes ", "") +
                " exclude each other",
            "leave one of them out"};
  }
  if (kind == "RequiresError") {
    return {Before(text, " requires ") + " needs " + Between(text, " requires ", ""),
            ListHelp(verb)};
  }
  return {text, ListHelp(verb)};
}

}  // namespace

Mistake DescribeMistake(const CommandLine& line, const ParseStop& stop,
                        const std::vector<std::string>& words) {
  const std::optional<Verb> verb = line.chosen();
  if (!verb) return UnknownVerb(words[0]);
  if (const auto flag = UnknownFlag(*verb, words)) return *flag;
  return WrongArguments(*verb, stop);
}

}  // namespace cgrun
