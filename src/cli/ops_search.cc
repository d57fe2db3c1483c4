// Looks through families, schedules, then summaries, then the rest of the descriptions.
#include "src/cli/ops_search.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "src/ir/op_def.h"
#include "src/train/rate_schedule.h"

namespace cgrun {
namespace {

constexpr size_t kLeastWord = 4;  // letters: shorter ones stand in every other text
// So do these.
constexpr std::string_view kFillWords[] = {
    "also",  "been",  "both", "does",  "each", "from", "have",  "into",  "like", "more", "most",
    "only",  "other", "over", "some",  "such", "than", "that",  "their", "them", "then", "there",
    "these", "they",  "this", "those", "what", "when", "where", "which", "with"};
constexpr size_t kMostShown = 8;  // names

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// Of those that a model file can name, by name.
template <class Predicate>
std::vector<std::string> NamesWhere(Predicate predicate) {
  std::vector<std::string> names;
  for (int i = 0; i < OpCount(); ++i) {
    const OpDef& def = GetOpDef(static_cast<OpId>(i));
    if (def.usage != Usage::kInternal && predicate(def)) names.push_back(def.name);
  }
  std::ranges::sort(names);
  return names;
}

// "a, b and c"; of many "a, b, … and 7 more (`cgrun ops` lists all)".
std::string Listed(const std::vector<std::string>& names, size_t most) {
  std::string text;
  const size_t shown = std::min(names.size(), most);
  for (size_t i = 0; i < shown; ++i) {
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  }
  if (shown == names.size()) return text;
  return text + ", … and " + std::to_string(names.size() - shown) + " more (`cgrun ops` lists all)";
}

struct Family {
  std::string_view word;
  std::string_view plural;
  bool (*has)(const OpDef& def);
};

constexpr Family kFamilies[] = {
    {"loss", "losses", [](const OpDef& def) { return def.usage == Usage::kLoss; }},
    {"metric", "metrics", [](const OpDef& def) { return def.usage == Usage::kMetric; }},
    {"optimizer", "optimizers", [](const OpDef& def) { return def.usage == Usage::kOptimizer; }},
    {"optimiser", "optimizers", [](const OpDef& def) { return def.usage == Usage::kOptimizer; }},
    {"activation", "activations", [](const OpDef& def) { return def.activation; }},
};

std::string FindFamily(const std::string& word) {
  for (const Family& family : kFamilies) {
    const std::string one(family.word);
    if (word != one && word != one + "s" && word != one + "es") continue;
    const std::vector<std::string> names = NamesWhere(family.has);
    return "the " + std::string(family.plural) + " are " + Listed(names, names.size());
  }
  return "";
}

std::string FindSchedule(const std::string& word) {
  std::vector<std::string> names;
  for (const ScheduleKind& kind : ScheduleKinds()) {
    names.push_back(kind.name);
    if (kind.name != word) continue;
    const bool needs_keys = std::ranges::any_of(kind.arguments, &ScheduleArgument::required);
    const std::string written = needs_keys ? "{" + kind.name + ": …}" : kind.name;
    return "'" + kind.name + "' is a schedule of the learning rate (" + kind.doc +
           "): `schedule: " + written + "` of an optimizer; docs/model-format.md has its keys";
  }
  if (word != "schedule" && word != "schedules") return "";
  return "the schedules of the learning rate are " + Listed(names, names.size()) +
         ": `schedule: " + names.front() + "` of an optimizer";
}

// What the reference says of an operator beyond its summary, but for what many have in common.
std::string RestOfText(const OpDef& def) {
  std::string text = def.details;
  for (const OperandDef& operand : def.inputs) text += " " + operand.name + " " + operand.doc;
  for (const OperandDef& operand : def.outputs) text += " " + operand.name + " " + operand.doc;
  for (const AttributeField& field : def.schema->fields()) {
    if (field.internal) continue;
    text += " " + field.name + " " + field.doc;
    for (const std::string& choice : field.choices) text += " " + choice;
  }
  return text;
}

std::string FindInDescriptions(const std::string& word) {
  if (word.size() < kLeastWord || std::ranges::count(kFillWords, word) > 0) return "";
  const auto has = [&](const std::string& text) {
    return Lower(text).find(word) != std::string::npos;
  };
  std::vector<std::string> names = NamesWhere([&](const OpDef& def) { return has(def.summary); });
  if (names.empty()) names = NamesWhere([&](const OpDef& def) { return has(RestOfText(def)); });
  return names.empty() ? "" : "it stands in what is said of " + Listed(names, kMostShown);
}

}  // namespace

std::string FindInReference(const std::string& word) {
  const std::string lower = Lower(word);
  if (const std::string family = FindFamily(lower); !family.empty()) return family;
  if (const std::string schedule = FindSchedule(lower); !schedule.empty()) return schedule;
  return FindInDescriptions(lower);
}

}  // namespace cgrun
