// Finds out from the name of a value what may stand for it.
#include "src/cli/argument_values.h"

#include <algorithm>
#include <sstream>

#include "src/device/device.h"
#include "src/ir/op_def.h"
#include "src/packing/planner.h"
#include "src/passes/decisions.h"

namespace cgrun {
namespace {

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

// Splits "a|b|c" into its words; the name of a list stands for the words of that list.
std::vector<std::string> WordsNamed(const std::string& value) {
  if (value == "DEVICE") return DeviceWords();
  if (value == "OPERATOR") return OperatorWords();
  if (value == "PASS") return PassAndDecisionNames();
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

// Reads the endings of files in the description of an argument: {"yaml", "yml", "cgb"} in "model
// file
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

}  // namespace

ArgumentValues ValuesOf(const Flag& flag) {
  using Kind = ArgumentValues::Kind;
  if (!flag.takes_value()) return {Kind::kNone, "", false, {}};
  ArgumentValues values;
  values.name = flag.value_name();
  values.optional = flag.value_is_optional();
  values.words = WordsNamed(values.name);
  const auto named = [&](const char* text) { return values.name.find(text) != std::string::npos; };
  if (!values.words.empty()) {
    values.kind = Kind::kWords;
  } else if (values.name == "KEY=VALUE") {
    values.kind = Kind::kSetting;
  } else if (flag.name() == "--resume") {
    values.kind = Kind::kRun;
  } else if (named("DIR")) {
    values.kind = Kind::kFolder;
  } else if (named("FILE") || named("MODEL") || named("PROGRAM") || named("INPUT")) {
    values.kind = Kind::kFile;
    const bool is_input = named("MODEL") || named("PROGRAM");
    if (is_input) values.suffixes = SuffixesIn(flag.description());
  }
  return values;
}

}  // namespace cgrun
