// Looks through families, initialisers, keys and schedules, then summaries, then the rest of the
// descriptions.
#include "src/cli/ops_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ranges>
#include <string_view>
#include <vector>

#include "src/base/synonyms.h"
#include "src/base/word_list.h"
#include "src/frontend/common_keys.h"
#include "src/frontend/parameter_options.h"
#include "src/frontend/shared_draw.h"
#include "src/ir/op_def.h"
#include "src/model/key_synonyms.h"
#include "src/model/schema.h"
#include "src/ops/initializers.h"
#include "src/run/rate_schedule.h"

namespace cgrun {
namespace {

constexpr size_t kLeastWord = 4;  // letters: shorter ones stand in every other text
// These words, too, stand in every other text.
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

// Returns the operators that a model file can name and that fit, ordered by name.
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
  if (names.size() <= most) return ListWords(names, "and");
  return fmt::format("{}, … and {} more (`cgrun ops` lists all)",
                     fmt::join(names | std::views::take(most), ", "), names.size() - most);
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
    {"pooling", "pools",
     [](const OpDef& def) { return def.name.find("pool") != std::string::npos; }},
    {"augment", "operators that change samples by chance", ChangesByChance},
    {"augmentation", "operators that change samples by chance", ChangesByChance},
};

// Words of other programs for keys.
constexpr Synonym kKeyWords[] = {
    {"l1", "regularize"},
    {"l2", "regularize"},
    {"ridge", "regularize"},
    {"regularization", "regularize"},
    {"regularisation", "regularize"},
    {"regularizer", "regularize"},
    {"initializer", "init"},
    {"initialization", "init"},
    {"initialisation", "init"},
    {"freeze", "frozen"},
    {"learningrate", "lr"},
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
           "): `schedule: " + written +
           "` of an optimizer; docs/reference/training.md has its keys";
  }
  if (word != "schedule" && word != "schedules") return "";
  return "the schedules of the learning rate are " + Listed(names, names.size()) +
         ": `schedule: " + names.front() + "` of an optimizer";
}

// Our name of a key that others call `word`, or `word`.
std::string OurKey(const std::string& word) {
  const auto* found = std::ranges::find(kKeyWords, PlainName(word), &Synonym::theirs);
  return found == std::end(kKeyWords) ? word : std::string(found->ours);
}

bool HasKey(const OpDef& def, const std::string& key) {
  const AttributeField* field = def.schema->Find(key);
  return field != nullptr && !field->internal;
}

// Returns the reference text of an operator beyond its summary, without the keys that many
// operators have in common.
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

// "glorot_uniform and glorot_normal are initialisers: …"
std::string FindInitializer(const std::string& word) {
  const std::string ours = OurInitializer(word);
  if (ours.empty()) return "";
  std::vector<std::string> names;
  const std::string stem = ours == word ? word : ours.substr(0, ours.find('_'));
  for (const std::string& name : InitializerNames()) {
    if (name == stem || name.starts_with(stem + "_")) names.push_back(name);
  }
  return Listed(names, names.size()) +
         (names.size() == 1 ? " is an initialiser" : " are initialisers") + ": `init: " + ours +
         "` of an operator with parameters";
}

std::string FindScheduleArgument(const std::string& word) {
  std::vector<std::string> kinds;
  for (const ScheduleKind& kind : ScheduleKinds()) {
    if (std::ranges::find(kind.arguments, word, &ScheduleArgument::name) != kind.arguments.end()) {
      kinds.push_back(kind.name);
    }
  }
  if (kinds.empty()) return "";
  const std::string kind = kinds.size() > 1 ? kinds[1] : kinds[0];  // none has a constant rate
  return "it is an argument of a schedule: `schedule: {" + kind + ": {" + word +
         ": …}}` of an optimizer";
}

// Describes a key that operators have in common. The text comes from the first operator with the
// key.
std::string FindCommonKey(const std::string& word) {
  for (int i = 0; i < OpCount(); ++i) {
    for (const CommonKey& key : KeysInCommon(GetOpDef(static_cast<OpId>(i)))) {
      if (key.name != word) continue;
      return "'" + word + "' is a key that operators have in common (" + std::string(key.doc) + ")";
    }
  }
  return "";
}

std::string FindKey(const std::string& word) {
  const std::string ours = OurKey(word);
  std::string home = HelpWithHome(ours);
  if (home.empty()) home = HomeOfSynonym(word, HelpWithHome);
  const std::vector<std::string> names =
      NamesWhere([&](const OpDef& def) { return HasKey(def, ours); });
  const std::string common = FindCommonKey(ours);
  std::string text = home.empty() ? "" : "in a model file " + home;
  if (!names.empty()) {
    text += (text.empty() ? "it is a key of " : "; it is a key of ") + Listed(names, kMostShown);
  }
  return text + (text.empty() || common.empty() ? "" : "; ") + common;
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

std::string FindOtherThan(const std::string& word) {
  std::string key = Lower(word);
  std::ranges::replace(key, ' ', '_');
  for (const auto find :
       {FindFamily, FindSchedule, FindInitializer, FindScheduleArgument, FindKey}) {
    if (std::string text = find(key); !text.empty()) return text;
  }
  return "";
}

std::string FindInReference(const std::string& word) { return FindInDescriptions(Lower(word)); }

}  // namespace cgrun
